// Cooperative groups: grids, tiles, coalesced threads, clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_sum(const int *in, int *part, int *out, int n) {
    auto grid = cg::this_grid();
    int s = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) s += in[i];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    s = cg::reduce(tile, s, cg::plus<int>());
    __shared__ int sh[32];
    if (tile.thread_rank() == 0) sh[tile.meta_group_rank()] = s;
    __syncthreads();
    if (threadIdx.x == 0) { int t = 0; for (int w = 0; w < blockDim.x / 32; ++w) t += sh[w]; part[blockIdx.x] = t; }
    grid.sync();
    if (grid.thread_rank() == 0) { int t = 0; for (int b = 0; b < gridDim.x; ++b) t += part[b]; *out = t; }
    grid.sync();
    if (grid.thread_rank() == 1) *out += 1;
}
extern "C" __global__ void tiles(const int *in, int *out) {
    auto block = cg::this_thread_block();
    auto t16 = cg::tiled_partition<16>(block);
    auto t4 = cg::tiled_partition<4>(t16);
    int v = in[threadIdx.x];
    int a = cg::reduce(t16, v, cg::greater<int>());
    int b = cg::inclusive_scan(t4, v);
    auto act = cg::coalesced_threads();
    int c = act.size();
    int d = 0;
    if (v & 1) { auto odd = cg::coalesced_threads(); d = cg::reduce(odd, v, cg::plus<int>()) + odd.thread_rank() * 1000; }
    auto lab = cg::labeled_partition(act, v % 3);
    int e = cg::reduce(lab, 1, cg::plus<int>());
    out[threadIdx.x] = a + b * 3 + c * 5 + d * 7 + e * 11;
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_swap(int *out) {
    __shared__ int sh[64];
    auto c = cg::this_cluster();
    sh[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    c.sync();
    int *other = c.map_shared_rank(sh, c.block_rank() ^ 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = other[threadIdx.x];
    c.sync();
}
