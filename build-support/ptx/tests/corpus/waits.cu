// Checks in front of what threads wait for, and behind it; traps.
#include "gpuk.cuh"
#include <cassert>
#include <cooperative_groups.h>
#include <cuda/ptx>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
#define KERNEL(name) extern "C" __global__ void name(int *p, int n)
KERNEL(grid) {
    GPUK_CHECK(p[threadIdx.x] < n);
    cg::this_grid().sync();
    p[0] = 1;
}
KERNEL(grid_after) {
    cg::this_grid().sync();
    GPUK_CHECK(p[threadIdx.x] < n);
    p[0] = 1;
}
KERNEL(named) {
    assert(p[threadIdx.x] < n);
    asm volatile("barrier.sync 1, 128;" ::: "memory");
    GPUK_EXPECT(p[1] < n);
    p[0] = 1;
}
KERNEL(named_loop) {
    for (int i = 0; i < n; i++) {
        asm volatile("bar.sync 2, %0;" ::"r"(n) : "memory");
        GPUK_CHECK(p[i] < n);
        p[i + 1] = p[i] + i;
    }
}
KERNEL(uncounted) {
    GPUK_CHECK(p[threadIdx.x] < n);
    __syncthreads();
    GPUK_CHECK(__syncthreads_count(p[0]) < n);
    asm volatile("barrier.sync 3;" ::: "memory");
    __syncwarp();
    p[0] = __shfl_sync(~0u, p[1], 0);
}
KERNEL(arrives) {
    __shared__ uint64_t full;
    if (threadIdx.x == 0) cuda::ptx::mbarrier_init(&full, blockDim.x);
    __syncthreads();
    GPUK_CHECK(p[threadIdx.x] < n);
    uint64_t state = cuda::ptx::mbarrier_arrive(&full);
    while (!cuda::ptx::mbarrier_try_wait(&full, state)) {}
    GPUK_CHECK(p[1] < n);
    p[0] = 1;
}
KERNEL(copies) {
    __shared__ alignas(16) int tile[32];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        GPUK_CHECK(n > 3);
        cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, tile, p, 128, &full);
    }
    __syncthreads();
    p[32] = tile[threadIdx.x];
}
KERNEL(look_back) {
    GPUK_CHECK(p[blockIdx.x] > 0);
    int *flags = p + 1024;
    int i = blockIdx.x;
    asm volatile("st.release.gpu.s32 [%0], 1;" ::"l"(flags + i) : "memory");
    int flag = 0;
    while (i > 0 && flag == 0) asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(flag) : "l"(flags + i - 1) : "memory");
    p[i] = flag;
}
KERNEL(sums) {
    GPUK_CHECK(n > 0);
    int sum = 0;
    for (int i = 0; i < n; i++) sum += ((volatile int *)p)[i];
    p[0] = sum;
}
KERNEL(retries) {
    GPUK_CHECK(n > 0);
    int old = p[0], seen;
    do { seen = old; old = atomicCAS(p, seen, seen * 2); } while (old != seen);
}
extern "C" __global__ void __cluster_dims__(2) cluster(int *p, int n) {
    __shared__ int own;
    own = p[threadIdx.x];
    GPUK_CHECK(own < n);
    cg::cluster_group group = cg::this_cluster();
    group.sync();
    p[0] = *group.map_shared_rank(&own, 1);
    group.sync();
}
extern "C" __global__ void __cluster_dims__(2) cluster_apart(int *p, int n) {
    GPUK_CHECK(p[threadIdx.x] < n);
    cg::this_cluster().sync();
    p[0] = 1;
}
KERNEL(registers) {
    GPUK_CHECK(p[0] > 0);
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    p[0] = 1;
}
__device__ __noinline__ int deep(int *p, int n) {
    GPUK_CHECK(p[n] > 0, "{}", p[n]);
    return p[n] / n;
}
__device__ __noinline__ void meet(int *p) {
    asm volatile("barrier.sync 4, 64;" ::: "memory");
    p[3] = 1;
}
KERNEL(through_calls) {
    p[0] = deep(p, n);
    meet(p);
}
KERNEL(through_calls_after) {
    meet(p);
    p[0] = deep(p, n);
}
KERNEL(traps) {
    if (p[0] > n) __trap();
    if (p[1] > n) __brkpt();
    p[0] = 1;
}
KERNEL(debug) {
    GPUK_DEBUG_CHECK(p[1] < n, "{} {}", p[1], n);
    GPUK_CHECK(p[2] < n);
    p[0] = p[1];
}
KERNEL(debug_only) {
    GPUK_DEBUG_EXPECT(p[1] < n);
    p[0] = p[1];
}
__device__ __noinline__ int given(int *p, int n) { return p[n] + n; }
KERNEL(together) {
    GPUK_CHECK(n > 0 && blockDim.x <= 128);
    asm volatile("barrier.sync 1, 128;" ::: "memory");
    p[0] = 1;
}
KERNEL(apart) {
    GPUK_CHECK(given(p, n) > 0);
    asm volatile("barrier.sync 1, 128;" ::: "memory");
    p[0] = 1;
}
