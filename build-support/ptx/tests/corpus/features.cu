// What nvcc prints beyond the everyday.
#include <cstdio>
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
struct Entry { int a; const char *s; int (*f)(int); };
struct Big { float f[20]; char c; };
__constant__ float coef[16] = {1.f, 2.f, 3.f};
__device__ int counter;
__device__ unsigned long long wide[3] = {1, 2, 3};
__device__ int *where = &counter;
__device__ int twice(int x) { return 2 * x; }
__device__ Entry table[2] = {{1, "one", twice}, {2, "two", nullptr}};
__managed__ int shared_with_host = 7;
extern __shared__ float dynamic[];
__global__ void mm(const half *a, const half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void copy(const float4 *x, float *y) {
    __shared__ float4 buf[128];
    __pipeline_memcpy_async(&buf[threadIdx.x], &x[threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[threadIdx.x] = buf[127 - threadIdx.x].x + dynamic[threadIdx.x] + coef[threadIdx.x & 15];
}
__global__ void coop(int *o) {
    auto g = cg::this_grid();
    g.sync();
    o[threadIdx.x] = __shfl_xor_sync(~0u, o[threadIdx.x], 3);
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursive(int *o, int n) { *o = fib(n); printf("%d %s\n", *o, table[n & 1].s); }
__global__ void indirect(int *o, int n) { if (table[n & 1].f) o[1] = table[n & 1].f(n); *where = n; }
__global__ void texture(cudaTextureObject_t t, cudaSurfaceObject_t s, float *o) {
    float4 v = tex2D<float4>(t, 0.5f, 1.5f);
    surf2Dwrite(v.x, s, 4, 5);
    o[0] = v.y + tex1Dfetch<float>(t, 3);
}
__device__ __noinline__ Big big(Big b, int i) { b.f[i] = 3; return b; }
__global__ void structs(Big b, Big *o, const __grid_constant__ Big c, int i) { *o = big(b, i); o[1] = c; }
__global__ void __launch_bounds__(128, 2) assembly(int *o, int v) {
    asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; st.global.u32 [%0], t; }" ::"l"(o) : "memory");
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %0, 0;\n @p bra L_in;\n mov.u32 %0, 1;\n L_in:\n}" : "+r"(v));
    counter = v;
}
__global__ void __cluster_dims__(2, 1, 1) clusters(int *o) {
    __shared__ int s;
    s = threadIdx.x;
    auto c = cg::this_cluster();
    c.sync();
    o[threadIdx.x] = *c.map_shared_rank(&s, 1);
    c.sync();
}
__global__ void __maxnreg__(64) registers(int *o, int n) { int *a = (int *)alloca(n * 4); a[n - 1] = n; *o += a[*o]; }
