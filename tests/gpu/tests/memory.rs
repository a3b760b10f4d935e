//! Annotated kernels: lengths that are not passed, buffers that are allocated or refused, shapes that are computed.
//! `tests/README.md` says how to run these on a device.

use std::sync::Arc;

use gpuk::{Address, CudaContext, CudaSlice, CudaStream, ExtentError, Launch, LaunchError, Null};
use gpuk_gpu_tests::memory::{Kernels, Sizes};

struct Device {
    stream: Arc<CudaStream>,
    kernels: Kernels,
}

impl Device {
    fn new() -> Self {
        let context: Arc<CudaContext> = gpuk::device(0).unwrap();
        Self {
            stream: context.new_stream().unwrap(),
            kernels: Kernels::load(&context).unwrap(),
        }
    }

    fn floats(&self, values: impl IntoIterator<Item = u16>) -> CudaSlice<f32> {
        let values: Vec<_> = values.into_iter().map(f32::from).collect();
        self.stream.clone_htod(&values).unwrap()
    }

    fn read<T: gpuk::DeviceRepr + Clone + Default>(&self, buffer: &CudaSlice<T>) -> Vec<T> {
        self.stream.clone_dtoh(buffer).unwrap()
    }
}

fn said<T>(result: Result<T, LaunchError>) -> String {
    result
        .err()
        .map_or("launched".to_owned(), |error| error.to_string())
}

fn sizes(rows: u16, width: u16) -> Sizes {
    Sizes {
        tag: 0,
        rows: rows.into(),
        width: width.into(),
    }
}

