// What the checks for races and unwritten bytes must find, and what they must not.
// nvcc -ptx -arch=compute_90 races.cu
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

// A sum over a block of 256 threads.
template <bool SYNC>
__device__ void sum(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        if (SYNC) __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void sum_synced(const int *in, int *out) { sum<true>(in, out); }
extern "C" __global__ void sum_unsynced(const int *in, int *out) { sum<false>(in, out); }

// A tile of 16 x 16 that is transposed.
template <bool SYNC>
__device__ void transpose(const int *in, int *out) {
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
    if (SYNC) __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void transpose_synced(const int *in, int *out) { transpose<true>(in, out); }
extern "C" __global__ void transpose_unsynced(const int *in, int *out) { transpose<false>(in, out); }

// A tile that is filled anew in each round, while the last round's is still read without the second barrier.
template <bool SYNC>
__device__ void rounds(const int *in, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, all = 0;
    for (int round = 0; round < 4; round++) {
        s[t] = in[round * 128 + t];
        __syncthreads();
        all += s[(t + 37) % 128];
        if (SYNC) __syncthreads();
    }
    out[t] = all;
}
extern "C" __global__ void rounds_synced(const int *in, int *out) { rounds<true>(in, out); }
extern "C" __global__ void rounds_unsynced(const int *in, int *out) { rounds<false>(in, out); }

// Counting in shared memory; the last read needs a barrier.
template <bool SYNC>
__device__ void histogram(const int *in, int *out) {
    __shared__ int bins[8];
    int t = threadIdx.x;
    if (t < 8) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[t] & 7], 1);
    if (SYNC) __syncthreads();
    if (t < 8) out[t] = bins[t];
}
extern "C" __global__ void histogram_synced(const int *in, int *out) { histogram<true>(in, out); }
extern "C" __global__ void histogram_unsynced(const int *in, int *out) { histogram<false>(in, out); }

// The last block to end adds up what the others left (threadFenceReduction of the CUDA samples).
template <bool FENCE>
__device__ void last_block(const int *in, int *part, unsigned *count, int *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        part[blockIdx.x] = in[blockIdx.x];
        if (FENCE) __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int all = 0;
        for (unsigned i = 0; i < gridDim.x; i++) all += part[i];
        *out = all;
    }
}
extern "C" __global__ void last_block_fenced(const int *in, int *part, unsigned *count, int *out) {
    last_block<true>(in, part, count, out);
}
extern "C" __global__ void last_block_unfenced(const int *in, int *part, unsigned *count, int *out) {
    last_block<false>(in, part, count, out);
}
// As torch does it: all threads write and fence, and one counts after a barrier.
extern "C" __global__ void last_block_of_all(int *part, unsigned *count, int *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    part[blockIdx.x * blockDim.x + t] = t;
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        int all = 0;
        for (unsigned i = 0; i < gridDim.x; i++) all += part[i * blockDim.x + (t + 1) % blockDim.x];
        out[t] = all;
    }
}

// A lock around a number in global memory.
extern "C" __global__ void locked(int *lock, int *number) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *number += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
extern "C" __global__ void unlocked(int *number) {
    if (threadIdx.x == 0) *number += 1;
}
// A message with libcu++'s atomics, from block 0 to block 1.
extern "C" __global__ void message(int *data, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}
// The same with a scope that leaves the other block out.
extern "C" __global__ void message_in_block(int *data, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_block> ready(*flag);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}

// Neighbours of other blocks are read where they are written.
extern "C" __global__ void stencil_in_place(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = i > 0 ? data[i - 1] : 0;
    __syncthreads();
    if (i < n) data[i] += left;
}

