// Reductions over rows.
#include <cassert>
#include <gpuk.cuh>

// The sum of all threads' `x`, given to each of them. The whole block calls it, and its warps are full.
static __device__ float block_sum(float x)
{
    __shared__ float of_warp[32]; // static shared memory: a block has at most 32 warps

    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffff, x, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();

    float sum = 0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += of_warp[warp];
    return sum;
}

/// RMS norm of rows: `out[r][d] = weight[d] * x[r][d] / sqrt(mean(x[r]²) + epsilon)`.
///
/// A block for each row, of full warps. `dim` is the length of `weight`.
GPUK_LAUNCH(grid = len(x) / dim, shared = dim * sizeof(float))
__global__ void __launch_bounds__(256)
    rms_norm(const float *__restrict__ x, GPUK_IN(dim) const float *__restrict__ weight,
             GPUK_OUT(len(x) / dim * dim) float *__restrict__ out, int dim, float epsilon)
{
    extern __shared__ float row[]; // dynamic shared memory: `GPUK_LAUNCH` says how much

    // An `assert` is a check like any other.
    assert(blockDim.x % 32 == 0);

    const size_t start = size_t(blockIdx.x) * dim;
    float squares = 0;
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        const float value = x[start + d];
        // If it does not hold, the host hears of it, but the thread goes on.
        GPUK_EXPECT(!isnan(value), "row {} has a NaN in column {}", blockIdx.x, d);
        row[d] = value;
        squares += value * value;
    }

    const float factor = rsqrtf(block_sum(squares) / dim + epsilon);
    for (int d = threadIdx.x; d < dim; d += blockDim.x) out[start + d] = weight[d] * row[d] * factor;
}
