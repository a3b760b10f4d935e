use gpuk::cudarc::driver::{DevicePtr, sys};
use gpuk_gpu_tests::handles::{Kernels, Tensor, Texture};

use crate::{Device, given};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_handles_and_function_addresses_arrive() {
    let device = Device::new(Kernels::load);
    let words: [u64; 16] = std::array::from_fn(|i| 0x0101_0101_0101_0101 * i as u64);
    let map = sys::CUtensorMap { opaque: words };
    let textures = Texture {
        texture: 0x1_0000_0001,
        surface: 7,
        level: -1,
    };
    let tensor = Tensor {
        rows: 31,
        map: map.into(),
    };
    given! { device:
        texture(0x1_0000_0001): 8, 8, {0 => 0x1_0000_0001_u64};
        surface(u64::MAX): 8, 8, {0 => u64::MAX};
        textures(textures): 24, 8,
            {0 => [0x1_0000_0001_u64, 7], 16 => -1_i32}, [[0x1_0000_0001_u64, 7], -1_i32];
        tensor_map(map.into()): 128, 128, {0 => words};
        tensor(tensor): 256, 128, {0 => 31_i32, 128 => words}, [31_i32, words];
        function(0x7f00_1234): 8, 8, {0 => 0x7f00_1234_u64};
        member(4): 8, 8, {0 => 4_i64};
        method([0x100, 8]): 16, 8, {0 => [0x100_i64, 8]};
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_pointers_of_every_shape_arrive() {
    let Device { stream, kernels } = Device::new(Kernels::load);
    let floats = stream.alloc_zeros::<f32>(4).unwrap();
    let mut any = stream.alloc_zeros::<u16>(4).unwrap();
    let mut table = stream.alloc_zeros::<u64>(4).unwrap();
    let constants = stream.alloc_zeros::<u64>(4).unwrap();
    let mut rows = stream.clone_htod(&[[0_f32; 4]; 2]).unwrap();
    let cube = stream.clone_htod(&[[[0_i32; 3]; 2]; 2]).unwrap();
    let mut list = stream.alloc_zeros::<i16>(4).unwrap();
    let mut last = stream.alloc_zeros::<i32>(4).unwrap();
    let restricted = stream.alloc_zeros::<f64>(4).unwrap();
    let unknown = stream.alloc_zeros::<u8>(4).unwrap();
    let expected = [
        floats.device_ptr(&stream).0,
        any.device_ptr(&stream).0,
        table.device_ptr(&stream).0,
        constants.device_ptr(&stream).0,
        rows.device_ptr(&stream).0,
        cube.device_ptr(&stream).0,
        list.device_ptr(&stream).0,
        last.device_ptr(&stream).0,
        restricted.slice(1..).device_ptr(&stream).0,
        unknown.device_ptr(&stream).0,
    ];
    let addresses = stream.alloc_zeros(expected.len()).unwrap();
    // SAFETY: the kernel reads and writes nothing but the addresses.
    let launched = unsafe {
        kernels.pointers(
            &stream,
            Device::<()>::launch(),
            &floats,
            &mut any,
            &mut table,
            &constants,
            &mut rows,
            &cube,
            &mut list,
            &mut last,
            restricted.slice(1..),
            &unknown,
            addresses,
        )
    };
    let (_, (.., addresses)) = launched.unwrap();
    assert_eq!(stream.clone_dtoh(&addresses).unwrap(), expected);
}
