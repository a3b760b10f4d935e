// A template: its instances share one method, `scale`, whose type parameter is the type of `out`.
#include <cuda_fp16.h>
#include <gpuk.cuh>

/// Scales, and converts to the type of `out`: `out[i] = by * x[i]`.
///
/// A thread for each of the `n` elements, as many as `x` has.
template <class T>
GPUK_LAUNCH(elements = n)
__global__ void __launch_bounds__(256)
    scale(GPUK_IN(n) const float *__restrict__ x, GPUK_OUT(n) T *__restrict__ out, float by, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T scaled = T(by * x[i]);

    // A debug check exists where Rust's `debug_assert!` does. The largest half is 65504.
    GPUK_DEBUG_EXPECT(!isinf(float(scaled)), "element {} is too large: {} * {}", i, by, x[i]);

    out[i] = scaled;
}

template __global__ void scale(const float *, float *, float, int);
template __global__ void scale(const float *, double *, float, int);
template __global__ void scale(const float *, __half *, float, int);
