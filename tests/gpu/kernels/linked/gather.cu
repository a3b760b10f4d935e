#include "table.cuh"

static __device__ int own = 100;

extern "C" __global__ void look_up(const int *keys, float *values) {
    values[threadIdx.x] = twice(lookup(keys[threadIdx.x]));
}

extern "C" __global__ void read_own(int *y) { *y = own; }
