//! How a request enters a language model, on the GPU: the embeddings of its tokens are looked up, normed, and
//! stored as f16 for the next layer.
//!
//! A request with a token that the table lacks fails alone. Its failed check comes back as a value, and the next
//! request finds the device as it was.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use gpuk::half::f16;
use gpuk::{CudaContext, CudaSlice, CudaStream, FailedCheck};
use kernels::{gather, reduce, scale};

/// The launch wrappers that `build.rs` generated: a module for each file of `kernels/`.
mod kernels {
    gpuk::include_kernels!();
}

const ROWS: usize = 1000;
const DIM: usize = 512;
const SCALE: f32 = 22.627_417; // √DIM
const EPSILON: f32 = 1e-6;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    // Without a driver or a device this is an error that says so, never a panic.
    let context = gpuk::device(0)?;
    println!("running on {}", context.name()?);

    let mut table: Vec<f32> = (0..ROWS * DIM).map(|i| (i as f32).sin()).collect();
    let weight: Vec<f32> = (0..DIM).map(|d| 1.0 + d as f32 / DIM as f32).collect();
    table[13 * DIM + 37] = f32::NAN; // as in a damaged checkpoint
    let model = Model::load(&context, &table, &weight)?;

    let good = [3, 141, 592];
    let unknown_token = [3, 5000, 592];
    let damaged_row = [3, 13];
    for tokens in [&good[..], &unknown_token, &damaged_row, &good] {
        println!("\nrequest {tokens:?}");
        match model.forward(tokens) {
            Ok(found) => compare(&found, &reference(&table, &weight, tokens))?,
            // A failed check concerns this request; any other error concerns all of them.
            Err(error) => explain(&*error.downcast::<FailedCheck>()?),
        }
    }
    Ok(())
}

/// The model's weights and kernels on one device.
struct Model {
    stream: Arc<CudaStream>,
    table: CudaSlice<f32>,
    weight: CudaSlice<f32>,
    gather: gather::Kernels,
    reduce: reduce::Kernels,
    scale: scale::Kernels,
}

impl Model {
    fn load(
        context: &Arc<CudaContext>,
        table: &[f32],
        weight: &[f32],
    ) -> Result<Self, Box<dyn Error>> {
        let stream = context.new_stream()?;
        Ok(Self {
            table: stream.clone_htod(table)?,
            weight: stream.clone_htod(weight)?,
            gather: gather::Kernels::load(context)?,
            reduce: reduce::Kernels::load(context)?,
            scale: scale::Kernels::load(context)?,
            stream,
        })
    }

    /// Runs the three kernels one after the other and waits once, at the end.
    fn forward(&self, tokens: &[i32]) -> Result<Vec<f16>, Box<dyn Error>> {
        let Self {
            stream,
            table,
            weight,
            gather,
            reduce,
            scale,
        } = self;
        let ids = stream.clone_htod(tokens)?;

        // What the annotations of a kernel say, its method does: it compares the lengths of buffers, allocates what
        // the kernel writes, and knows the launch's shape. With each result comes a payload, which will know whether
        // the kernel's checks passed.
        let shape = gather::Table {
            rows: ROWS as i32,
            dim: DIM as i32,
            scale: SCALE,
        };
        // SAFETY: the kernels stay within the extents that they are annotated with.
        let (gathered, x) = unsafe { gather.gather(stream, table, &ids, shape) }?;
        let (normed, x) = unsafe { reduce.rms_norm(stream, &x, weight, EPSILON) }?;
        let (scaled, x) = unsafe { scale.scale::<f16, _>(stream, &x, 0.5) }?;

        // So far nothing has waited. The first launch is asked first: its failure explains later ones.
        gathered.check()?;
        normed.check()?;
        scaled.check()?;
        Ok(stream.clone_dtoh(&x)?)
    }
}

/// What a server would log, and what it might answer.
fn explain(failed: &FailedCheck) {
    println!("{failed}");
    println!("answer: bad request: {}", failed.message);
}

/// What the device should find, computed here.
fn reference(table: &[f32], weight: &[f32], tokens: &[i32]) -> Vec<f32> {
    let norm = |token: &i32| {
        let row = &table[*token as usize * DIM..][..DIM];
        let mean = row.iter().map(|x| (SCALE * x).powi(2)).sum::<f32>() / DIM as f32;
        let factor = 0.5 * SCALE / (mean + EPSILON).sqrt();
        let row = row.iter().zip(weight);
        row.map(move |(x, w)| w * x * factor)
    };
    tokens.iter().flat_map(norm).collect()
}

fn compare(found: &[f16], expected: &[f32]) -> Result<(), Box<dyn Error>> {
    let pairs = found.iter().zip(expected);
    let differences = pairs.map(|(found, expected)| (found.to_f32() - expected).abs());
    // Not `f32::max`, which would pass over a NaN.
    let largest = differences.max_by(f32::total_cmp).unwrap_or(0.0);
    if largest < 0.002 {
        println!("ok: {} numbers, off by {largest} at most", found.len());
        Ok(())
    } else {
        Err(format!("the device and this program differ by {largest}").into())
    }
}
