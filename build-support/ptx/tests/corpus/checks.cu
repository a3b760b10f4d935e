// Checks of every kind, in entries and in functions.
#include "gpuk.cuh"
#include <cassert>
#include <cuda_fp16.h>
__device__ int state;
__device__ __noinline__ float look(const float *p, int i, int n) {
    GPUK_CHECK(i < n, "look {} of {}", i, n);
    return p[i];
}
__device__ __noinline__ void bare() {
    GPUK_CHECK(state < 3, "braces {{}}");
    state = 1;
}
__device__ __noinline__ int down(int n) {
    if (n < 0) {
        GPUK_EXPECT(n > -2, "down to {}", n);
        return 0;
    }
    return n + down(n - 1);
}
extern "C" __global__ void __launch_bounds__(256, 2)
    gather(const float *__restrict__ src, const int *__restrict__ idx, float *dst, int n, int rows, __half h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = idx[i];
    GPUK_CHECK(k >= 0 && k < rows, "row {k} of {rows}", k, rows);
    GPUK_EXPECT(src[k] == src[k]);
    GPUK_EXPECT(src[k] < 1e30f, "big {} at {} {}", src[k], (long long)k, h);
    dst[i] = src[k] + look(src, k + 1, rows);
}
extern "C" __global__ void loop(int *o, int n) {
    bare();
    for (int i = 0; i < n; i++) {
        GPUK_CHECK(o[i] < 4, "i {} o {} at {}", i, o[i], 2.5);
        o[i] += down(i);
    }
    assert(o[0] > n);
}
extern "C" __global__ void plain(int *o) { *o = 1; }
extern "C" __global__ void nothing() { assert(state); }
