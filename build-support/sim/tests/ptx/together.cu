#include "gpuk.cuh"

// Each thread adds to a sum that it reads from the others.
extern "C" __global__ void of_block(const int *x, int *out, int limit) {
    __shared__ int sums[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    out[i] = -1;
    GPUK_CHECK_BLOCK(x[i] < limit, "element {} is {}", i, x[i]);
    sums[t] = x[i];
    __syncthreads();
    out[i] = sums[(t + 1) % blockDim.x];
}

extern "C" __global__ void of_warp(const int *x, int *out, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = -1;
    GPUK_CHECK_WARP(x[i] < limit, "element {} is {}", i, x[i]);
    out[i] = __shfl_xor_sync(0xffffffffu, x[i], 1);
}