// Warps 0 to 3 produce, 4 to 7 consume; barrier 1 says full, 2 says empty. What is written after that is too late.
template <bool LATE>
__device__ void pipe(const int *in, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        if (t < 128) {
            if (round > 0) asm volatile("bar.sync 2, 256;" ::: "memory");
            s[t] = in[round * 128 + t];
            asm volatile("bar.arrive 1, 256;" ::: "memory");
            if (LATE) s[t] = round;
        } else {
            asm volatile("bar.sync 1, 256;" ::: "memory");
            out[round * 128 + t - 128] = s[255 - t];
            if (round < 3) asm volatile("bar.arrive 2, 256;" ::: "memory");
        }
    }
}
extern "C" __global__ void pipe_in_time(const int *in, int *out) { pipe<false>(in, out); }
extern "C" __global__ void pipe_late(const int *in, int *out) { pipe<true>(in, out); }

// A sum over a warp by way of shared memory.
template <int HOW>
__device__ void warp_sum(const int *in, int *out) {
    __shared__ int s[64];
    volatile int *v = s;
    int t = threadIdx.x;
    v[t] = in[t];
    if (HOW == 1) __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        int other = t + half < 32 ? v[t + half] : 0;
        if (HOW == 1) __syncwarp();
        v[t] = v[t] + other;
        if (HOW == 1) __syncwarp();
    }
    if (t == 0) *out = v[0];
}
extern "C" __global__ void warp_synced(const int *in, int *out) { warp_sum<1>(in, out); }
extern "C" __global__ void warp_synchronous(const int *in, int *out) { warp_sum<0>(in, out); }

// Tiles of four threads that wait for each other alone.
extern "C" __global__ void tiles_of_four(int *out) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int t = threadIdx.x;
    for (int round = 0; round < 3; round++) {
        s[t] = t + round;
        tile.sync();
        out[t] = s[t ^ 3];
        tile.sync();
    }
}
// The other tile's.
extern "C" __global__ void tiles_crossed(int *out) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int t = threadIdx.x;
    s[t] = t;
    tile.sync();
    out[t] = s[t ^ 4];
}

extern "C" __global__ void grid_sync(int *data, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < 3; round++) {
        data[i] = i + round;
        cg::this_grid().sync();
        out[i] = data[n - 1 - i];
        cg::this_grid().sync();
    }
}
extern "C" __global__ void grid_no_sync(int *data, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    data[i] = i;
    __syncthreads();
    out[i] = data[n - 1 - i];
}

template <bool SYNC>
__device__ void swap_in_cluster(int *out) {
    __shared__ int s[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    s[t] = blockIdx.x * 32 + t;
    if (SYNC) cluster.sync(); else __syncthreads();
    int got = other[t];
    cluster.sync();
    other[t] = got;
    cluster.sync();
    out[blockIdx.x * 32 + t] = s[t];
}
extern "C" __global__ void cluster_synced(int *out) { swap_in_cluster<true>(out); }
extern "C" __global__ void cluster_unsynced(int *out) { swap_in_cluster<false>(out); }

// All threads set the same flag.
extern "C" __global__ void same_flag(int *flag, int value) {
    if (value > 0) *flag = 1;
}
extern "C" __global__ void other_flag(int *flag) { *flag = threadIdx.x; }

// Bytes beside each other, each its thread's own.
extern "C" __global__ void own_bytes(unsigned char *out) {
    __shared__ unsigned char s[256];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void others_bytes(unsigned char *out) {
    __shared__ unsigned char s[257];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}

// Read as non-coherent where the launch writes.
extern "C" __global__ void aliased(const int *__restrict__ in, int *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}

// Shuffles between writes and reads.
extern "C" __global__ void shuffled(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    int v = __shfl_xor_sync(0xffffffff, t, 1);
    out[t] = s[v] + v;
}

struct Padded {
    char small;
    int large;
};
extern "C" __global__ void fill_padded(Padded *out) {
    out[threadIdx.x].small = 1;
    out[threadIdx.x].large = 2;
}
extern "C" __global__ void copy_words(const int2 *in, int2 *out) { out[threadIdx.x] = in[threadIdx.x]; }
extern "C" __global__ void read_shared(const int *in, int *out) {
    __shared__ int s[64];
    if (threadIdx.x != 5) s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void add_float(float *x, float *out) { out[threadIdx.x] = x[threadIdx.x] + 1.0f; }
