//! CUDA's vector types, with CUDA's alignment (`vector_types.h`).
//!
//! The names are CUDA's with a capital: `float4` is [`Float4`], `uchar2` is [`Uchar2`]. `double4` and the other
//! types of four 64-bit numbers have 16 bytes of alignment as they always had; `Double4_32a` are those of CUDA 13
//! with 32.
//!
//! [`Complex32`] and [`Complex64`] are `thrust::complex` and `cuda::std::complex`. `cuFloatComplex` and
//! `cuDoubleComplex` are `float2` and `double2`. With the feature `complex` all four convert from and to
//! `num_complex::Complex`.

#![expect(
    unsafe_code,
    reason = "promising that the types are laid out as the device's"
)]

use std::ffi::{c_long, c_ulong};

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

use crate::bytes::Stored;

macro_rules! vectors {
    ($($name:ident = $cuda:literal: $item:ty, $align:literal { $($field:ident)+ } $len:literal;)+) => {$(
        #[doc = concat!("`", $cuda, "`.")]
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        #[repr(C, align($align))]
        #[expect(missing_docs, reason = "the fields are CUDA's")]
        pub struct $name {
            $(pub $field: $item,)+
        }

        impl $name {
            #[doc = concat!("A `", $cuda, "` of these.")]
            #[must_use]
            pub const fn new($($field: $item),+) -> Self {
                Self { $($field),+ }
            }
        }

        impl From<[$item; $len]> for $name {
            fn from([$($field),+]: [$item; $len]) -> Self {
                Self { $($field),+ }
            }
        }

        impl From<$name> for [$item; $len] {
            fn from(vector: $name) -> Self {
                [$(vector.$field),+]
            }
        }

        impl Stored for $name {
            fn load(bytes: &[u8]) -> Self {
                <[$item; $len]>::load(&bytes[..$len * size_of::<$item>()]).into()
            }

            fn store(self, bytes: &mut [u8]) {
                <[$item; $len]>::from(self).store(bytes);
            }
        }

        const _: () = {
            assert!(align_of::<$name>() == $align);
            assert!(size_of::<$name>() == (size_of::<$item>() * $len as usize).next_multiple_of($align));
        };

        // SAFETY: numbers in the layout that the asserts compare with CUDA's.
        unsafe impl DeviceRepr for $name {}
        // SAFETY: every bit pattern is a number, zero too.
        unsafe impl ValidAsZeroBits for $name {}
    )+};
}

vectors! {
    Char1 = "char1": i8, 1 { x } 1;
    Char2 = "char2": i8, 2 { x y } 2;
    Char3 = "char3": i8, 1 { x y z } 3;
    Char4 = "char4": i8, 4 { x y z w } 4;
    Uchar1 = "uchar1": u8, 1 { x } 1;
    Uchar2 = "uchar2": u8, 2 { x y } 2;
    Uchar3 = "uchar3": u8, 1 { x y z } 3;
    Uchar4 = "uchar4": u8, 4 { x y z w } 4;

    Short1 = "short1": i16, 2 { x } 1;
    Short2 = "short2": i16, 4 { x y } 2;
    Short3 = "short3": i16, 2 { x y z } 3;
    Short4 = "short4": i16, 8 { x y z w } 4;
    Ushort1 = "ushort1": u16, 2 { x } 1;
    Ushort2 = "ushort2": u16, 4 { x y } 2;
    Ushort3 = "ushort3": u16, 2 { x y z } 3;
    Ushort4 = "ushort4": u16, 8 { x y z w } 4;

    Int1 = "int1": i32, 4 { x } 1;
    Int2 = "int2": i32, 8 { x y } 2;
    Int3 = "int3": i32, 4 { x y z } 3;
    Int4 = "int4": i32, 16 { x y z w } 4;
    Uint1 = "uint1": u32, 4 { x } 1;
    Uint2 = "uint2": u32, 8 { x y } 2;
    Uint3 = "uint3": u32, 4 { x y z } 3;
    Uint4 = "uint4": u32, 16 { x y z w } 4;

    Longlong1 = "longlong1": i64, 8 { x } 1;
    Longlong2 = "longlong2": i64, 16 { x y } 2;
    Longlong3 = "longlong3": i64, 8 { x y z } 3;
    Longlong4 = "longlong4": i64, 16 { x y z w } 4;
    Longlong4_16a = "longlong4_16a": i64, 16 { x y z w } 4;
    Longlong4_32a = "longlong4_32a": i64, 32 { x y z w } 4;
    Ulonglong1 = "ulonglong1": u64, 8 { x } 1;
    Ulonglong2 = "ulonglong2": u64, 16 { x y } 2;
    Ulonglong3 = "ulonglong3": u64, 8 { x y z } 3;
    Ulonglong4 = "ulonglong4": u64, 16 { x y z w } 4;
    Ulonglong4_16a = "ulonglong4_16a": u64, 16 { x y z w } 4;
    Ulonglong4_32a = "ulonglong4_32a": u64, 32 { x y z w } 4;

    Float1 = "float1": f32, 4 { x } 1;
    Float2 = "float2": f32, 8 { x y } 2;
    Float3 = "float3": f32, 4 { x y z } 3;
    Float4 = "float4": f32, 16 { x y z w } 4;

    Double1 = "double1": f64, 8 { x } 1;
    Double2 = "double2": f64, 16 { x y } 2;
    Double3 = "double3": f64, 8 { x y z } 3;
    Double4 = "double4": f64, 16 { x y z w } 4;
    Double4_16a = "double4_16a": f64, 16 { x y z w } 4;
    Double4_32a = "double4_32a": f64, 32 { x y z w } 4;
}