fn one() -> Launch {
    Launch::default()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_length_is_that_of_the_buffers() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let x = device.floats(0..300);
    let mut y = device.floats(1000..1300);
    // SAFETY: the kernel stays in its extents.
    let (payload, _) = unsafe { kernels.saxpy(stream, 2.0, &x, &mut y) }.unwrap();
    payload.check().unwrap();
    let expected: Vec<_> = (0..300_u16).map(|i| f32::from(1000 + 3 * i)).collect();
    assert_eq!(device.read(&y), expected);

    // Parts of buffers, in another shape.
    let launch = Kernels::SAXPY.launch().block([32, 1, 1]).elements(10);
    let part = y.slice_mut(5..15);
    // SAFETY: as above.
    let (payload, _) =
        unsafe { kernels.saxpy((stream, launch), 1.0, x.slice(0..10), part) }.unwrap();
    payload.check().unwrap();
    let changed =
        |i: u16| f32::from(1000 + 3 * i) + f32::from(if (5..15).contains(&i) { i - 5 } else { 0 });
    let expected: Vec<_> = (0..300).map(changed).collect();
    assert_eq!(device.read(&y), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_buffers_of_one_length_have_it() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let x = device.floats(0..300);
    let mut y = device.floats(0..299);
    let before = device.read(&y);
    // SAFETY: nothing is launched.
    let result = unsafe { kernels.saxpy(stream, 2.0, &x, &mut y) };
    assert_eq!(
        said(result),
        "kernel `saxpy`: `n` is the length of `x` and of `y`, which have 300 and 299 items"
    );
    assert_eq!(device.read(&y), before);
    // SAFETY: as above.
    let result = unsafe { kernels.saxpy(stream, 2.0, Null::new(), &mut y) };
    assert_eq!(
        said(result),
        "kernel `saxpy`: `n` is the length of `x` and of `y`, which have 0 and 299 items"
    );
    let long = Address::new(256).items(3_000_000_000);
    // SAFETY: as above.
    let result = unsafe { kernels.saxpy(stream, 2.0, long, long) };
    assert_eq!(
        said(result),
        "kernel `saxpy`: `x` has 3000000000 items, more than the 32 bits of `n` hold, which is its length"
    );
    // SAFETY: as above.
    let result = unsafe { kernels.saxpy(stream, 2.0, Address::new(256), Address::new(256)) };
    assert_eq!(
        said(result),
        "kernel `saxpy`: `n` comes from the length of `x`, which is not known; say it with `Address::items`"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_an_empty_launch_leaves_buffers_as_they_are() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let none = stream.alloc_zeros::<f32>(4).unwrap();
    let mut y = device.floats(0..4);
    let (x, empty) = (none.slice(0..0), y.slice_mut(0..0));
    // SAFETY: the kernel stays in its extents.
    let (payload, _) = unsafe { kernels.saxpy(stream, 2.0, x, empty) }.unwrap();
    payload.check().unwrap();
    assert_eq!(device.read(&y), [0.0, 1.0, 2.0, 3.0]);
    // SAFETY: as above.
    let (payload, found) = unsafe { kernels.clustered(stream, 0) }.unwrap();
    payload.check().unwrap();
    assert_eq!((found.len(), device.read(&found)), (0, vec![]));
    // Not launched, so nothing wrote it.
    let empty = one().grid([0, 1, 1]);
    // SAFETY: as above.
    let (_, out) = unsafe { kernels.computed(stream, empty, 1, 1) }.unwrap();
    assert!(device.read(&out).iter().all(|item| *item == 0));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_outputs_are_allocated_or_passed() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let src = device.floats(0..12);
    let idx = stream.clone_htod(&[2, 0, 2]).unwrap();
    let launch = one().block([32, 1, 1]);
    let expected = [
        8.0, 9.0, 10.0, 11.0, 0.0, 1.0, 2.0, 3.0, 8.0, 9.0, 10.0, 11.0,
    ];
    // SAFETY: the kernel stays in its extents, its indices are checked.
    let (payload, dst) = unsafe { kernels.rows_of(stream, launch, &src, &idx, 3, 4) }.unwrap();
    payload.check().unwrap();
    assert_eq!(device.read(&dst), expected);

    let mut own = device.floats([7; 14]);
    // SAFETY: as above.
    let (payload, _) =
        unsafe { kernels.rows_of_into(stream, launch, &src, &idx, &mut own, 3, 4) }.unwrap();
    payload.check().unwrap();
    let found = device.read(&own);
    assert_eq!(
        (&found[..12], &found[12..]),
        (&expected[..], &[7.0, 7.0][..])
    );

    // In a scope, where a failed check leaves what was allocated.
    let idx = stream.clone_htod(&[2, 3]).unwrap();
    let scoped = gpuk::checkify(stream, |scope| {
        // SAFETY: as above.
        unsafe { kernels.rows_of(scope, launch, &src, &idx, 3, 4) }
    });
    let (payload, dst) = scoped.unwrap();
    let failed = payload.check().unwrap_err();
    assert_eq!(failed.message, "row 3 of 3");
    assert_eq!(device.read(&dst)[..4], [8.0, 9.0, 10.0, 11.0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_buffers_that_are_too_short_are_refused_with_the_numbers() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let src = device.floats(0..12);
    let idx = stream.clone_htod(&[0; 32]).unwrap();
    let mut dst = device.floats(0..96);
    // SAFETY: nothing is launched.
    let result = unsafe { kernels.rows_of_into(stream, one(), &src, &idx, &mut dst, 3, 4) };
    assert_eq!(
        said(result),
        "kernel `rows_of`: `dst` has 96 items, but `n * width` = 128 (n = 32, width = 4)"
    );
    // SAFETY: as above.
    let result = unsafe { kernels.rows_of(stream, one(), &src, &idx, 4, 4) };
    assert_eq!(
        said(result),
        "kernel `rows_of`: `src` has 12 items, but `rows * width` = 16 (rows = 4, width = 4)"
    );
    // SAFETY: as above.
    let result = unsafe { kernels.rows_of(stream, one(), None::<&CudaSlice<f32>>, &idx, 3, 4) };
    assert_eq!(
        said(result),
        "kernel `rows_of`: `src` is null, but `rows * width` = 12 (rows = 3, width = 4)"
    );
    // SAFETY: as above.
    let result = unsafe { kernels.rows_of(stream, one(), &src, &idx, 3, -4) };
    assert_eq!(
        said(result),
        "kernel `rows_of`: `rows * width`, the extent of `src`, is -12 (rows = 3, width = -4)"
    );
    let bytes = stream.clone_htod(&[1_u16, 2, 3]).unwrap();
    let more = stream.clone_htod(&[9_u8; 3]).unwrap();
    // SAFETY: as above.
    let result = unsafe { kernels.above(stream, one(), &bytes, 2, &more, 6) };
    assert_eq!(
        said(result),
        "kernel `above`: `more` has 3 items, but `(n)` = 6"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_numbers_are_computed_exactly() {
    let Device { stream, kernels } = &Device::new();
    // max(min(a, b), 1) + (a << 2) - a / b % 3 + ceil_div(b, 4) + (b >> 1)
    // SAFETY: the kernel writes one item.
    let length = |a, b| unsafe { kernels.computed(stream, one(), a, b) }.map(|(_, out)| out.len());
    assert_eq!(length(7, 3), Ok(3 + 28 - 2 + 1 + 1));
    assert_eq!(length(8, 13), Ok(8 + 32 + 4 + 6));
    assert_eq!(
        said(length(7, 0)).split(": ").nth(1),
        Some(
            "`max(min(a, b), 1) + (a << 2) - a / b % 3 + ceil_div(b, 0x4) + (b >> 1U)`, the extent of `out`, \
             divides by zero (a = 7, b = 0)"
        )
    );
    // a * b * c / d
    let corner = |a, b, c, d| {
        let nothing = Address::new(256).items(0);
        // SAFETY: no extent is 0, so nothing is launched.
        let result = unsafe { kernels.corners_into(stream, one(), nothing, a, b, c, d) };
        match result.err() {
            Some(LaunchError::Extent { error, .. }) => match *error {
                ExtentError::Short { needed, .. } => needed.to_string(),
                ExtentError::Overflow { .. } => "overflow".to_owned(),
                ExtentError::Negative { value, .. } => format!("negative {value}"),
                error => error.to_string(),
            },
            other => format!("{other:?}"),
        }
    };
    // In 64 bits the product is 0.
    assert_eq!(corner(1 << 40, 1 << 30, 1, 1), "overflow");
    assert_eq!(
        corner(1 << 40, 1 << 30, 1, i32::MAX),
        (2_u64.pow(39) + 2_u64.pow(8)).to_string()
    );
    assert_eq!(corner(i64::MIN, i64::MAX, u64::MAX, 1), "overflow");
    assert_eq!(corner(i64::MIN, 1, 1, 1), format!("negative {}", i64::MIN));
    assert_eq!(corner(-3, -5, 1, 4), "3");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_untyped_buffers_are_measured_in_bytes_and_flags_are_allocated() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let bytes = stream.clone_htod(&[0x0205_u16, 0x0901]).unwrap();
    let more = stream.clone_htod(&[9_u8, 9, 9, 0, 9]).unwrap();
    // SAFETY: the kernel stays in its extents.
    let launched = unsafe { kernels.above(stream, one(), &bytes, 2, &more, 4) };
    let (payload, (flags, count)) = launched.unwrap();
    payload.check().unwrap();
    assert_eq!(device.read(&flags), [true, true, false, false]);
    assert_eq!(device.read(&count), [2]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_shapes_are_computed_from_the_arguments() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let (rows, width) = (33_u16, 50_u16);
    let src = device.floats(0..rows * width);
    let shape = sizes(rows, width);
    // SAFETY: the kernel stays in its extents.
    let (payload, dst) = unsafe { kernels.transpose(stream, &src, shape) }.unwrap();
    payload.check().unwrap();
    let expected = (0..width).flat_map(|x| (0..rows).map(move |y| f32::from(y * width + x)));
    assert_eq!(device.read(&dst), expected.collect::<Vec<_>>());

    // Blocks of 32 for 65 elements are 3, of clusters of 2 they are 4.
    // SAFETY: as above.
    let (payload, found) = unsafe { kernels.clustered(stream, 65) }.unwrap();
    payload.check().unwrap();
    assert_eq!(device.read(&found), [4; 65]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_what_is_optional_may_be_null() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let some = stream.clone_htod(&[1, 2, 3, 4, 5, 6]).unwrap();
    let mut to = stream.clone_htod(&[10, 20, 30, 40, 50, 60]).unwrap();
    let mut threads = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: the kernel stays in its extents.
    let launched = unsafe { kernels.add_some(stream, &some, &mut to, 3, &mut threads) };
    launched.unwrap().0.check().unwrap();
    // SAFETY: as above.
    let launched = unsafe { kernels.add_some(stream, Null::new(), &mut to, 3, Null::new()) };
    launched.unwrap().0.check().unwrap();
    assert_eq!(device.read(&to), [11, 22, 33, 44, 55, 66]);
    let suggested = device.read(&threads)[0];
    assert!(suggested >= 32 && suggested % 32 == 0, "{suggested}");
    // SAFETY: nothing is launched.
    let launched = unsafe { kernels.add_some(stream, some.slice(0..5), &mut to, 3, Null::new()) };
    assert_eq!(
        said(launched),
        "kernel `add_some`: `some` has 5 items, but `2 * n` = 6 (n = 3)"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_an_address_is_taken_at_its_word() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    let mut buffer = device.floats(0..8);
    let address = {
        use gpuk::cudarc::driver::DevicePtrMut;
        buffer.device_ptr_mut(stream).0
    };
    let (all, half) = (
        Address::<f32>::new(address).items(8),
        Address::<f32>::new(address).items(4),
    );
    // Input and output are the same memory, which this kernel allows.
    // SAFETY: the kernel stays in its extents.
    unsafe { kernels.saxpy(stream, 1.0, half, half) }
        .unwrap()
        .0
        .check()
        .unwrap();
    assert_eq!(
        device.read(&buffer),
        [0.0, 2.0, 4.0, 6.0, 4.0, 5.0, 6.0, 7.0]
    );
    let shape = sizes(3, 3);
    // SAFETY: nothing is launched.
    let launched = unsafe { kernels.transpose(stream, all, shape) };
    assert_eq!(
        said(launched),
        "kernel `transpose`: `src` has 8 items, but `p.rows * p.width` = 9 (p.rows = 3, p.width = 3)"
    );
    // SAFETY: as above.
    let launched = unsafe {
        kernels.above(
            stream,
            one(),
            Address::<u8>::new(address),
            0,
            Null::new(),
            0,
        )
    };
    assert_eq!(
        said(launched),
        "kernel `above`: `bytes` comes from the length of `bytes`, which is not known; \
         say it with `Address::items`"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_instances_have_extents_and_shapes_of_their_own() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    // SAFETY: the kernels stay in their extents.
    let (_, shorts) = unsafe { kernels.spread_short_8(stream, 0x0102) }.unwrap();
    assert_eq!(device.read(&shorts), [2, 1].repeat(8));
    // SAFETY: as above.
    let (_, doubles) = unsafe { kernels.spread_double_4(stream, 1.0) }.unwrap();
    assert_eq!(device.read(&doubles), 1.0_f64.to_ne_bytes().repeat(4));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_graph_takes_buffers_and_allocates_none() {
    let device = Device::new();
    let Device { stream, kernels } = &device;
    // SAFETY: there is one stream only.
    unsafe { stream.context().disable_event_tracking() };
    let src = device.floats(0..4);
    let mut dst = device.floats([0; 4]);
    let shape = sizes(2, 2);
    let refused = gpuk::capture(stream, |scope| {
        // SAFETY: nothing is launched.
        unsafe { kernels.transpose(scope, &src, shape) }
    });
    assert_eq!(
        refused.err().map(|error| error.to_string()).as_deref(),
        Some(
            "kernel `transpose`: `dst` cannot be allocated while the stream is captured into a graph; \
             allocate it before and pass it to `transpose_into`"
        )
    );
    let captured = gpuk::capture(stream, |scope| {
        // SAFETY: the kernel stays in its extents, and the buffers outlive the graph.
        unsafe { kernels.transpose_into(scope, &src, &mut dst, shape) }.map(|_| ())
    });
    let (mut graph, ()) = captured.unwrap();
    graph.launch().unwrap().check().unwrap();
    assert_eq!(device.read(&dst), [0.0, 2.0, 1.0, 3.0]);
}
