// Kernels to run one after the other, and what a failure in one of them means for the rest.
#include <gpuk.cuh>

/// Adds to each number; stops a thread whose number would pass the limit.
extern "C" __global__ void add(int *x, int n, int by, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    GPUK_CHECK(x[i] + by <= limit, "{} + {} at {}", x[i], by, i);
    x[i] += by;
}

/// As `add`, without checks.
extern "C" __global__ void add_unchecked(int *x, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}

/// Lets time pass, and fails then if it shall.
extern "C" __global__ void wait(unsigned long long cycles, int fail) {
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {
    }
    GPUK_CHECK(!fail, "waited to fail with {}", fail);
}

/// Fails in one thread of the grid, in a helper that the compiler may not inline.
static __device__ __noinline__ void refuse(int thread, int code) {
    GPUK_CHECK(thread != 0, "code {}", code);
}

/// Fails with the code it is given, if the code is not 0.
extern "C" __global__ void fail_with(int code) {
    refuse(code == 0 ? 1 : threadIdx.x + blockIdx.x, code);
}
