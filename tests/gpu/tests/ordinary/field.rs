//! `field.cu`, against long arithmetic bit by bit.

use gpuk_gpu_tests::field::Kernels;

use crate::device::{Device, Random, run, shape};

const BN254: [u64; 4] = [
    0x3c20_8c16_d87c_fd47,
    0x9781_6a91_6871_ca8d,
    0xb850_45b6_8181_585d,
    0x3064_4e72_e131_a029,
];
const BLS381: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];
const GOLDILOCKS: u64 = 0xffff_ffff_0000_0001;

fn start(seed: u64) -> (Device, Kernels, Random) {
    let device = Device::new();
    let kernels = Kernels::load(&device.context).unwrap();
    (device, kernels, Random(seed))
}

/// The product of two numbers, the lowest word first.
fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; a.len() + b.len()];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, y) in b.iter().enumerate() {
            let sum = u128::from(*x) * u128::from(*y) + u128::from(out[i + j]) + carry;
            out[i + j] = sum as u64;
            carry = sum >> 64;
        }
        out[i + b.len()] = carry as u64;
    }
    out
}

fn less(a: &[u64], b: &[u64]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// The remainder by `p`, whose highest bit is not set: a bit at a time.
fn remainder(a: &[u64], p: &[u64]) -> Vec<u64> {
    let mut rest = vec![0; p.len()];
    for bit in (0..a.len() * 64).rev() {
        let mut carry = a[bit / 64] >> (bit % 64) & 1;
        for word in &mut rest {
            (*word, carry) = (*word << 1 | carry, *word >> 63);
        }
        if !less(&rest, p) {
            let mut borrow = false;
            for (word, by) in rest.iter_mut().zip(p) {
                let (once, first) = word.overflowing_sub(*by);
                let (twice, second) = once.overflowing_sub(u64::from(borrow));
                (*word, borrow) = (twice, first || second);
            }
        }
    }
    rest
}

/// Numbers below `p`, the largest and smallest among them.
fn elements(random: &mut Random, n: usize, p: &[u64]) -> Vec<u64> {
    let mut all = Vec::new();
    for i in 0..n {
        let mut words = random.many(p.len(), Random::next);
        match i {
            0 => words.fill(0),
            1 => {
                words = p.to_vec();
                words[0] -= 1;
            }
            _ => words = remainder(&words, p),
        }
        all.extend(words);
    }
    all
}

/// `out = a b / 2^(64 N)` modulo `p`, each of them below `p`.
fn assert_montgomery(a: &[u64], b: &[u64], out: &[u64], p: &[u64]) {
    let n = p.len();
    for ((a, b), out) in a.chunks(n).zip(b.chunks(n)).zip(out.chunks(n)) {
        assert!(less(out, p));
        let mut shifted = vec![0; n];
        shifted.extend(out);
        assert_eq!(remainder(&shifted, p), remainder(&product(a, b), p));
    }
}

fn words(numbers: &[u64]) -> Vec<u32> {
    let halves = |number: &u64| [*number as u32, (*number >> 32) as u32];
    numbers.iter().flat_map(halves).collect()
}

fn numbers(words: &[u32]) -> Vec<u64> {
    let joined = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    words.chunks(2).map(joined).collect()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_multiply_wide() {
    let (device, kernels, mut random) = start(31);
    let mut a = random.many(4 * 100, Random::next);
    let mut b = random.many(4 * 100, Random::next);
    a[..4].fill(u64::MAX);
    b[..4].fill(u64::MAX);
    let (left, right) = (device.up(&words(&a)), device.up(&words(&b)));
    let output = device.zeros::<u32>(16 * 100);
    let output =
        run!(kernels.multiply_wide(&device.stream, shape(2, 64), &left, &right, output, 100));
    let expected = a
        .chunks(4)
        .zip(b.chunks(4))
        .flat_map(|(a, b)| product(a, b));
    let output = device.same("multiply_wide", &output);
    assert_eq!(numbers(&output), expected.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_multiply_bn254() {
    let (device, kernels, mut random) = start(32);
    let a = elements(&mut random, 150, &BN254);
    let mut b = elements(&mut random, 150, &BN254);
    b[..4].copy_from_slice(&a[4..8]);
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.zeros::<u64>(4 * 150);
    let launch = shape(3, 64);
    let output = run!(kernels.multiply_bn254(&device.stream, launch, &left, &right, output, 150));
    let output = device.same("multiply_bn254", &output);
    assert_montgomery(&a, &b, &output, &BN254);

    // In 32-bit words the same.
    let (left, right) = (device.up(&words(&a)), device.up(&words(&b)));
    let again = device.zeros::<u32>(8 * 150);
    let again =
        run!(kernels.multiply_bn254_words(&device.stream, launch, &left, &right, again, 150));
    assert_eq!(
        numbers(&device.same("multiply_bn254_words", &again)),
        output
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_multiply_bls381() {
    let (device, kernels, mut random) = start(33);
    let a = elements(&mut random, 100, &BLS381);
    let b = elements(&mut random, 100, &BLS381);
    let (left, right) = (device.up(&a), device.up(&b));
    let output = device.zeros::<u64>(6 * 100);
    let output =
        run!(kernels.multiply_bls381(&device.stream, shape(2, 64), &left, &right, output, 100));
    let output = device.same("multiply_bls381", &output);
    assert_montgomery(&a, &b, &output, &BLS381);
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(GOLDILOCKS)) as u64
}

fn plus(a: u64, b: u64) -> u64 {
    ((u128::from(a) + u128::from(b)) % u128::from(GOLDILOCKS)) as u64
}

fn power(base: u64, exponent: u64) -> u64 {
    (0..64).rev().fold(1, |result, bit| {
        let square = times(result, result);
        let more = exponent >> bit & 1 == 1;
        if more { times(square, base) } else { square }
    })
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_transform() {
    let (device, kernels, mut random) = start(34);
    let input = elements(&mut random, 512, &[GOLDILOCKS]);
    let output = run!(kernels.transform(&device.stream, shape(2, 128), device.up(&input)));
    let root = power(7, (GOLDILOCKS - 1) / 256);
    let powers: Vec<_> = (0..256).map(|k| power(root, k)).collect();
    let expected = input.chunks(256).flat_map(|block| {
        let of = |k: usize| {
            let terms = block.iter().enumerate();
            terms.fold(0, |sum, (j, x)| plus(sum, times(*x, powers[j * k % 256])))
        };
        (0..256).map(of).collect::<Vec<_>>()
    });
    assert_eq!(
        device.same("transform", &output),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_permute() {
    let (device, kernels, mut random) = start(35);
    let mut states = elements(&mut random, 4 * 70, &[GOLDILOCKS]);
    let output = run!(kernels.permute(&device.stream, shape(2, 64), device.up(&states), 70));
    for state in states.chunks_mut(4) {
        for round in 0..8 {
            for (i, x) in state.iter_mut().enumerate() {
                let constant = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(round * 4 + i as u64 + 1);
                *x = power(plus(*x, constant % GOLDILOCKS), 7);
            }
            let sum = state.iter().fold(0, |sum, x| plus(sum, *x));
            for (i, x) in state.iter_mut().enumerate() {
                *x = plus(sum, times(*x, i as u64 + 2));
            }
        }
    }
    assert_eq!(device.same("permute", &output), states);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_invert() {
    let (device, kernels, mut random) = start(36);
    let input = elements(&mut random, 130, &[GOLDILOCKS]);
    let output = device.zeros::<u64>(130);
    let output = run!(kernels.invert(
        &device.stream,
        shape(3, 64),
        &device.up(&input),
        output,
        130
    ));
    let output = device.same("invert", &output);
    assert_eq!((input[0], output[0]), (0, 0));
    for (x, inverse) in input.iter().zip(&output).skip(1) {
        assert_eq!(times(*x, *inverse), 1, "{x}");
    }
}
