// What checks promise, one kernel for each: see the table in book/src/reference/checkify.md.
#include <cooperative_groups.h>
#include <gpuk.cuh>

/// One check, one value.
extern "C" __global__ void positive(int x, int *out) {
    *out = 1;
    GPUK_CHECK(x > 0, "{} must be positive", x);
    *out = x;
}

/// Two checks that fail in one thread.
extern "C" __global__ void twice(int x, int *out) {
    GPUK_EXPECT(x > 0, "first {}", x);
    *out = x;
    GPUK_CHECK(x > 0, "second {} {}", x, x);
    *out = 7;
}

/// Of two checks in a loop the later one fails in an earlier round.
extern "C" __global__ void rounds(int count, int first, int second) {
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        GPUK_EXPECT(i < first, "A failed at {}", i);
        GPUK_EXPECT(i < second, "B failed at {} of {}", i, (long long)count);
    }
}

/// Looks up in a table of that length.
extern "C" __global__ void look_up(const long long *index, int *out, long long length) {
    long long i = index[threadIdx.x];
    GPUK_CHECK(i >= 0 && i < length, "index {} of {}", i, length);
    out[threadIdx.x] = (int)i;
}

/// Without a guard for the threads past the end.
extern "C" __global__ void ragged(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GPUK_CHECK(i < n, "{} of {}", i, n);
    x[i] = i;
}

/// Fails in one thread of one block.
extern "C" __global__ void one(unsigned block, unsigned thread) {
    GPUK_CHECK(blockIdx.x != block || threadIdx.x != thread, "here");
}

/// Threads that stop before the barrier of a cluster do not stop the others, of either block.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_barrier(const int *x, int *sum, int *seen, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GPUK_CHECK(x[i] < limit, "{} at {}", x[i], i);
    atomicAdd(&sum[blockIdx.x / 2], x[i]);
    cooperative_groups::this_cluster().sync();
    seen[i] = sum[blockIdx.x / 2];
}