// `long` has eight bytes on Linux and four on Windows.
#[cfg(not(windows))]
vectors! {
    Long1 = "long1": c_long, 8 { x } 1;
    Long2 = "long2": c_long, 16 { x y } 2;
    Long3 = "long3": c_long, 8 { x y z } 3;
    Ulong1 = "ulong1": c_ulong, 8 { x } 1;
    Ulong2 = "ulong2": c_ulong, 16 { x y } 2;
    Ulong3 = "ulong3": c_ulong, 8 { x y z } 3;
}
#[cfg(windows)]
vectors! {
    Long1 = "long1": c_long, 4 { x } 1;
    Long2 = "long2": c_long, 8 { x y } 2;
    Long3 = "long3": c_long, 4 { x y z } 3;
    Ulong1 = "ulong1": c_ulong, 4 { x } 1;
    Ulong2 = "ulong2": c_ulong, 8 { x y } 2;
    Ulong3 = "ulong3": c_ulong, 4 { x y z } 3;
}
vectors! {
    Long4 = "long4": c_long, 16 { x y z w } 4;
    Long4_16a = "long4_16a": c_long, 16 { x y z w } 4;
    Long4_32a = "long4_32a": c_long, 32 { x y z w } 4;
    Ulong4 = "ulong4": c_ulong, 16 { x y z w } 4;
    Ulong4_16a = "ulong4_16a": c_ulong, 16 { x y z w } 4;
    Ulong4_32a = "ulong4_32a": c_ulong, 32 { x y z w } 4;
}

/// `half2` and `nv_bfloat162`.
#[cfg(feature = "f16")]
mod packed {
    use half::{bf16, f16};

    use super::{DeviceRepr, Stored, ValidAsZeroBits};

    vectors! {
        Half2 = "half2": f16, 4 { x y } 2;
        Bfloat162 = "nv_bfloat162": bf16, 4 { x y } 2;
    }
}
#[cfg(feature = "f16")]
pub use packed::{Bfloat162, Half2};

// As in `feature`: what is missing is said once, by the generated code.
#[cfg(not(feature = "f16"))]
#[doc(hidden)]
pub type Half2 = Ushort2;
#[cfg(not(feature = "f16"))]
#[doc(hidden)]
pub type Bfloat162 = Ushort2;

vectors! {
    Complex32 = "complex<float>": f32, 8 { re im } 2;
    Complex64 = "complex<double>": f64, 16 { re im } 2;
}

/// `num_complex::Complex` has the alignment of its parts, CUDA's complex numbers that of both together: they are
/// converted, not cast.
#[cfg(feature = "complex")]
mod complex {
    use num_complex::Complex;

    use super::{Complex32, Complex64, Double2, Float2};

    macro_rules! conversions {
        ($($vector:ident: $item:ty { $re:ident $im:ident };)*) => {$(
            impl From<Complex<$item>> for $vector {
                fn from(number: Complex<$item>) -> Self {
                    Self::new(number.re, number.im)
                }
            }

            impl From<$vector> for Complex<$item> {
                fn from(vector: $vector) -> Self {
                    Self::new(vector.$re, vector.$im)
                }
            }
        )*};
    }

    conversions! {
        Complex32: f32 { re im };
        Complex64: f64 { re im };
        Float2: f32 { x y };
        Double2: f64 { x y };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_arrays() {
        let vector = Float3::from([1.0, 2.0, 3.0]);
        assert_eq!(vector, Float3::new(1.0, 2.0, 3.0));
        assert_eq!(<[f32; 3]>::from(vector), [1.0, 2.0, 3.0]);
        assert_eq!(size_of::<[Float3; 4]>(), 48);
        assert_eq!((size_of::<Double3>(), align_of::<Double3>()), (24, 8));
        assert_eq!((size_of::<Uchar3>(), align_of::<Uchar3>()), (3, 1));
    }

    #[cfg(feature = "complex")]
    #[test]
    fn complex_numbers_convert_both_ways() {
        use num_complex::Complex;

        let number = Complex::new(1.5_f32, -2.0);
        assert_eq!(Complex32::from(number), Complex32::new(1.5, -2.0));
        assert_eq!(Complex::from(Float2::from(number)), number);
    }
}
