use gpuk::vector::{Float3, Float4, Uchar2};
use gpuk_gpu_tests::structs::*;

use crate::{Device, given};

const MIXED: Mixed = Mixed {
    tag: -7,
    weight: 0.125,
    counts: [1, -2, 3],
    flag: true,
    at: Point { x: 4.0, y: -5.0 },
};

fn packed() -> Packed {
    Packed {
        tag: 1,
        value: 0.1,
        tail: -300,
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_structs_arrive_with_their_padding() {
    let device = Device::new(Kernels::load);
    let at = |x: f32| Point { x, y: -x };
    let ordered = Ordered {
        scale: 0.5,
        count: -1 << 40,
        offset: 2.5,
    };
    let mut aligned = Aligned::default();
    (aligned.x, aligned.y) = (3.0, -9);
    let meshes = Meshes {
        points: [[at(1.0), at(2.0), at(3.0)], [at(4.0), at(5.0), at(6.0)]],
        parts: [Mixed::default(), MIXED],
        last: 0xab,
        ..Meshes::default()
    };
    let points = [1_f32, -1., 2., -2., 3., -3., 4., -4., 5., -5., 6., -6.];
    let params = Params_float_64 {
        data: std::array::from_fn(|i| i as f32),
        length: 64,
    };
    let data: [f32; 64] = std::array::from_fn(|i| i as f32);
    given! { device:
        point(at(1.5)): 8, 4, {0 => [1.5_f32, -1.5]}, [1.5_f32, -1.5_f32];
        mixed(MIXED): 40, 8,
            {0 => -7_i8, 8 => 0.125_f64, 16 => [1_i32, -2, 3], 28 => 1_u8, 32 => [4_f32, -5.0]},
            [-7_i8, 0.125_f64, [1_i32, -2, 3], 1_u8, [4_f32, -5.0]];
        ordered(ordered): 24, 8,
            {0 => 0.5_f32, 8 => -1_i64 << 40, 16 => 2.5_f32}, [0.5_f32, -1_i64 << 40, 2.5_f32];
        aligned(aligned): 16, 16, {0 => 3.0_f32, 8 => -9_i16}, [3.0_f32, -9_i16];
        line(Line { at: -1 }): 128, 128, {0 => -1_i32}, [-1_i32];
        packed(packed()): 11, 1,
            {0 => 1_i8, 1 => 0.1_f64, 9 => -300_i16}, [1_i8, 0.1_f64, -300_i16];
        empty(Empty::default()): 1, 1, {};
        meshes(meshes): 136, 8,
            {0 => points, 88 => -7_i8, 96 => 0.125_f64, 116 => 1_u8, 129 => 0xab_u8},
            [points, [4_f32, -5.0], 0xab_u8];
        params64(params): 260, 4, {0 => data, 256 => 64_i32}, [data, 64_i32];
        float3s(Float3s { a: Float3::new(1., 2., 3.), d: 0.1, b: Float3::new(4., 5., 6.) }): 40, 8,
            {0 => [1_f32, 2., 3.], 16 => 0.1_f64, 24 => [4_f32, 5., 6.]},
            [[1_f32, 2., 3.], 0.1_f64, [4_f32, 5., 6.]];
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_bases_private_members_vectors_and_addresses_arrive() {
    let device = Device::new(Kernels::load);
    let derived = Derived::new(-1, 2, 3, 0.1);
    let private = Private {
        hidden: -300,
        point: Point { x: 1.0, y: 2.0 },
        seen: 7,
    };
    let vectors = Vectors {
        tag: 1,
        three: Float3::new(1.0, 2.0, 3.0),
        four: Float4::new(4.0, 5.0, 6.0, 7.0),
        two: Uchar2::new(8, 9),
    };
    let addresses = Addresses {
        r#in: 0x1234_5678_9abc,
        out: [1, u64::MAX],
        call: 0x8000,
        last: -1,
    };
    given! { device:
        derived(derived): 24, 8,
            {0 => -1_i32, 4 => 2_i8, 8 => 3_i8, 16 => 0.1_f64}, [-1_i32, 2_i8, 3_i8, 0.1_f64];
        private_(private): 16, 4,
            {0 => -300_i16, 4 => [1_f32, 2.0], 12 => 7_i32}, [-300_i16, [1_f32, 2.0], 7_i32];
        vectors_(vectors): 48, 16,
            {0 => 1_i8, 4 => [1_f32, 2., 3.], 16 => [4_f32, 5., 6., 7.], 32 => [8_u8, 9]},
            [1_i8, [1_f32, 2., 3.], [4_f32, 5., 6., 7.], [8_u8, 9]];
        addresses(addresses): 40, 8,
            {0 => 0x1234_5678_9abc_u64, 8 => [1_u64, u64::MAX], 24 => 0x8000_u64, 32 => -1_i32},
            [0x1234_5678_9abc_u64, [1_u64, u64::MAX], 0x8000_u64, -1_i32];
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_struct_between_smaller_parameters_and_behind_pointers() {
    let Device { stream, kernels } = Device::new(Kernels::load);
    let value = Ordered {
        scale: 0.25,
        count: 17,
        offset: -3.0,
    };
    let input = stream.clone_htod(&[Mixed::default(), MIXED]).unwrap();
    let output = stream.clone_htod(&[Mixed::default(); 2]).unwrap();
    let launch = Device::<()>::launch();
    // SAFETY: both have two.
    let launched = unsafe { kernels.between(&stream, launch, 65.0, value, true, &input, output) };
    let (_, output) = launched.unwrap();
    let made = Mixed {
        tag: 65,
        weight: 0.25,
        counts: [17, -3, 0],
        flag: true,
        at: Point::default(),
    };
    assert_eq!(stream.clone_dtoh(&output).unwrap(), [MIXED, made]);
}
