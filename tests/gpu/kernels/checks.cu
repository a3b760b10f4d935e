// Every form of a check.
#include <cassert>
#include <cuda_fp16.h>
#include <gpuk.cuh>

/// Gathers rows; stops a thread whose index is out of range.
extern "C" __global__ void gather(const float *src, const int *idx, float *dst, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = idx[i];
    GPUK_CHECK(k >= 0 && k < rows, "row {} of {}", k, rows);
    dst[i] = src[k];
}

/// Goes on after a NaN and counts what it went over.
extern "C" __global__ void expect_numbers(const float *x, int *seen, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        GPUK_EXPECT(x[i] == x[i], "NaN at {}", i);
        atomicAdd(seen, 1);
    }
}

/// An assert is a check.
extern "C" __global__ void asserts(const int *x, int *y) {
    int i = threadIdx.x;
    assert(x[i] > 0);
    y[i] = x[i];
}

/// Captures a value of every type.
extern "C" __global__ void captures(bool b, char c, short i16, long long i64, unsigned long long u64, float f, double d,
                                    __half h, int *out) {
    GPUK_CHECK(out == nullptr, "{} {} {} {} {} {} {} {}", b, c, i16, i64, u64, f, d, h);
    *out = 1;
}

static __device__ __noinline__ int look_up(const int *table, int i, int n) {
    GPUK_CHECK(i < n, "index {} of {}", i, n);
    return table[i];
}

static __device__ __noinline__ int factorial(int n) {
    GPUK_CHECK(n < 13, "{}! does not fit", n);
    return n < 2 ? 1 : n * factorial(n - 1);
}

/// Checks in device functions that are called, and call themselves.
extern "C" __global__ void functions(const int *table, int *out, int n, int extra) {
    int i = threadIdx.x;
    out[i] = look_up(table, i + extra, n) + factorial(i % 4 + 10 * extra);
}

/// A thread that stops before a barrier does not stop the others.
extern "C" __global__ void barrier(const int *x, int *sum, int limit) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    GPUK_CHECK(x[threadIdx.x] < limit, "{} at {}", x[threadIdx.x], threadIdx.x);
    atomicAdd(&total, x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 1) *sum = total;
}

/// Fails in many dimensions at once.
extern "C" __global__ void dimensions(int first_block, int first_thread) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    GPUK_CHECK(block < first_block || thread < first_thread, "block {} thread {}", block, thread);
}

/// Checks in debug builds alone.
extern "C" __global__ void debug_only(int n) {
    GPUK_DEBUG_CHECK(n > 0, "n is {}", n);
}

/// The same work without and with a check, for the cost of a launch.
extern "C" __global__ void unchecked(const float *src, float *dst, int n) {
    if (threadIdx.x < n) dst[threadIdx.x] = src[threadIdx.x];
}

/// As `unchecked`, checked.
extern "C" __global__ void checked(const float *src, float *dst, int n) {
    GPUK_CHECK(n <= 32, "n is {}", n);
    if (threadIdx.x < n) dst[threadIdx.x] = src[threadIdx.x];
}
