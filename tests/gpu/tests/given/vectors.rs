use gpuk::vector::*;
use gpuk_gpu_tests::vectors::Kernels;

use crate::{Device, given};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_vectors_arrive() {
    let device = Device::new(Kernels::load);
    let (big, small) = (1_i64 << 40, -7_i64);
    given! { device:
        char1_(Char1::new(-1)): 1, 1, {0 => -1_i8};
        char2_(Char2::new(1, -2)): 2, 2, {0 => [1_i8, -2]};
        uchar3_(Uchar3::new(1, 2, 253)): 3, 1, {0 => [1_u8, 2, 253]};
        uchar4_(Uchar4::new(1, 2, 3, 254)): 4, 4, {0 => [1_u8, 2, 3, 254]};
        short2_(Short2::new(-300, 300)): 4, 4, {0 => [-300_i16, 300]};
        ushort3_(Ushort3::new(1, 2, 65_535)): 6, 2, {0 => [1_u16, 2, 65_535]};
        ushort4_(Ushort4::new(1, 2, 3, 65_534)): 8, 8, {0 => [1_u16, 2, 3, 65_534]};
        int1_(Int1::new(-9)): 4, 4, {0 => -9_i32};
        int2_(Int2::new(-9, 8)): 8, 8, {0 => [-9_i32, 8]};
        int3_(Int3::new(-9, 8, i32::MIN)): 12, 4, {0 => [-9_i32, 8, i32::MIN]};
        uint4_(Uint4::new(1, 2, 3, u32::MAX)): 16, 16, {0 => [1_u32, 2, 3, u32::MAX]};
        long3_(Long3::new(big, small, 0)): 24, 8, {0 => [big, small, 0]};
        longlong2_(Longlong2::new(big, small)): 16, 16, {0 => [big, small]};
        float2_(Float2::new(1.5, -2.5)): 8, 8, {0 => [1.5_f32, -2.5]};
        float3_(Float3::new(1.5, -2.5, 0.1)): 12, 4, {0 => [1.5_f32, -2.5, 0.1]};
        float4_(Float4::new(1.5, -2.5, 0.1, 9.0)): 16, 16, {0 => [1.5_f32, -2.5, 0.1, 9.0]};
        double2_(Double2::new(1.5, 0.1)): 16, 16, {0 => [1.5_f64, 0.1]};
        double3_(Double3::new(1.5, 0.1, -7.0)): 24, 8, {0 => [1.5_f64, 0.1, -7.0]};
        dim(Uint3::new(1, 65_536, 3)): 12, 4, {0 => [1_u32, 65_536, 3]};
        double4_16(Double4_16a::new(1.5, 0.1, 2.5, -0.5)): 32, 16, {0 => [1.5_f64, 0.1, 2.5, -0.5]};
        double4_32(Double4_32a::new(1.5, 0.1, 2.5, -0.5)): 32, 32, {0 => [1.5_f64, 0.1, 2.5, -0.5]};
        ulonglong4_32(Ulonglong4_32a::new(1, 2, 3, u64::MAX)): 32, 32, {0 => [1_u64, 2, 3, u64::MAX]};
    }
}
