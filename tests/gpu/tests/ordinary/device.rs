//! A device, buffers, and numbers that look random.

use std::sync::Arc;

use gpuk::cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use gpuk::{CudaContext, CudaSlice, CudaStream, Launch};

/// Launches, waits, and gives the outputs.
macro_rules! run {
    ($kernels:ident.$kernel:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: every test passes buffers of the lengths that it names.
        let launched = unsafe { $kernels.$kernel($($argument),*) };
        let (payload, output) = launched.unwrap();
        payload.check().unwrap();
        output
    }};
}
pub(crate) use run;

pub(crate) struct Device {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
}

impl Device {
    pub(crate) fn new() -> Self {
        let context = gpuk::device(0).unwrap();
        let stream = context.new_stream().unwrap();
        Self { context, stream }
    }

    pub(crate) fn up<T: DeviceRepr>(&self, values: &[T]) -> CudaSlice<T> {
        self.stream.clone_htod(values).unwrap()
    }

    pub(crate) fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, n: usize) -> CudaSlice<T> {
        self.stream.alloc_zeros(n).unwrap()
    }

    pub(crate) fn down<T: DeviceRepr>(&self, buffer: &CudaSlice<T>) -> Vec<T> {
        self.stream.clone_dtoh(buffer).unwrap()
    }

    /// The output, which has to be what a device computed under this name.
    pub(crate) fn same<T>(&self, name: &str, buffer: &CudaSlice<T>) -> Vec<T>
    where
        T: DeviceRepr + gpuk_gpu_tests::recorded::Plain,
    {
        let output = self.down(buffer);
        gpuk_gpu_tests::recorded::same(&self.context, name, &output);
        output
    }
}

pub(crate) fn shape(grid: u32, block: u32) -> Launch {
    Launch::default().grid([grid, 1, 1]).block([block, 1, 1])
}

/// Splitmix64; the seed makes failures repeatable.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From -1 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn many<T>(&mut self, n: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..n).map(|_| make(self)).collect()
    }
}

/// A sum over 32 lanes that exchange with those at distances 16, 8 … 1.
pub(crate) fn butterfly<T: Copy + std::ops::Add<Output = T>>(mut lanes: Vec<T>) -> T {
    for distance in [16, 8, 4, 2, 1] {
        lanes = (0..32)
            .map(|lane| lanes[lane] + lanes[lane ^ distance])
            .collect();
    }
    lanes[0]
}
