//! Parameters of every kind, given back by kernels: all their bytes, and their members one by one.
//!
//! What comes back is compared with bytes that the tests spell out, at offsets of the C++ ABI. Bytes that are padding
//! are not compared. Each parameter stands between two others, which have to arrive too.

mod complex;
mod enums;
mod handles;
mod members;
mod scalars;
mod small;
mod structs;
mod vectors;

use std::sync::Arc;

use gpuk::{CudaContext, CudaSlice, CudaStream, Launch};

const BEFORE: u8 = 0xa5;
const AFTER: u8 = 0x5a;

/// Where a kernel writes.
struct Out {
    facts: CudaSlice<u32>,
    bytes: CudaSlice<u8>,
}

/// A device, and the kernels of one file on it.
struct Device<K> {
    stream: Arc<CudaStream>,
    kernels: K,
}

impl<K> Device<K> {
    fn new(load: impl FnOnce(&Arc<CudaContext>) -> Result<K, gpuk::LoadError>) -> Self {
        let context = gpuk::device(0).unwrap();
        Self {
            stream: context.new_stream().unwrap(),
            kernels: load(&context).unwrap(),
        }
    }

    fn launch() -> Launch {
        Launch::default().block([1, 1, 1])
    }

    fn out(&self) -> Out {
        Out {
            facts: self.stream.alloc_zeros(5).unwrap(),
            bytes: self.stream.clone_htod(&[UNWRITTEN; ROOM]).unwrap(),
        }
    }

    /// What a kernel wrote: the bytes of the parameter, and those of its members.
    fn read(&self, out: &Out, size: usize, align: usize) -> (Vec<u8>, Vec<u8>) {
        let facts = self.stream.clone_dtoh(&out.facts).unwrap();
        let expected = [size, align, 0, BEFORE.into(), AFTER.into()];
        assert_eq!(facts, expected.map(|fact| fact as u32));
        let mut bytes = self.stream.clone_dtoh(&out.bytes).unwrap();
        let members = bytes.split_off(size);
        (bytes, members)
    }
}

const ROOM: usize = 1024;
const UNWRITTEN: u8 = 0xee;

/// Values as the bytes they have in C++.
trait Bytes {
    fn bytes(&self) -> Vec<u8>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Bytes for $number {
            fn bytes(&self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )*};
}

numbers!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64);

impl<T: Bytes, const N: usize> Bytes for [T; N] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(Bytes::bytes).collect()
    }
}

/// Compares at offsets; what is not listed is padding.
fn compare(found: &[u8], expected: &[(usize, Vec<u8>)]) {
    for (at, expected) in expected {
        assert_eq!(&found[*at..at + expected.len()], expected, "at byte {at}");
    }
}

/// Launches kernels of a module with a value each, and compares what they give back:
/// `kernel(value): size, alignment, {offset => bytes…}, members that the kernel gives back one by one`.
macro_rules! given {
    ($device:ident: $($kernel:ident($value:expr): $size:expr, $align:expr,
        {$($at:expr => $bytes:expr),*} $(, [$($member:expr),*])?;)+) => {$({
        let crate::Out { facts, bytes } = $device.out();
        // SAFETY: the buffers have room for what the kernels of `given.cuh` write.
        let launched = unsafe {
            $device.kernels.$kernel(
                &$device.stream,
                crate::Device::<()>::launch(),
                crate::BEFORE,
                $value,
                crate::AFTER,
                facts,
                bytes,
            )
        };
        let (_, (facts, bytes)) = launched.unwrap();
        let (whole, members) = $device.read(&crate::Out { facts, bytes }, $size, $align);
        let expected = [$(($at, crate::Bytes::bytes(&$bytes))),*];
        crate::compare(&whole, &expected);
        let each: &[Vec<u8>] = &[$($(crate::Bytes::bytes(&$member)),*)?];
        let one_by_one = [&each.concat()[..], &[crate::UNWRITTEN]].concat();
        assert_eq!(members[..one_by_one.len()], one_by_one, stringify!($kernel));
    })+};
}
use given;
