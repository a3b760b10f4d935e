use gpuk_gpu_tests::enums::{Colour, Flag, Kernels, Kind, Rounding, Shape, Wide};

use crate::{Device, given};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_enums_arrive() {
    let device = Device::new(Kernels::load);
    let shape = Shape {
        kind: Kind::square,
        roundings: [Rounding::Up, Rounding::Down, Rounding(77)],
        filled: true,
    };
    given! { device:
        scoped(Rounding::Down): 1, 1, {0 => -1_i8};
        scoped(Rounding(100)): 1, 1, {0 => 100_i8};
        wide(Wide::Most): 8, 8, {0 => u64::MAX};
        plain(Flag(Flag::first.0 | Flag::second.0)): 4, 4, {0 => 3_u32};
        named_by_typedef(Colour::green): 4, 4, {0 => 1_u32};
        nested(Kind::square): 2, 2, {0 => 0x1234_u16};
        shape(shape): 6, 2,
            {0 => 0x1234_u16, 2 => [1_i8, -1, 77], 5 => 1_u8},
            [0x1234_u16, [1_i8, -1, 77], 1_u8];
    }
    assert_eq!(Flag::both, Flag(3));
}
