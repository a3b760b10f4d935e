//! What the compiler says: marked bytes, computed by a file that gpuk never sees.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use gpuk_sim::{Device, Launch, MemoryKind, Options};
use gpuk_tests::Project;

use crate::structs::{HEAD, Kind, Struct, Structs};

/// What is known of one struct.
pub(crate) struct Expected {
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// For each member the struct's bytes, those of the member all ones.
    pub(crate) marked: Vec<Vec<u8>>,
}

pub(crate) fn ask(project: &Project, structs: &Structs) -> Vec<Expected> {
    let device = Arc::new(Device::new(Options::default()));
    let module = device.load(&compiled(project, &source(structs))).unwrap();
    let run = |name: &str, size: u64| {
        let memory = device.memory();
        let address = memory.alloc(size, MemoryKind::Device).unwrap();
        let launch = Launch::new([1; 3], [1; 3], address.to_le_bytes().to_vec());
        device
            .launch(&module.function(name).unwrap(), &launch)
            .unwrap();
        let mut bytes = vec![0; size as usize];
        memory.read(address, &mut bytes).unwrap();
        bytes
    };
    let sizes = run("sizes", 16 * structs.all.len() as u64);
    let sizes: Vec<_> = sizes
        .chunks(8)
        .map(|it| u64::from_le_bytes(it.try_into().unwrap()))
        .collect();
    let expected = structs.all.iter().zip(sizes.chunks(2)).map(|(it, sizes)| {
        let (size, align) = (sizes[0], sizes[1]);
        let bytes = run(
            &format!("mark_{}", it.name),
            size * it.members.len().max(1) as u64,
        );
        let marked = bytes.chunks(size as usize).map(<[u8]>::to_vec);
        Expected {
            size,
            align,
            marked: marked.take(it.members.len()).collect(),
        }
    });
    expected.collect()
}

fn source(structs: &Structs) -> String {
    let mut text = HEAD.to_owned();
    let mut sizes = "extern \"C\" __global__ void sizes(unsigned long long *out) {\n".to_owned();
    for it in &structs.all {
        text += &it.text;
        writeln!(
            sizes,
            "*out++ = sizeof({0}); *out++ = alignof({0});",
            it.name
        )
        .unwrap();
        mark(&mut text, it);
    }
    text + &sizes + "}\n"
}

/// A kernel that gives back a struct once for each member.
fn mark(text: &mut String, it: &Struct) {
    let name = &it.name;
    writeln!(
        text,
        "extern \"C\" __global__ void mark_{name}(unsigned char *out) {{"
    )
    .unwrap();
    for member in &it.members {
        let to = &member.name;
        let marked = match member.kind {
            Kind::View {
                assigned: Some(value),
                ..
            } => format!("it.{to} = {value};"),
            _ => format!("memset(&it.{to}, 0xff, sizeof(it.{to}));"),
        };
        writeln!(
            text,
            "{{ alignas({name}) unsigned char room[sizeof({name})] = {{}};\n{name} &it = *reinterpret_cast<{name} *>(room);\n\
             {marked}\nfor (unsigned i = 0; i < sizeof({name}); ++i) *out++ = room[i]; }}"
        )
        .unwrap();
    }
    *text += "}\n";
}

fn compiled(project: &Project, source: &str) -> String {
    project.write("oracle.cu", source);
    let nvcc = Path::new(&std::env::var("CUDA_HOME").unwrap()).join("bin/nvcc");
    let args = ["-ptx", "-arch=sm_80", "-w", "-o", "oracle.ptx", "oracle.cu"];
    let made = project
        .command_of(&nvcc.display().to_string(), &args)
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    std::fs::read_to_string(project.root().join("oracle.ptx")).unwrap()
}
