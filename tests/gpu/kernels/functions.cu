// Checks in device functions: where they say that they stand, and how often they count.
#include "gpuk.cuh"

template <class T> __device__ T at(const T *p, int i, int n) {
    GPUK_CHECK(i < n, "{} of {}", i, n);
    return p[i];
}

static __device__ int third(const int *p, int i, int n) {
    return at(p, i / 3, n);
}

static __device__ __noinline__ int apart(const int *p, int i, int n) {
    return third(p, i, n);
}

/// One check that is inlined through four chains of calls; thread `i` takes the one of `way[i]`.
extern "C" __global__ void inlined(const int *p, const int *way, int *out, int n) {
    int i = threadIdx.x, v = 0;
    switch (way[i]) {
    case 0: v = at(p, i, n); break;
    case 1: v = third(p, i, n); break;
    case 2: v = third(p, i + 1, n); break;
    default: v = apart(p, i, n);
    }
    out[i] = v;
}

static __device__ __noinline__ int positive(int x) {
    GPUK_EXPECT(x > 0, "{} is not positive", x);
    return x > 0 ? x : 1;
}

/// Each call fails if its number is negative, and goes on.
static __device__ __noinline__ int below(int n, int from) {
    if (n == 0) return 0;
    GPUK_EXPECT(from - n >= 0, "{} at depth {}", from - n, n);
    return from - n + below(n - 1, from) * 3;
}

using Step = int (*)(int);
static __device__ __noinline__ int halve(int x) {
    GPUK_EXPECT(x % 2 == 0, "{} is odd", x);
    return x / 2;
}
static __device__ __noinline__ int less(int x) {
    GPUK_CHECK(x > -100, "{} is too small", x);
    return x - 1;
}
static __device__ Step steps[] = {positive, halve, less};

/// A function that goes on after a failure, called once for each round.
extern "C" __global__ void rounds_apart(const int *x, int *out, int rounds) {
    int i = threadIdx.x, sum = 0;
    for (int round = 0; round < rounds; ++round) sum += positive(x[i] - round);
    out[i] = sum;
}

/// One that calls itself.
extern "C" __global__ void deep(const int *x, int *out, int depth) {
    out[threadIdx.x] = below(depth, x[threadIdx.x]);
}

/// Two that are called through pointers, with a check of the kernel before and one behind.
extern "C" __global__ void stepping(const int *x, const int *which, int *out, int n, int limit) {
    int v = x[threadIdx.x];
    GPUK_EXPECT(v < limit, "{} of {}", v, limit);
    for (int k = 0; k < n; ++k) v = steps[which[k]](v);
    GPUK_CHECK(v != 7);
    out[threadIdx.x] = v;
}
