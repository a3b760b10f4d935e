//! `hash.cu`, against published values and the definitions.

use gpuk::vector::Uint4;
use gpuk_gpu_tests::hash::Kernels;

use crate::device::{Device, Random, run, shape};

fn start(seed: u64) -> (Device, Kernels, Random) {
    let device = Device::new();
    let kernels = Kernels::load(&device.context).unwrap();
    (device, kernels, Random(seed))
}

/// The first `n` primes.
fn primes(n: usize) -> Vec<u64> {
    let prime = |x: &u64| (2..*x).all(|by| !x.is_multiple_of(by));
    (2..).filter(prime).take(n).collect()
}

/// The first 32 bits after the point of a root, which begins at `low`: by bisection, in integers.
fn fraction(n: u64, degree: u32) -> u32 {
    let of = |x: u128| x.pow(degree);
    // A cube of 36 bits fits.
    let wanted = u128::from(n) << (32 * degree);
    let (mut low, mut high) = (0_u128, 1 << 37);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if of(middle) <= wanted {
            low = middle
        } else {
            high = middle
        }
    }
    low as u32
}

/// SHA-256 of 32 bytes (FIPS 180-4), its constants computed.
fn sha256(message: &[u8]) -> Vec<u8> {
    let mut block = message.to_vec();
    block.push(0x80);
    block.resize(56, 0);
    block.extend((message.len() as u64 * 8).to_be_bytes());
    let mut w: Vec<u32> = block
        .chunks(4)
        .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
        .collect();
    for t in 16..64 {
        let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ w[t - 15] >> 3;
        let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ w[t - 2] >> 10;
        w.push(
            [w[t - 16], s0, w[t - 7], s1]
                .iter()
                .fold(0, |sum, x| sum.wrapping_add(*x)),
        );
    }
    let start: Vec<_> = primes(8).iter().map(|prime| fraction(*prime, 2)).collect();
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = start[..] else {
        unreachable!("there are eight")
    };
    for (word, prime) in w.iter().zip(primes(64)) {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = if_then_else(e, f, g);
        let t1 = [h, s1, choice, fraction(prime, 3), *word];
        let t1 = t1.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a | b) & c | a & b;
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(s0).wrapping_add(majority));
    }
    let ends = [a, b, c, d, e, f, g, h];
    let sums = start.iter().zip(ends).map(|(x, y)| x.wrapping_add(y));
    sums.flat_map(u32::to_be_bytes).collect()
}

