// Block and warp algorithms of CUB, and atomics of libcu++.
#include <cub/cub.cuh>
#include <cuda/atomic>
extern "C" __global__ void block_sort(const unsigned *in, unsigned *out) {
    using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
    __shared__ typename Sort::TempStorage temp;
    unsigned k[4];
    for (int i = 0; i < 4; ++i) k[i] = in[threadIdx.x * 4 + i];
    Sort(temp).Sort(k);
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = k[i];
}
extern "C" __global__ void block_scan(const int *in, int *out) {
    using Scan = cub::BlockScan<int, 128>;
    __shared__ typename Scan::TempStorage temp;
    int v = in[threadIdx.x], s;
    Scan(temp).ExclusiveSum(v, s);
    out[threadIdx.x] = s;
}
extern "C" __global__ void block_reduce(const float *in, float *out) {
    using R = cub::BlockReduce<float, 256>;
    __shared__ typename R::TempStorage temp;
    float s = R(temp).Sum(in[threadIdx.x]);
    float m = 0;
    __syncthreads();
    m = R(temp).Reduce(in[threadIdx.x], [](float a, float b) { return a > b ? a : b; });
    if (threadIdx.x == 0) { out[0] = s; out[1] = m; }
}
extern "C" __global__ void warp_merge(const int *in, int *out) {
    using W = cub::WarpMergeSort<int, 4, 32>;
    __shared__ typename W::TempStorage temp[4];
    int k[4];
    for (int i = 0; i < 4; ++i) k[i] = in[threadIdx.x * 4 + i];
    W(temp[threadIdx.x / 32]).Sort(k, [](int a, int b) { return a < b; });
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = k[i];
}
extern "C" __global__ void atomics(int *a, float *f, unsigned long long *q) {
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*a);
    r.fetch_add(1, cuda::memory_order_relaxed);
    r.fetch_max(5);
    cuda::atomic_ref<float, cuda::thread_scope_block> g(*f);
    g.fetch_add(1.5f, cuda::memory_order_acq_rel);
    cuda::atomic_ref<unsigned long long> z(*q);
    unsigned long long e = z.load();
    while (!z.compare_exchange_weak(e, e * 3 + 1)) {}
    __threadfence(); __threadfence_block(); __threadfence_system();
}
