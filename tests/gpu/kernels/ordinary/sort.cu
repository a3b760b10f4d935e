// Sorting and merging.

typedef unsigned int u32;
typedef unsigned long long u64;

/// Sorts 512 keys of a block with their places (Batcher's bitonic network).
extern "C" __global__ void __launch_bounds__(256) bitonic(u64 *keys) {
    __shared__ u64 own[512];
    u64 *block = keys + blockIdx.x * 512;
    own[threadIdx.x] = block[threadIdx.x];
    own[threadIdx.x + 256] = block[threadIdx.x + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (distance - 1)), high = low + distance;
            bool up = (low & size) == 0;
            u64 a = own[low], b = own[high];
            if ((a > b) == up) own[low] = b, own[high] = a;
        }
    __syncthreads();
    block[threadIdx.x] = own[threadIdx.x];
    block[threadIdx.x + 256] = own[threadIdx.x + 256];
}

/// A stable pass by four bits. One block.
extern "C" __global__ void __launch_bounds__(256) radix_pass(const u32 *in, u32 *out, int n, int shift) {
    __shared__ u32 starts[16], of_warp[8][16];
    if (threadIdx.x < 16) starts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) atomicAdd(&starts[in[i] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x == 0)
        for (u32 digit = 0, sum = 0; digit < 16; ++digit) {
            u32 count = starts[digit];
            starts[digit] = sum;
            sum += count;
        }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int start = 0; start < n; start += 256) {
        int i = start + threadIdx.x;
        u32 key = i < n ? in[i] : 0, digit = i < n ? key >> shift & 15 : 16;
        for (int d = lane; d < 16; d += 32) of_warp[warp][d] = 0;
        __syncwarp();
        u32 peers = __match_any_sync(0xffffffff, digit);
        u32 rank = __popc(peers & ((1u << lane) - 1));
        if (rank == 0 && digit < 16) of_warp[warp][digit] = __popc(peers);
        __syncthreads();
        if (digit < 16) {
            for (int before = 0; before < warp; ++before) rank += of_warp[before][digit];
            out[starts[digit] + rank] = key;
        }
        __syncthreads();
        if (threadIdx.x < 16)
            for (int of = 0; of < 8; ++of) starts[threadIdx.x] += of_warp[of][threadIdx.x];
        __syncthreads();
    }
}

static __device__ int below(const int *sorted, int n, int key, bool equal_too) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key || (equal_too && sorted[middle] == key)) low = middle + 1;
        else high = middle;
    }
    return low;
}

/// Merges two sorted lists: each number finds its place by bisection.
extern "C" __global__ void merge(const int *a, const int *b, int *out, int of_a, int of_b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < of_a) out[i + below(b, of_b, a[i], false)] = a[i];
    else if (i - of_a < of_b) out[i - of_a + below(a, of_a, b[i - of_a], true)] = b[i - of_a];
}
