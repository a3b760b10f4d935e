// The kernels of the tests. kernels.ptx is what gpuk-ptx makes of this for sm_80; its sites are in mod.rs.
#include "gpuk.cuh"

extern "C" __global__ void gather(const float *src, const int *idx, float *dst, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = idx[i];
    GPUK_CHECK(k >= 0 && k < rows, "row {} of {}", k, rows);
    dst[i] = src[k];
}

extern "C" __global__ void spin(unsigned long long cycles, bool fail) {
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {
    }
    GPUK_EXPECT(!fail);
}

extern "C" __global__ void shared_bytes(unsigned int *bytes) {
    extern __shared__ char memory[];
    memory[threadIdx.x] = 1;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(*bytes));
}

extern "C" __global__ void is_null(const unsigned long long *pointer, bool *answer) { *answer = pointer == nullptr; }
