//! Kernels that call device functions of another file. `tests/README.md` says how to run these on a device.

use std::sync::Arc;

use gpuk::{CudaContext, Launch};
use gpuk_gpu_tests::linked::{Entry, Kernels};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_functions_and_data_of_another_file_are_used() {
    let context: Arc<CudaContext> = gpuk::device(0).unwrap();
    let kernels = Kernels::load(&context).unwrap();
    let stream = context.new_stream().unwrap();
    let keys = stream.clone_htod(&[7, 3, 11, 5]).unwrap();
    let values = stream.alloc_zeros::<f32>(4).unwrap();
    let four = Launch::default().block([4, 1, 1]);
    // SAFETY: four threads, four items; all on one stream.
    let values = unsafe {
        let (payload, values) = kernels.look_up(&stream, four, &keys, values).unwrap();
        payload.check().unwrap();
        values
    };
    assert_eq!(stream.clone_dtoh(&values).unwrap(), [32.0, 2.0, -2.0, 8.0]);
    assert_eq!(kernels.lookups().read(&stream).unwrap(), 4);

    let mut table = kernels.table().read(&stream).unwrap();
    assert_eq!(table[1], Entry { key: 5, value: 2.0 });
    table[3] = Entry {
        key: 11,
        value: 0.25,
    };
    // SAFETY: as above.
    let values = unsafe {
        kernels.table().write(&stream, &table).unwrap();
        let (payload, values) = kernels.look_up(&stream, four, &keys, values).unwrap();
        payload.check().unwrap();
        values
    };
    assert_eq!(stream.clone_dtoh(&values).unwrap(), [32.0, 2.0, 1.0, 8.0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_check_in_another_file_is_a_value() {
    let context = gpuk::device(0).unwrap();
    let kernels = Kernels::load(&context).unwrap();
    let stream = context.new_stream().unwrap();
    let keys = stream.clone_htod(&[7, 3, -4, -5]).unwrap();
    let values = stream.alloc_zeros::<f32>(4).unwrap();
    let four = Launch::default().block([4, 1, 1]);
    // SAFETY: four threads, four items; all on one stream.
    let (payload, values) = unsafe { kernels.look_up(&stream, four, &keys, values) }.unwrap();
    let failed = payload.check().unwrap_err().to_string();
    assert!(failed.contains("key -4 is not positive"), "{failed}");
    assert!(failed.contains("kernels/linked/table.cu:11"), "{failed}");
    assert_eq!(stream.clone_dtoh(&values).unwrap(), [32.0, 2.0, 0.0, 0.0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_statics_stay_apart() {
    let context = gpuk::device(0).unwrap();
    let kernels = Kernels::load(&context).unwrap();
    let stream = context.new_stream().unwrap();
    let y = stream.alloc_zeros::<i32>(1).unwrap();
    let one = Launch::default().block([1, 1, 1]);
    // SAFETY: one thread, one item.
    let (payload, y) = unsafe { kernels.read_own(&stream, one, y) }.unwrap();
    payload.check().unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [100]);
    assert_eq!(kernels.own().read(&stream).unwrap(), 100);
    assert_eq!(kernels.own_().read(&stream).unwrap(), 1);
}
