use gpuk::float4::{F4E2M1, F4E2M1x2};
use gpuk::float8::{F8E4M3, F8E5M2};
use gpuk::half::{bf16, f16};
use gpuk::vector::{Bfloat162, Half2};
use gpuk_gpu_tests::small::{__nv_fp8_e8m0, __nv_fp8x4_e4m3, Kernels};

use crate::{Device, given};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_small_floats_arrive() {
    let device = Device::new(Kernels::load);
    let half2 = Half2::new(f16::from_bits(0x3c01), f16::from_bits(0xfc00));
    let bfloat162 = Bfloat162::new(bf16::from_bits(0x3f81), bf16::from_bits(0xff80));
    given! { device:
        half_(f16::from_f32(0.1)): 2, 2, {0 => 0x2e66_u16};
        half_(f16::from_bits(0x7d55)): 2, 2, {0 => 0x7d55_u16};
        bfloat16(bf16::from_f32(-3.5)): 2, 2, {0 => 0xc060_u16};
        half2_(half2): 4, 4, {0 => [0x3c01_u16, 0xfc00]};
        bfloat162(bfloat162): 4, 4, {0 => [0x3f81_u16, 0xff80]};
        e4m3(F8E4M3::from_bits(0x7e)): 1, 1, {0 => 0x7e_u8};
        e5m2(F8E5M2::from_bits(0xfb)): 1, 1, {0 => 0xfb_u8};
        e8m0(__nv_fp8_e8m0 { bytes: [0x7f].into() }): 1, 1, {0 => 0x7f_u8};
        e4m3x4(__nv_fp8x4_e4m3 { bytes: [1, 2, 3, 0xff].into() }): 4, 4, {0 => [1_u8, 2, 3, 0xff]};
        e2m1(F4E2M1::from_bits(0xb)): 1, 1, {0 => 0xb_u8};
        e2m1x2(F4E2M1x2::from_bits(0x9d)): 1, 1, {0 => 0x9d_u8};
    }
}
