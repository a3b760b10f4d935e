use gpuk_gpu_tests::scalars::Kernels;

use crate::{Device, given};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_numbers_of_every_size_arrive() {
    let device = Device::new(Kernels::load);
    given! { device:
        boolean(true): 1, 1, {0 => 1_u8};
        boolean(false): 1, 1, {0 => 0_u8};
        plain_char(-3): 1, 1, {0 => 0xfd_u8};
        signed_char(-128): 1, 1, {0 => 0x80_u8};
        unsigned_char(0xc3): 1, 1, {0 => 0xc3_u8};
        short_(-300): 2, 2, {0 => -300_i16};
        unsigned_short(65_000): 2, 2, {0 => 65_000_u16};
        int_(-70_000): 4, 4, {0 => -70_000_i32};
        unsigned_int(4_000_000_000): 4, 4, {0 => 4_000_000_000_u32};
        long_(-5_000_000_000): 8, 8, {0 => -5_000_000_000_i64};
        unsigned_long(1 << 63): 8, 8, {0 => 1_u64 << 63};
        long_long(i64::MIN): 8, 8, {0 => i64::MIN};
        unsigned_long_long(u64::MAX - 1): 8, 8, {0 => u64::MAX - 1};
        int128(i128::MIN + 5): 16, 16, {0 => i128::MIN + 5};
        unsigned_int128(u128::MAX - 7): 16, 16, {0 => u128::MAX - 7};
        float_(f32::from_bits(0x7fa0_1234)): 4, 4, {0 => 0x7fa0_1234_u32};
        double_(-0.0): 8, 8, {0 => 1_u64 << 63};
        wide_char(0x1f600): 4, 4, {0 => 0x1f600_u32};
        utf16(0xd83d): 2, 2, {0 => 0xd83d_u16};
        utf32(0x1f600): 4, 4, {0 => 0x1f600_u32};
        std_byte(0x7f): 1, 1, {0 => 0x7f_u8};
        size(usize::MAX as u64): 8, 8, {0 => u64::MAX};
        fixed(-1): 8, 8, {0 => -1_i64};
    }
}
