//! Makes `tests/recorded` anew on the device at hand, and tells where the simulator differs from it.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;

use crate::device::{Recorded, close};
use crate::form::{BLOCK, Form, Is, head, sim};

/// Variables: where to write instead of `tests/recorded`, and what day it is.
const TO: &str = "GPUK_RECORDED";
const DAY: &str = "GPUK_RECORDED_ON";

/// As many bytes of each as its register has.
fn bytes(is: Is, values: &[u64]) -> Vec<u8> {
    let size = is.bits() as usize / 8;
    values
        .iter()
        .flat_map(|value| value.to_le_bytes().into_iter().take(size))
        .collect()
}

/// What the device gives; nothing if it does not have the form.
fn run(
    context: &std::sync::Arc<CudaContext>,
    target: &str,
    form: &Form,
    inputs: &[[u64; 3]],
) -> Option<Vec<u64>> {
    let module = context
        .load_module(Ptx::from_src(head(target) + &form.kernel("k")))
        .ok()?;
    let function = module.load_function("k").unwrap();
    let stream = context.default_stream();
    let size = form.result.bits() as usize / 8;
    let out = stream.alloc_zeros::<u8>(inputs.len() * size).unwrap();
    let columns: Vec<_> = form
        .operands
        .iter()
        .enumerate()
        .map(|(at, is)| {
            let column: Vec<u64> = inputs.iter().map(|values| values[at]).collect();
            stream.clone_htod(&bytes(*is, &column)).unwrap()
        })
        .collect();
    let count = inputs.len() as u32;
    let mut launch = stream.launch_builder(&function);
    launch.arg(&out);
    for column in &columns {
        launch.arg(column);
    }
    launch.arg(&count);
    let config = LaunchConfig {
        grid_dim: (count.div_ceil(BLOCK as u32), 1, 1),
        block_dim: (BLOCK as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    #[expect(unsafe_code, reason = "a launch is unsafe")]
    // SAFETY: the kernel's parameters are these arrays, of as many elements as the last one says.
    unsafe { launch.launch(config) }.unwrap();
    let found = stream.clone_dtoh(&out).unwrap();
    let number = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    };
    Some(found.chunks(size).map(number).collect())
}

/// A form's line, and where the simulator differs.
fn record(context: &std::sync::Arc<CudaContext>, target: &str, form: &Form) -> (String, String) {
    let inputs = form.recorded_inputs();
    let Some(device) = run(context, target, form, &inputs) else {
        return (format!("{}\tnot on this device", form.text), String::new());
    };
    let line = Recorded::of(form, &device).line(form);
    let ours = match form.run(&sim(std::slice::from_ref(form)), "k0", &inputs) {
        Ok(ours) => ours,
        Err(fault) => {
            let device = device.iter().zip(&inputs).take(64);
            let device = device
                .map(|(value, operands)| format!("{}: device {value:#x}\n", form.of(*operands)));
            return (
                line,
                format!("{}: {fault}\n{}", form.text, device.collect::<String>()),
            );
        }
    };
    let different = (inputs.iter().zip(device.iter().zip(&ours)))
        .filter(|(_, (device, ours))| !close(form, **device, **ours));
    let total = different.clone().count();
    let shown = different.take(8).map(|(operands, (device, ours))| {
        format!(
            "{}: device {device:#x}, simulator {ours:#x}\n",
            form.of(*operands)
        )
    });
    let mut said: String = shown.collect();
    if total > 0 {
        said.push_str(&format!("{total} of {} differ\n", inputs.len()));
    }
    (line, said)
}

#[test]
#[ignore = "needs a device"]
fn alone_record() {
    let context = CudaContext::new(0).unwrap();
    let (major, minor) = context.compute_capability().unwrap();
    let target = format!("sm_{major}{minor}");
    let mut driver = 0;
    #[expect(unsafe_code, reason = "cudarc has no safe call for it")]
    // SAFETY: the pointer is to a number.
    unsafe { sys::cuDriverGetVersion(&raw mut driver) }
        .result()
        .unwrap();
    let kernel_module = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let of = kernel_module
        .split_whitespace()
        .find(|word| word.split('.').count() == 3);
    let head = format!(
        "# {}, {target}; driver {} (CUDA {}.{}); {}\n",
        context.name().unwrap(),
        of.unwrap_or("unknown"),
        driver / 1000,
        driver % 1000 / 10,
        std::env::var(DAY).unwrap_or_default(),
    );

    let forms = crate::all()
        .into_iter()
        .map(|form| (form.text, form.result, form.operands));
    let forms: Vec<_> = forms.collect();
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                context.bind_to_thread().unwrap();
                while let Some((text, result, operands)) =
                    forms.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let form = crate::form::untold(text, *result, operands);
                    let recorded = record(&context, &target, &form);
                    lines.lock().unwrap().push((form.approximate(), recorded));
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort();
    let to = std::env::var_os(TO).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded"),
        PathBuf::from,
    );
    for (name, approximate) in [("exact.txt", false), ("approx.txt", true)] {
        let lines = lines.iter().filter(|(kind, _)| *kind == approximate);
        let lines: String = lines.map(|(_, (line, _))| format!("{line}\n")).collect();
        std::fs::write(to.join(name), head.clone() + &lines).unwrap();
    }
    let said: String = lines.into_iter().map(|(_, (_, said))| said).collect();
    assert!(said.is_empty(), "\n{said}");
}