const fn if_then_else(condition: u32, one: u32, other: u32) -> u32 {
    condition & one | !condition & other
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_sha256() {
    let (device, kernels, mut random) = start(41);
    let mut messages = random.many(8 * 90, |random| random.next() as u32);
    messages[..8].fill(0);
    let output = device.zeros::<u32>(8 * 90);
    let launch = shape(3, 32);
    let output = run!(kernels.sha256(&device.stream, launch, &device.up(&messages), output, 90));
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let output = bytes(&device.same("sha256", &output));
    assert_eq!(output[..4], [0x66, 0x68, 0x7a, 0xad], "of 32 zeros");
    let expected = bytes(&messages)
        .chunks(32)
        .flat_map(sha256)
        .collect::<Vec<_>>();
    assert_eq!(output, expected);
}

/// Keccak-f[1600] by coordinates (FIPS 202, 3.2).
fn keccak(state: &mut [u64]) {
    const OFFSETS: [[u32; 5]; 5] = [
        [0, 36, 3, 41, 18],
        [1, 44, 10, 45, 2],
        [62, 6, 43, 15, 61],
        [28, 55, 25, 21, 56],
        [27, 20, 39, 8, 14],
    ];
    const ROUNDS: [u64; 24] = [
        0x1,
        0x8082,
        0x8000_0000_0000_808a,
        0x8000_0000_8000_8000,
        0x808b,
        0x8000_0001,
        0x8000_0000_8000_8081,
        0x8000_0000_0000_8009,
        0x8a,
        0x88,
        0x8000_8009,
        0x8000_000a,
        0x8000_808b,
        0x8000_0000_0000_008b,
        0x8000_0000_0000_8089,
        0x8000_0000_0000_8003,
        0x8000_0000_0000_8002,
        0x8000_0000_0000_0080,
        0x800a,
        0x8000_0000_8000_000a,
        0x8000_0000_8000_8081,
        0x8000_0000_0000_8080,
        0x8000_0001,
        0x8000_0000_8000_8008,
    ];
    for constant in ROUNDS {
        let column = |x: usize| (0..5).fold(0, |all, y| all ^ state[x % 5 + 5 * y]);
        let mixes: Vec<_> = (0..5)
            .map(|x| column(x + 4) ^ column(x + 1).rotate_left(1))
            .collect();
        let mut turned = [0; 25];
        for x in 0..5 {
            for y in 0..5 {
                let lane = state[x + 5 * y] ^ mixes[x];
                turned[y + 5 * ((2 * x + 3 * y) % 5)] = lane.rotate_left(OFFSETS[x][y]);
            }
        }
        for (i, lane) in state.iter_mut().enumerate() {
            let at = |right: usize| turned[i / 5 * 5 + (i + right) % 5];
            *lane = turned[i] ^ !at(1) & at(2);
        }
        state[0] ^= constant;
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_keccak() {
    let (device, kernels, mut random) = start(42);
    let mut states = random.many(25 * 40, Random::next);
    states[..25].fill(0);
    let output = run!(kernels.keccak(&device.stream, shape(2, 32), device.up(&states), 40));
    let output = device.same("keccak", &output);
    assert_eq!(output[0], 0xf125_8f79_40e1_dde7, "of zeros");
    states.chunks_mut(25).for_each(keccak);
    assert_eq!(output, states);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_philox() {
    let (device, kernels, _) = start(43);
    let draw = |first: u32, keys: [u32; 2]| {
        let output = device.up(&[Uint4::default(); 100]);
        let launch = shape(2, 64);
        let output =
            run!(kernels.philox(&device.stream, launch, output, first, keys[0], keys[1], 100));
        let words = device.down(&output).into_iter();
        words
            .flat_map(|draw| [draw.x, draw.y, draw.z, draw.w])
            .collect::<Vec<_>>()
    };
    let output = draw(0, [0, 0]);
    assert_eq!(
        output[..4],
        [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        "as published"
    );
    let output = draw(u32::MAX - 50, [0xa409_3822, 0x299f_31d0]);
    gpuk_gpu_tests::recorded::same(&device.context, "philox", &output);
    let expected = (0..100).flat_map(|i| {
        let (mut counter, mut key) = (
            [(u32::MAX - 50).wrapping_add(i), 0, 0, 0],
            [0xa409_3822, 0x299f_31d0],
        );
        for _ in 0..10 {
            let [one, two] = [(0xd251_1f53_u64, counter[0]), (0xcd9e_8d57, counter[2])]
                .map(|(by, word)| by * u64::from(word));
            counter = [
                (two >> 32) as u32 ^ counter[1] ^ key[0],
                two as u32,
                (one >> 32) as u32 ^ counter[3] ^ key[1],
                one as u32,
            ];
            key = [
                key[0].wrapping_add(0x9e37_79b9),
                key[1].wrapping_add(0xbb67_ae85_u32),
            ];
        }
        counter
    });
    assert_eq!(output, expected.collect::<Vec<u32>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_crc32_by_a_table_of_another_launch() {
    let (device, kernels, mut random) = start(44);
    let mut text = b"123456789".to_vec();
    let mut starts = vec![0, 9];
    for _ in 0..50 {
        let length = random.below(70) as usize;
        text.extend(random.many(length, |random| random.next() as u8));
        starts.push(text.len() as i32);
    }
    run!(kernels.crc32_table(&device.stream, shape(1, 256)));
    let (up, places) = (device.up(&text), device.up(&starts));
    let output = device.zeros::<u32>(51);
    let output = run!(kernels.crc32(&device.stream, shape(2, 32), &up, &places, output, 51));
    let output = device.same("crc32", &output);
    assert_eq!(output[0], 0xcbf4_3926, "as published");
    let expected = starts.windows(2).map(|ends| {
        let bytes = &text[ends[0] as usize..ends[1] as usize];
        !bytes.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                (crc >> 1) ^ ((crc & 1) * 0xedb8_8320)
            })
        })
    });
    assert_eq!(output, expected.collect::<Vec<_>>());
}
