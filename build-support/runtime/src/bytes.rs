//! Bytes of a C++ struct for which there is no Rust field: unions, bit-fields, members that cannot be named.

#![expect(
    unsafe_code,
    reason = "promising that bytes are laid out as the device's"
)]

use std::fmt;

use cudarc::driver::sys::CUtensorMap;
use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

/// `N` bytes of a struct, all of them known to Rust.
///
/// Generated structs have methods for what is known to lie in them; what is not is up to [`get`](Self::get) and
/// [`set`](Self::set).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Bytes<const N: usize>(pub [u8; N]);

impl<const N: usize> Bytes<N> {
    /// The value at a byte.
    ///
    /// # Panics
    /// It does not lie in the bytes.
    #[must_use]
    pub fn get<T: Stored>(&self, at: usize) -> T {
        T::load(&self.0[at..at + size_of::<T>()])
    }

    /// Puts a value at a byte.
    ///
    /// # Panics
    /// It does not lie in the bytes.
    pub fn set<T: Stored>(&mut self, at: usize, value: T) {
        value.store(&mut self.0[at..at + size_of::<T>()]);
    }

    /// The number in `width` bits, at most 64, counted from the lowest bit of the first byte.
    ///
    /// # Panics
    /// They do not lie in the bytes.
    #[must_use]
    pub fn bits<T: Bits>(&self, first: usize, width: usize) -> T {
        let bit = |at: usize| u64::from(self.0[at / 8] >> (at % 8) & 1);
        let all = (0..width).fold(0, |all, at| all | bit(first + at) << at);
        let unused = 64 - width as u32;
        T::from_bits(all, (all << unused) as i64 >> unused)
    }

    /// Puts the lowest `width` bits of a number, at most 64, from a bit on.
    ///
    /// # Panics
    /// They do not lie in the bytes.
    pub fn set_bits<T: Bits>(&mut self, first: usize, width: usize, value: T) {
        let value = value.into_bits();
        for at in 0..width {
            let (byte, mask) = ((first + at) / 8, 1 << ((first + at) % 8));
            match value >> at & 1 {
                0 => self.0[byte] &= !mask,
                _ => self.0[byte] |= mask,
            }
        }
    }
}

impl<const N: usize> Default for Bytes<N> {
    /// Zeros.
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> From<[u8; N]> for Bytes<N> {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

/// A tensor map as cudarc encodes one: generated code has the alignment that the kernel's compiler gives it, cudarc
/// that of the CUDA version it is built for.
impl From<CUtensorMap> for Bytes<128> {
    fn from(map: CUtensorMap) -> Self {
        let mut bytes = Self::default();
        bytes.set(0, map.opaque);
        bytes
    }
}

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

// SAFETY: bytes, one after the other.
unsafe impl<const N: usize> DeviceRepr for Bytes<N> {}
// SAFETY: zero is a byte.
unsafe impl<const N: usize> ValidAsZeroBits for Bytes<N> {}

/// A value that can be put into [`Bytes`] and read back from any.
pub trait Stored: Copy {
    /// Reads it from as many bytes as it has.
    fn load(bytes: &[u8]) -> Self;

    /// Writes it to as many bytes as it has.
    fn store(self, bytes: &mut [u8]);
}

/// A value of a bit-field.
pub trait Bits: Copy {
    /// From the bits of the field, and from these as a signed number.
    fn from_bits(unsigned: u64, signed: i64) -> Self;

    /// The bits, of which the field takes the lowest.
    fn into_bits(self) -> u64;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Stored for $number {
            fn load(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                Self::from_ne_bytes(own)
            }

            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

numbers!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64);

macro_rules! integers {
    ($bits:ident from ($unsigned:pat, $signed:pat): $($number:ty)*) => {$(
        impl Bits for $number {
            fn from_bits($unsigned: u64, $signed: i64) -> Self {
                $bits as Self
            }

            fn into_bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}

integers!(bits from (_, bits): i8 i16 i32 i64);
integers!(bits from (bits, _): u8 u16 u32 u64);

impl Bits for bool {
    fn from_bits(unsigned: u64, _: i64) -> Self {
        unsigned != 0
    }

    fn into_bits(self) -> u64 {
        u64::from(self)
    }
}

impl Stored for bool {
    fn load(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }

    fn store(self, bytes: &mut [u8]) {
        bytes[0] = u8::from(self);
    }
}

impl<T: Stored, const N: usize> Stored for [T; N] {
    fn load(bytes: &[u8]) -> Self {
        std::array::from_fn(|at| T::load(&bytes[at * size_of::<T>()..][..size_of::<T>()]))
    }

    fn store(self, bytes: &mut [u8]) {
        let items = bytes.chunks_exact_mut(size_of::<T>());
        items.zip(self).for_each(|(bytes, item)| item.store(bytes));
    }
}

#[cfg(feature = "f16")]
mod halves {
    use half::{bf16, f16};

    use super::Stored;

    numbers!(f16 bf16);
}

/// Numbers of a byte or less.
#[cfg(any(feature = "f8", feature = "f4"))]
macro_rules! small {
    ($($number:ty)*) => {$(
        impl Stored for $number {
            fn load(bytes: &[u8]) -> Self {
                Self::from_bits(bytes[0])
            }

            fn store(self, bytes: &mut [u8]) {
                bytes[0] = self.to_bits();
            }
        }
    )*};
}

#[cfg(feature = "f8")]
small!(float8::F8E4M3 float8::F8E5M2);
#[cfg(feature = "f4")]
small!(float4::F4E2M1 float4::F4E2M1x2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_where_they_were_put() {
        let mut bytes = Bytes::<16>::default();
        bytes.set(1, -2.5_f64);
        bytes.set(9, [1_u16, 0x203]);
        bytes.set(13, true);
        assert_eq!(format!("{bytes:?}"), "0000000000000004c001000302010000");
        assert_eq!(bytes.get::<f64>(1), -2.5);
        assert_eq!(bytes.get::<[u16; 2]>(9), [1, 0x203]);
        assert!(bytes.get::<bool>(13));
    }

    #[test]
    fn bits_are_numbers_with_their_sign() {
        let mut bytes = Bytes([0xff; 9]);
        bytes.set_bits(3, 12, -5_i16);
        assert_eq!(bytes.0[..3], [0b1101_1111, 0b1111_1111, 0xff]);
        assert_eq!(
            (bytes.bits::<i16>(3, 12), bytes.bits::<u16>(3, 12)),
            (-5, 0xffb)
        );
        bytes.set_bits(3, 12, 0x1001_u32);
        assert_eq!(bytes.bits::<u32>(3, 12), 1);
        assert_eq!((bytes.bits::<u32>(0, 3), bytes.bits::<u8>(15, 1)), (7, 1));
        bytes.set_bits(5, 64, i64::MIN);
        assert_eq!(bytes.bits::<i64>(5, 64), i64::MIN);
        bytes.set_bits(70, 1, false);
        assert!(!bytes.bits::<bool>(70, 1) && bytes.bits::<bool>(71, 1));
    }
}
