// Reductions, scans and counting.
#include <cuda_runtime.h>

typedef unsigned int u32;
typedef unsigned long long u64;

/// The sum of each block's share, by a tree in shared memory.
extern "C" __global__ void __launch_bounds__(256) sum_tree(const float *in, float *out, int n) {
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

/// The sum over all blocks: shuffles within a warp, an atomic for each warp.
extern "C" __global__ void sum_shuffle(const int *in, int *out, int n) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

/// Minimum, maximum and the or of all, by `redux`.
extern "C" __global__ void extremes(const u32 *in, u32 *low, u32 *high, u32 *all, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 x = i < n ? in[i] : in[0];
    u32 least = __reduce_min_sync(0xffffffff, x), most = __reduce_max_sync(0xffffffff, x);
    u32 bits = __reduce_or_sync(0xffffffff, x);
    if (threadIdx.x % 32 == 0) {
        atomicMin(low, least);
        atomicMax(high, most);
        atomicOr(all, bits);
    }
}

/// Where the largest number stands, the first of equals: value and place packed for one 64-bit atomic.
extern "C" __global__ void argmax(const int *in, u64 *packed, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicMax(packed, u64(u32(in[i]) ^ 0x80000000u) << 32 | u32(~i));
}

static __device__ u32 scan_warp(u32 x) {
    for (int distance = 1; distance < 32; distance *= 2) {
        u32 left = __shfl_up_sync(0xffffffff, x, distance);
        if (threadIdx.x % 32 >= distance) x += left;
    }
    return x;
}

/// Inclusive prefix sums of 1024 numbers in a block.
extern "C" __global__ void __launch_bounds__(1024) scan(const u32 *in, u32 *out) {
    __shared__ u32 of_warp[32];
    u32 x = scan_warp(in[blockIdx.x * 1024 + threadIdx.x]);
    if (threadIdx.x % 32 == 31) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) of_warp[threadIdx.x] = scan_warp(of_warp[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x >= 32) x += of_warp[threadIdx.x / 32 - 1];
    out[blockIdx.x * 1024 + threadIdx.x] = x;
}

/// Prefix sums that begin anew where a flag is set, within a warp.
extern "C" __global__ void scan_segments(const int *in, const unsigned char *heads, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    u32 flags = __ballot_sync(0xffffffff, heads[i] != 0) & (0xffffffffu >> (31 - lane));
    int first = flags ? 31 - __clz(flags) : 0;
    int x = in[i];
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(0xffffffff, x, distance);
        if (lane - distance >= first) x += left;
    }
    out[i] = x;
}

/// Counts bytes: in shared memory first, then into the result.
extern "C" __global__ void histogram(const unsigned char *in, u32 *counts, int n) {
    __shared__ u32 own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (own[i]) atomicAdd(&counts[i], own[i]);
}

/// Keeps what is positive, in order. One block.
extern "C" __global__ void compact(const int *in, int *out, int *kept, int n) {
    __shared__ int of_warp[32];
    __shared__ int base;
    if (threadIdx.x == 0) base = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        int i = start + threadIdx.x;
        bool keep = i < n && in[i] > 0;
        u32 vote = __ballot_sync(0xffffffff, keep);
        int before = __popc(vote & ((1u << threadIdx.x % 32) - 1));
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = __popc(vote);
        __syncthreads();
        for (int warp = 0; warp < threadIdx.x / 32; ++warp) before += of_warp[warp];
        if (keep) out[base + before] = in[i];
        int more = __syncthreads_count(keep);
        if (threadIdx.x == 0) base += more;
        __syncthreads();
    }
    if (threadIdx.x == 0) *kept = base;
}

/// Adds by key; the lanes of a warp with one key send one atomic.
extern "C" __global__ void aggregate(const u32 *keys, const int *values, int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 active = __activemask();
    u32 peers = __match_any_sync(active, keys[i]);
    int sum = 0;
    for (u32 left = peers; left; left &= left - 1) sum += __shfl_sync(peers, values[i], __ffs(left) - 1);
    if (threadIdx.x % 32 == __ffs(peers) - 1) atomicAdd(&sums[keys[i]], sum);
}
