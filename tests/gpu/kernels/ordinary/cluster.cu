// Clusters. They are why this package is compiled for compute capability 9.0.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/// A histogram whose bins lie in the shared memory of a cluster's blocks.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    spread_histogram(const unsigned char *in, unsigned int *counts, int n) {
    __shared__ unsigned int own[128];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 128; i += blockDim.x) own[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(own, in[i] / 128) + in[i] % 128, 1);
    cluster.sync();
    for (int i = threadIdx.x; i < 128; i += blockDim.x) atomicAdd(&counts[cluster.block_rank() * 128 + i], own[i]);
}
