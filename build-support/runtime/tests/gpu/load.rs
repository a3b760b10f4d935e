//! Images: which is taken, and what of it is compared.

use gpuk::{Count, Image, KernelInfo, LoadError, Module, ParamInfo, Site};

use crate::Device;
use crate::kernels::Kernels;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_an_image_that_does_not_load_gives_way_to_the_next() {
    const fn damaged(arch: &'static str) -> Image {
        Image::Cubin {
            arch,
            bytes: b"not machine code\0",
            sites: &[],
        }
    }
    let device = Device::new();
    let mut images = ["sm_80", "sm_90", "sm_100", "sm_110", "sm_120"]
        .map(damaged)
        .to_vec();
    let damaged = images.clone().leak();
    images.extend(device.kernels.images());
    let module = Module::load(&device.context, images.leak()).unwrap();
    assert!(matches!(module.image(), Image::Ptx { .. }));
    let refused = Module::load(&device.context, damaged).unwrap_err();
    println!("{refused}");
    assert!(matches!(refused, LoadError::Refused(_)));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_an_image_of_other_checks_than_its_table_is_not_loaded() {
    let device = Device::new();
    let [
        Image::Ptx {
            arch,
            version,
            bytes,
            sites,
        },
    ] = *device.kernels.images()
    else {
        panic!("{:?}", device.kernels.images());
    };
    let load = |bytes, sites: Vec<Site>| {
        let image = Image::Ptx {
            arch,
            version,
            bytes,
            sites: sites.leak(),
        };
        Module::load(&device.context, vec![image].leak()).map(|_| ())
    };
    load(bytes, sites.to_vec()).unwrap();
    let refused = |bytes, sites| match load(bytes, sites).unwrap_err() {
        LoadError::Table {
            expected, found, ..
        } => (expected, found),
        other => panic!("{other}"),
    };
    // A table of an older source, in which one check stood a line above; of another order; and a shorter one.
    let mut older = sites.to_vec();
    older[1].line -= 1;
    assert_eq!(refused(bytes, older), (2, Some(2)));
    let swapped = sites.iter().rev().copied().collect();
    assert_eq!(refused(bytes, swapped), (2, Some(2)));
    assert_eq!(refused(bytes, sites[..1].to_vec()), (1, Some(2)));
    // An image that says nothing of its checks, or says it in another way.
    let text = std::str::from_utf8(bytes).unwrap();
    let silent: String = (text.lines().filter(|line| !line.contains("__gpuk_table")))
        .flat_map(|line| [line, "\n"])
        .collect();
    let other = text.replace("__gpuk_table[16] = {2,", "__gpuk_table[16] = {1,");
    for text in [silent, other] {
        assert_ne!(text, *std::str::from_utf8(bytes).unwrap());
        let bytes = text.into_bytes().leak();
        assert_eq!(refused(bytes, sites.to_vec()), (2, None));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_ptx_that_does_not_compile_says_why() {
    static IMAGES: [Image; 1] = [Image::Ptx {
        arch: "sm_75",
        version: (7, 0),
        bytes: b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() { call nothing; ret; }\n",
        sites: &[],
    }];
    let device = Device::new();
    let refused = Module::load(&device.context, &IMAGES).unwrap_err();
    println!("{refused}");
    let LoadError::Refused(refusals) = refused else {
        panic!("{refused:?}");
    };
    assert!(refusals[0].log.as_ref().unwrap().contains("nothing"));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_wrappers_are_compared_with_their_kernels() {
    const fn of(entry: &'static str, checked: bool, params: &'static [ParamInfo]) -> KernelInfo {
        KernelInfo {
            entry,
            checked,
            params,
            ..Kernels::GATHER
        }
    }
    static SPIN: KernelInfo = of("spin", true, Kernels::SPIN.params);
    static FEWER: KernelInfo = of("spin", false, Kernels::SPIN.params);
    static MORE: KernelInfo = of("is_null", true, Kernels::IS_NULL.params);
    static OTHER: KernelInfo = of("spin", true, Kernels::IS_NULL.params);
    static NONE: KernelInfo = of("nothing", true, &[]);
    let device = Device::new();
    let module = Module::load(&device.context, device.kernels.images()).unwrap();
    let refusal = |info| module.function(info).map(|_| ()).unwrap_err();
    module.function(&SPIN).unwrap();
    assert!(matches!(
        refusal(&FEWER),
        LoadError::ParameterCount {
            expected: 2,
            found: Count::More,
            ..
        }
    ));
    assert!(matches!(
        refusal(&MORE),
        LoadError::ParameterCount {
            expected: 3,
            found: Count::Exactly(2),
            ..
        }
    ));
    assert!(matches!(
        refusal(&OTHER),
        LoadError::Parameter {
            parameter: "answer",
            size: 1,
            ..
        }
    ));
    assert!(matches!(
        refusal(&NONE),
        LoadError::NoKernel {
            entry: "nothing",
            ..
        }
    ));
}
