//! `control.cu` and `cluster.cu`.

use gpuk::Launch;
use gpuk_gpu_tests::{cluster, control::Kernels};

use crate::device::{Device, Random, run, shape};

fn start(seed: u64) -> (Device, Kernels, Random) {
    let device = Device::new();
    let kernels = Kernels::load(&device.context).unwrap();
    (device, kernels, Random(seed))
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_recursion() {
    let (device, kernels, _) = start(0);
    let output = device.zeros::<i32>(24);
    let output = run!(kernels.recursion(&device.stream, shape(1, 24), output));
    let expected = (0..24).map(|i| [i / 3 + 1, i / 3 + 2, 2 * (i / 3) + 3][i as usize % 3]);
    assert_eq!(
        device.same("recursion", &output),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_dispatch() {
    let (device, kernels, mut random) = start(51);
    let which = random.many(500, |random| random.next() as u8);
    let a = random.many(500, |random| random.below(20_000) as i32 - 10_000);
    let b = random.many(500, |random| random.below(20) as i32 - 10);
    let (up, left, right) = (device.up(&which), device.up(&a), device.up(&b));
    let output = device.zeros::<i32>(500);
    let output = run!(kernels.dispatch(
        &device.stream,
        shape(8, 64),
        &up,
        &left,
        &right,
        output,
        500
    ));
    let expected = (0..500).map(|i| match which[i] & 3 {
        0 => a[i] + b[i],
        1 => a[i] - b[i],
        2 => a[i] * b[i],
        _ => a[i].checked_rem(b[i]).unwrap_or(0),
    });
    assert_eq!(
        device.same("dispatch", &output),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_interpret() {
    let (device, kernels, mut random) = start(52);
    let length = 60;
    let programs = random.many(70 * length, |random| random.next() as u8);
    let output = device.zeros::<i32>(70);
    let launch = shape(2, 64);
    let output = run!(kernels.interpret(
        &device.stream,
        launch,
        &device.up(&programs),
        length as i32,
        output,
        70
    ));
    let expected = programs.chunks(length).map(|program| {
        // The stack turns so that its top is the last.
        let mut stack = std::collections::VecDeque::from([0_i32; 16]);
        for code in program {
            let (a, b) = (stack[15], stack[14]);
            let fold = match code & 7 {
                0 => {
                    stack.rotate_left(1);
                    stack[15] = i32::from(code >> 3);
                    continue;
                }
                5 => {
                    stack[15] = a.wrapping_neg();
                    continue;
                }
                6 => {
                    stack.rotate_left(1);
                    stack[15] = a;
                    continue;
                }
                7 => {
                    stack[15] = a >> 1 | (a & 1) << 30;
                    continue;
                }
                1 => b.wrapping_add(a),
                2 => b.wrapping_sub(a),
                3 => b.wrapping_mul(a),
                _ => b ^ a << (code >> 6),
            };
            stack[14] = fold;
            stack.rotate_right(1);
        }
        stack[15].wrapping_add(stack[14].wrapping_mul(31))
    });
    assert_eq!(
        device.same("interpret", &output),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_print() {
    let (device, kernels, _) = start(0);
    run!(kernels.print(&device.stream, shape(1, 32), 2, 1.5));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_lists_on_the_heap() {
    let (device, kernels, _) = start(0);
    let output = device.zeros::<i32>(64);
    let output = run!(kernels.lists(&device.stream, shape(1, 64), output));
    let expected = (0..64).map(|thread| (0..=thread % 7).rev().fold(0, |sum, i| sum * 3 + i * i));
    assert_eq!(device.same("lists", &output), expected.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_grid_sum() {
    let (device, kernels, mut random) = start(53);
    let input = random.many(1500, |random| random.below(100_000) as i32);
    let (parts, output) = (device.zeros::<i32>(256), device.zeros::<i32>(1));
    let launch = shape(4, 64).cooperative();
    let (_, output) = run!(kernels.grid_sum(
        &device.stream,
        launch,
        &device.up(&input),
        parts,
        output,
        1500
    ));
    assert_eq!(
        device.same("grid_sum", &output),
        [input.iter().sum::<i32>()]
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_locked() {
    let (device, kernels, _) = start(0);
    let (lock, order, count) = (device.zeros(1), device.up(&[-1; 96]), device.zeros(1));
    let (lock, order, count) =
        run!(kernels.locked(&device.stream, shape(2, 48), lock, order, count));
    assert_eq!(
        (device.down(&lock), device.down(&count)),
        (vec![0], vec![96])
    );
    let mut order = device.down(&order);
    order.sort_unstable();
    assert_eq!(order, (0..96).collect::<Vec<_>>());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_pipeline() {
    let (device, kernels, mut random) = start(54);
    let input = random.many(64 * 9, |random| random.below(100_000) as i32);
    let output = device.zeros::<i32>(64 * 9);
    let output =
        run!(kernels.pipeline(&device.stream, shape(1, 128), &device.up(&input), output, 9));
    let expected = input
        .chunks(64)
        .zip(0..)
        .flat_map(|(round, number)| round.iter().rev().map(move |x| x * 3 + number));
    assert_eq!(
        device.same("pipeline", &output),
        expected.collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_spread_histogram() {
    let (device, _, mut random) = start(55);
    let kernels = cluster::Kernels::load(&device.context).unwrap();
    let input = random.many(5000, |random| random.next() as u8);
    let counts = device.zeros::<u32>(256);
    let launch = Launch::default().grid([6, 1, 1]).block([64, 1, 1]);
    let counts =
        run!(kernels.spread_histogram(&device.stream, launch, &device.up(&input), counts, 5000));
    let mut expected = [0; 256];
    input
        .iter()
        .for_each(|byte| expected[usize::from(*byte)] += 1);
    assert_eq!(device.same("spread_histogram", &counts), expected);
}
