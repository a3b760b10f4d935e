//! Generated wrappers compile against the run time, whatever lints the crate around them sets.

#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    future_incompatible,
    missing_debug_implementations,
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    unused,
    unused_qualifications,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used
)]

use std::sync::Arc;

use gpuk::{CudaSlice, CudaStream, Launch, LaunchError, Null};

macro_rules! wrappers {
    ($($name:ident)+) => {
        $(
            /// A golden file.
            mod $name {
                include!(concat!("golden/", stringify!($name), ".rs"));
            }
        )+
    };
}

wrappers!(
    annotated empty gather generics host many members names package shapes sites structs symbols templates types variants
);

/// Every way to pass a buffer. Nothing calls this: it needs a device, its types do not.
#[allow(dead_code, unsafe_code)]
fn launches(
    stream: &Arc<CudaStream>,
    gather: &gather::gather::Kernels,
    shapes: &shapes::shapes::Kernels,
    (floats, ints): (&CudaSlice<f32>, &CudaSlice<i32>),
    (owned, borrowed): (CudaSlice<f32>, &mut CudaSlice<f32>),
) -> Result<(), LaunchError> {
    let launch = gather::gather::Kernels::GATHER.launch().elements(1000);
    // SAFETY: never called.
    unsafe {
        let (payload, owned): (_, CudaSlice<f32>) =
            gather.gather(stream, launch, floats, ints, owned, 1000, 10)?;
        drop(payload);
        let (payload, borrowed): (_, &mut CudaSlice<f32>) =
            gather.gather(stream, launch, &owned, ints, borrowed, 1000, 10)?;
        drop(payload);
        let (payload, (owned, borrowed)) =
            shapes.split(stream, launch, floats, owned, borrowed, 1000)?;
        drop(payload);
        let view = owned.slice(0..100);
        let (payload, ()) = shapes.nothing_returned(stream, Launch::default(), view, 100)?;
        drop(payload);
        let (payload, _) = shapes.axpy(stream, launch, 2.0, Null::new(), Null::new(), 0)?;
        drop(payload);
        let (payload, _) = shapes.copy(stream, launch, Null::<u8>::new(), borrowed)?;
        drop(payload);
    }
    Ok(())
}

/// One method over a template's instances: what a buffer has is inferred. Nothing calls this either.
#[allow(dead_code, unsafe_code)]
fn instances<T: templates::templates::Scale>(
    stream: &Arc<CudaStream>,
    kernels: &templates::templates::Kernels,
    (x, k, by): (&mut CudaSlice<T>, T, T::By),
    (floats, doubles): (CudaSlice<f32>, CudaSlice<f64>),
) -> Result<(), LaunchError> {
    use templates::templates::Cast;

    let launch = T::INFO.launch().elements(1000);
    // SAFETY: never called.
    unsafe {
        let (payload, x): (_, &mut CudaSlice<T>) =
            kernels.scale(stream, launch, x, k, by, Null::new(), 1000)?;
        drop((payload, x));
        let (payload, doubles): (_, CudaSlice<f64>) =
            kernels.cast::<4, _, _, _, _>(stream, launch, &floats, doubles, 0.0)?;
        drop((payload, doubles));
        let (payload, floats) = kernels.fill::<true, 0, _, _>(stream, launch, floats)?;
        drop((payload, floats));
    }
    assert_eq!(<i32 as Cast<-1, f32>>::INFO.name, "cast_minus_1_int_float");
    Ok(())
}

#[test]
fn structs_are_made_as_users_expect() {
    use structs::structs::{Empty, Grid, Packed, Padded, Plain, Weights};

    let plain = Plain {
        a: 1.0,
        ..Plain::default()
    };
    assert_eq!((plain.b, plain.ok), (0, false));
    let padded = const { Padded::new(1.0, 2.0) };
    assert_eq!((padded.a, padded.b), (1.0, 2.0));
    assert_eq!(Empty::new(), Empty::default());
    let packed = Packed { tag: 1, value: -1 };
    assert_eq!({ packed.value }, -1);
    let grid = Grid {
        w: Weights::default(),
        r#type: 3,
        ..Grid::default()
    };
    assert_eq!(grid.cells, [[0.0; 40]; 50]);
}

#[test]
fn members_without_bytes_of_their_own_are_methods() {
    use members::members::{Either, Flags, Mode};

    let flags = Flags {
        s: 1.0,
        ..Flags::default()
    };
    let flags = flags.with_a(13).with_type(Mode(-2)).with_on(true);
    // 13 is cut to 5, -2 to 2; `on` is bit 72.
    assert_eq!(flags.bytes_0.0, [0b10101, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
    assert_eq!((flags.a(), flags.r#type(), flags.on()), (5, Mode(-2), true));
    let either = Either::default().with_d([1.0, -0.0]).with_mode(Mode::Off);
    assert_eq!(either.d()[0].to_bits(), 1.0_f64.to_bits());
    assert_eq!((either.new_(), either.mode()), (0, Mode::Off));
    assert_eq!(either.bytes.0[7..9], [0x3f, 0xff]);
}

#[test]
fn constants_tell_of_the_kernel() {
    let info = gather::gather::Kernels::GATHER;
    assert_eq!(
        (info.name, info.max_threads, info.checked),
        ("gather", Some(256), true)
    );
    let params: Vec<_> = info.params.iter().map(|it| (it.name, it.size)).collect();
    assert_eq!(
        params,
        [("src", 8), ("idx", 8), ("dst", 8), ("n", 4), ("rows", 4)]
    );
    let info = names::r#type::Kernels::LOAD__;
    assert_eq!((info.name, info.entry), ("load__", "load"));
}
