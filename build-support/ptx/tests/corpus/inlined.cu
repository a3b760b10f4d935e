// Checks in functions that are inlined, through one call and several, once and often.
#include "gpuk.cuh"
#include <cassert>
template <class T> __device__ T at(const T *p, int i, int n) {
    GPUK_CHECK(i < n, "{} of {}", i, n);
    assert(p[i] >= 0);
    return p[i];
}
__device__ int third(const int *p, int i, int n) {
    return 3 * at(p, i, n);
}
__device__ __noinline__ int apart(const int *p, int i, int n) {
    return third(p, i + 1, n);
}
extern "C" __global__ void calls(const int *p, int *o, int n) {
    int i = threadIdx.x;
    GPUK_CHECK(i < 1000);
    int v = third(p, i, n);
    if (v > 7)
        v += third(p, i * 3, n);
    else
        v ^= at(p, v * 5, n);
    o[i] = apart(p, v, n);
}
extern "C" __global__ void copies(const int *p, int *o, int n) {
    int i = threadIdx.x, v = 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        v += third(p, i + k, n);
        v ^= third(p, v * 3, n);
    }
    o[i] = v;
}
