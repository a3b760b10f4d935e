// Copies that overlap with arithmetic: a product of matrices as libraries write it, and libcu++'s barriers and pipelines.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
#define TILE 64
#define DEPTH 32
__device__ void copy(void *to, const void *from, bool there) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(there ? 16 : 0));
}
// c = a b, with `b` by columns; m, n, k need not be multiples of the tiles, but rows are of 8.
template <bool WAITS>
__device__ void gemm(const __half *a, const __half *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) __half as[2][TILE][DEPTH + 8];
    __shared__ __align__(16) __half bs[2][TILE][DEPTH + 8];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    float sums[2][4][4] = {};
    auto load = [&](int stage, int at) {
        for (int i = thread; i < TILE * DEPTH / 8; i += blockDim.x) {
            int row = i / (DEPTH / 8), column = i % (DEPTH / 8) * 8;
            bool in = at + column < k;
            copy(&as[stage][row][column], in && row0 + row < m ? &a[(row0 + row) * k + at + column] : a, in && row0 + row < m);
            copy(&bs[stage][row][column], in && column0 + row < n ? &b[(column0 + row) * k + at + column] : b, in && column0 + row < n);
        }
        asm volatile("cp.async.commit_group;");
    };
    load(0, 0);
    for (int at = 0, stage = 0; at < k; at += DEPTH, stage ^= 1) {
        if (at + DEPTH < k) {
            load(stage ^ 1, at + DEPTH);
            if (WAITS) asm volatile("cp.async.wait_group 1;");
        } else if (WAITS) asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        int wr = warp / 2 * 32, wc = warp % 2 * 32;
        for (int kk = 0; kk < DEPTH; kk += 16) {
            unsigned fa[2][4], fb[4][2];
            for (int i = 0; i < 2; ++i) {
                unsigned p = __cvta_generic_to_shared(&as[stage][wr + 16 * i + lane % 16][kk + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(p));
            }
            for (int j = 0; j < 4; ++j) {
                unsigned p = __cvta_generic_to_shared(&bs[stage][wc + 8 * j + lane % 8][kk + lane / 8 % 2 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(fb[j][0]), "=r"(fb[j][1]) : "r"(p));
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 4; ++j)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            for (int x = 0; x < 4; ++x) {
                int row = row0 + warp / 2 * 32 + 16 * i + lane / 4 + x / 2 * 8;
                int column = column0 + warp % 2 * 32 + 8 * j + lane % 4 * 2 + x % 2;
                if (row < m && column < n) c[row * n + column] = sums[i][j][x];
            }
}
extern "C" __global__ void gemm_waits(const __half *a, const __half *b, float *c, int m, int n, int k) { gemm<true>(a, b, c, m, n, k); }
extern "C" __global__ void gemm_forgets(const __half *a, const __half *b, float *c, int m, int n, int k) { gemm<false>(a, b, c, m, n, k); }

// Half of the warps fill a buffer, half empty it.
extern "C" __global__ void producers(const int *in, int *out, int n) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ int buffer[2][64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full[2], empty[2];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        for (int i = 0; i < 2; ++i) { init(&full[i], 128); init(&empty[i], 128); }
    block.sync();
    int lane = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int i = 0; i < n; ++i) {
            empty[i & 1].arrive_and_wait();
            buffer[i & 1][lane] = in[i * 64 + lane] * 3;
            (void)full[i & 1].arrive();
        }
    } else {
        (void)empty[0].arrive(); (void)empty[1].arrive();
        int sum = 0;
        for (int i = 0; i < n; ++i) {
            full[i & 1].arrive_and_wait();
            sum += buffer[i & 1][63 - lane];
            (void)empty[i & 1].arrive();
        }
        out[lane] = sum;
    }
}

// Two stages of cuda::pipeline.
extern "C" __global__ void stages(const float *in, float *out, int batches) {
    auto block = cg::this_thread_block();
    extern __shared__ float memory[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipeline = cuda::make_pipeline(block, &state);
    int size = block.size();
    auto fetch = [&](int batch) {
        pipeline.producer_acquire();
        cuda::memcpy_async(block, memory + (batch & 1) * size, in + batch * size, cuda::aligned_size_t<16>(sizeof(float) * size), pipeline);
        pipeline.producer_commit();
    };
    fetch(0);
    float sum = 0;
    for (int batch = 0; batch < batches; ++batch) {
        if (batch + 1 < batches) fetch(batch + 1);
        pipeline.consumer_wait();
        sum += memory[(batch & 1) * size + (threadIdx.x + 1) % size];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}
// The thread's own pipeline.
extern "C" __global__ void own_stages(const int4 *in, int4 *out) {
    __shared__ int4 memory[64];
    auto pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(&memory[threadIdx.x], &in[threadIdx.x], sizeof(int4), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    out[threadIdx.x] = memory[threadIdx.x];
    pipeline.consumer_release();
}

// Bulk copies in and out, counted by a barrier and by groups.
extern "C" __global__ void bulk(int *data, int *totals, int n) {
    __shared__ alignas(128) int buffer[256];
    __shared__ cuda::std::uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    int *mine = data + blockIdx.x * 256;
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buffer, mine, sizeof(buffer), &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(buffer));
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    for (int i = threadIdx.x; i < 256; i += blockDim.x) buffer[i] = buffer[i] * 2 + n;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, mine, buffer, sizeof(buffer));
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, totals, buffer, sizeof(buffer));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
    __syncthreads();
    buffer[threadIdx.x] = -1;
}

// One block of two fetches for both; the other tells it when its own part is used.
extern "C" __global__ void __cluster_dims__(2, 1, 1) multicast(const int *in, int *out) {
    __shared__ alignas(128) int buffer[64];
    __shared__ cuda::std::uint64_t full, used;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&used, 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    for (int round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(buffer));
            if (cluster.block_rank() == 0) {
                if (round > 0) while (!ptx::mbarrier_try_wait_parity(&used, (round - 1) & 1)) {}
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buffer, in + round * 64, sizeof(buffer), &full, (cuda::std::uint16_t)3);
            }
        }
        while (!ptx::mbarrier_try_wait_parity(&full, round & 1)) {}
        out[(round * 2 + cluster.block_rank()) * 64 + threadIdx.x] = buffer[threadIdx.x] + cluster.block_rank();
        __syncthreads();
        if (threadIdx.x == 0) {
            auto *remote = cluster.map_shared_rank(&used, 0);
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, remote);
        }
    }
    cluster.sync();
}
