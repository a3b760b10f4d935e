use gpuk_gpu_tests::members::*;

use crate::{Device, given};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_unions_arrive() {
    let device = Device::new(Kernels::load);
    let bytes: [u8; 12] = std::array::from_fn(|i| i as u8 + 1);
    let double = f64::from_ne_bytes([1, 2, 3, 4, 5, 6, 7, 8]);
    let tagged = Tagged {
        tag: -2,
        number: Number::default().with_f(1.5),
    };
    let anonymous = Anonymous {
        kind: 5,
        p: 1,
        q: 2,
        last: 3,
        ..Anonymous::default()
    };
    let anonymous = anonymous.with_whole(-1).with_low(0.5);
    assert_eq!(
        (anonymous.low(), anonymous.high().to_bits()),
        (0.5, u32::MAX)
    );
    given! { device:
        number(Number::default().with_i(-5)): 16, 8, {0 => -5_i32}, [0xffff_fffb_u64];
        number(Number::default().with_d(0.1)): 16, 8, {0 => 0.1_f64}, [0.1_f64];
        number(Number::default().with_bytes(bytes)): 16, 8, {0 => bytes}, [double];
        tagged(tagged): 24, 8, {0 => -2_i16, 8 => 1.5_f32}, [-2_i16, 1.5_f32];
        anonymous(anonymous): 24, 8,
            {0 => 5_i32, 8 => 0.5_f32, 12 => u32::MAX, 16 => [1_i8, 2, 3]},
            [5_i32, 0.5_f32, u32::MAX, [1_i8, 2, 3]];
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_bit_fields_arrive() {
    let device = Device::new(Kernels::load);
    let bits = Bits {
        scale: 1.5,
        last: -0.5,
        ..Bits::default()
    };
    let bits = bits.with_a(5).with_b(19).with_c(-1000);
    let bits = bits.with_big(-1 << 39).with_on(true).with_mode(Mode::Auto);
    assert_eq!(
        (bits.c(), bits.big(), bits.mode()),
        (-1000, -1 << 39, Mode::Auto)
    );
    // The private `a` is in the lowest three bits.
    let secret = Secret {
        bytes_0: [2, 0, 0, 0].into(),
        c: 9,
    };
    let secret = secret.with_b(6);
    // a: 101, b: 10011, c: 1100 0001 1000
    let low = 5_u32 | 19 << 3 | (0xc18 << 8);
    let high = 1_u64 << 39 | 1 << 40 | 2 << 41;
    given! { device:
        bits(bits): 24, 8,
            {0 => 1.5_f32, 4 => low, 8 => high, 16 => -0.5_f64},
            [1.5_f32, 5_u32, 19_u32, -1000_i32, -1_i64 << 39, 1_u8, 2_u8, -0.5_f64];
        secret(secret): 8, 4,
            {0 => 0b110_010_u8, 4 => 9_i32}, [2_u32, 6_u32, 9_i32];
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_what_cannot_be_named_arrives_as_bytes() {
    let device = Device::new(Kernels::load);
    let inherits = Inherits {
        bytes_0: (-7_i32).to_ne_bytes().into(),
        own: 300,
        ..Inherits::default()
    };
    let unnamed = Unnamed {
        at: [1, 0, 0, 0, 2, 0, 0, 0].into(),
        side: [1, 0, 0, 0].into(),
        last: -1,
    };
    let mut specialized = Box_int::default();
    specialized.bytes.set(0, -9_i32);
    specialized.bytes.set(4, 3_i8);
    let mut unmade = Unmade {
        y: 11,
        ..Unmade::default()
    };
    unmade.bytes_0.set_bits(0, 4, -3_i32);
    given! { device:
        inherits(inherits): 8, 4, {0 => -7_i32, 4 => 300_i16}, [-7_i32, 300_i16];
        unnamed(unnamed): 16, 4, {0 => [1_i32, 2, 1], 12 => -1_i8}, [[1_i32, 2, 1], -1_i8];
        specialized(specialized): 8, 4, {0 => -9_i32, 4 => 3_i8}, [-9_i32, 3_i8];
        unmade(unmade): 8, 4, {0 => 0xd_u8, 4 => 11_i32}, [-3_i32, 11_i32];
        tail(Tail { count: 12 }): 4, 4, {0 => 12_i32}, [12_i32];
    }
}
