//! What all tests of kernels need: a device, and launches with typed arguments.

#![allow(dead_code, reason = "each test uses some of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use gpuk_sim::{Device, Fault, Launch, MemoryKind, Module, Options, Report};

/// A device and a module on it.
pub(crate) struct Sim {
    pub(crate) device: Arc<Device>,
    pub(crate) module: Arc<Module>,
}

/// splitmix64: the same values in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// A value whose bytes a kernel reads.
pub(crate) trait Bytes: Copy {
    fn bytes(&self) -> Vec<u8>;
    fn of(bytes: &[u8]) -> Self;
}
macro_rules! bytes {
    ($($ty:ty)+) => {
        $(impl Bytes for $ty {
            fn bytes(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn of(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        })+
    };
}
bytes!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl Sim {
    pub(crate) fn new(ptx: &str) -> Self {
        Self::with(ptx, Options::default())
    }

    pub(crate) fn with(ptx: &str, options: Options) -> Self {
        let device = Arc::new(Device::new(options));
        let module = device.load(ptx).unwrap();
        Self { device, module }
    }

    /// Memory with those values.
    pub(crate) fn upload<T: Bytes>(&self, values: &[T]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(Bytes::bytes).collect();
        let memory = self.device.memory();
        let address = memory
            .alloc(bytes.len() as u64, MemoryKind::Device)
            .unwrap();
        memory.write(address, &bytes).unwrap();
        address
    }

    pub(crate) fn download<T: Bytes>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.device.memory().read(address, &mut bytes).unwrap();
        bytes.chunks(size_of::<T>()).map(T::of).collect()
    }

    /// Lays the arguments out and launches.
    pub(crate) fn launch(
        &self,
        name: &str,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[&[u8]],
    ) -> Result<Report, Fault> {
        self.launch_with(name, Launch::new(grid, block, Vec::new()), args)
    }

    pub(crate) fn launch_with(
        &self,
        name: &str,
        mut launch: Launch,
        args: &[&[u8]],
    ) -> Result<Report, Fault> {
        let function = self.module.function(name).expect("the kernel is there");
        assert_eq!(function.params().len(), args.len(), "arguments of {name}");
        for (param, arg) in function.params().iter().zip(args) {
            launch.params.resize(param.offset as usize, 0);
            assert_eq!(param.size as usize, arg.len(), "an argument of {name}");
            launch.params.extend_from_slice(arg);
        }
        self.device.launch(&function, &launch)
    }
}

/// The arguments of a launch as bytes.
#[macro_export]
macro_rules! args {
    ($($value:expr),* $(,)?) => {
        &[$(&*$crate::common::Bytes::bytes(&$value)),*]
    };
}
