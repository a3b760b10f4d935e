// Numbers: floating point of every width, rounding, and integers of 128 bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned long long u64;
typedef unsigned __int128 u128;

/// Steps until a point leaves the Mandelbrot set's circle.
extern "C" __global__ void mandelbrot(int *steps, int width, int height, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    double cx = 3.0 * x / width - 2.25, cy = 2.5 * y / height - 1.25, zx = 0, zy = 0;
    int n = 0;
    while (n < limit && __dadd_rn(__dmul_rn(zx, zx), __dmul_rn(zy, zy)) <= 4) {
        double next = __dadd_rn(__dsub_rn(__dmul_rn(zx, zx), __dmul_rn(zy, zy)), cx);
        zy = fma(2 * zx, zy, cy);
        zx = next;
        ++n;
    }
    steps[y * width + x] = n;
}

/// A step of gravity among bodies, `rsqrt.approx` in the middle.
extern "C" __global__ void gravity(const float4 *bodies, float3 *forces, int n) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 own = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += 64) {
        tile[threadIdx.x] = start + threadIdx.x < n ? bodies[start + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < 64; ++j) {
            float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
            float square = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = rsqrtf(square);
            float factor = tile[j].w * inverse * inverse * inverse;
            sum.x += dx * factor;
            sum.y += dy * factor;
            sum.z += dz * factor;
        }
        __syncthreads();
    }
    if (i < n) forces[i] = sum;
}

/// Sums, products, quotients and roots, rounded each way: 16 results for each pair.
extern "C" __global__ void rounding(const double *a, const double *b, double *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    double x = a[at], y = b[at], *to = out + at * 16;
    to[0] = __dadd_rn(x, y), to[1] = __dadd_rz(x, y), to[2] = __dadd_ru(x, y), to[3] = __dadd_rd(x, y);
    to[4] = __dmul_rn(x, y), to[5] = __dmul_rz(x, y), to[6] = __dmul_ru(x, y), to[7] = __dmul_rd(x, y);
    to[8] = __ddiv_rn(x, y), to[9] = __ddiv_rz(x, y), to[10] = __ddiv_ru(x, y), to[11] = __ddiv_rd(x, y);
    to[12] = __dsqrt_rn(fabs(x)), to[13] = __dsqrt_rz(fabs(x)), to[14] = __dsqrt_ru(fabs(x));
    to[15] = __dsqrt_rd(fabs(x));
}

/// Quotients, roots and remainders in single precision, IEEE.
extern "C" __global__ void quotients(const float *a, const float *b, float4 *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] = make_float4(a[at] / b[at], sqrtf(fabsf(a[at])), 1 / a[at], fmaf(a[at], b[at], a[at]));
}

static __device__ float warp_sum(float x) {
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

/// Layer norm of rows of halves, a warp for each.
extern "C" __global__ void layer_norm(const __half *in, const __half *weight, __half *out, int columns) {
    const __half *row = in + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += 32) sum += __half2float(row[i]);
    float mean = warp_sum(sum) / columns;
    for (int i = threadIdx.x; i < columns; i += 32) {
        float off = __half2float(row[i]) - mean;
        squares += off * off;
    }
    float factor = rsqrtf(warp_sum(squares) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += 32)
        out[blockIdx.x * columns + i] = __float2half((__half2float(row[i]) - mean) * factor * __half2float(weight[i]));
}

/// Softmax of rows of bfloat16, a warp for each.
extern "C" __global__ void softmax(const __nv_bfloat16 *in, __nv_bfloat16 *out, int columns) {
    const __nv_bfloat16 *row = in + blockIdx.x * columns;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += 32) most = fmaxf(most, __bfloat162float(row[i]));
    for (int distance = 16; distance > 0; distance /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
    for (int i = threadIdx.x; i < columns; i += 32) sum += expf(__bfloat162float(row[i]) - most);
    float factor = 1 / warp_sum(sum);
    for (int i = threadIdx.x; i < columns; i += 32)
        out[blockIdx.x * columns + i] = __float2bfloat16(expf(__bfloat162float(row[i]) - most) * factor);
}

/// Pairs of halves and of bfloat16s at once: fused, smaller, larger, compared.
extern "C" __global__ void pairs(const __half2 *a, const __half2 *b, __half2 *halves, const __nv_bfloat162 *c,
                                 const __nv_bfloat162 *d, __nv_bfloat162 *brains, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    halves[at * 4] = __hfma2(a[at], b[at], a[at]);
    halves[at * 4 + 1] = __hmin2(a[at], b[at]);
    halves[at * 4 + 2] = __hmax2_nan(a[at], b[at]);
    halves[at * 4 + 3] = __hgt2(a[at], b[at]);
    brains[at * 4] = __hfma2(c[at], d[at], c[at]);
    brains[at * 4 + 1] = __hmin2_nan(c[at], d[at]);
    brains[at * 4 + 2] = __hmax2(c[at], d[at]);
    brains[at * 4 + 3] = __hle2(c[at], d[at]);
}

/// Products, quotients, remainders and shifts of 128 bits.
extern "C" __global__ void wide(const u128 *a, const u128 *b, u128 *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u128 x = a[at], y = b[at];
    out[at * 5] = x * y;
    out[at * 5 + 1] = x / y;
    out[at * 5 + 2] = x % y;
    out[at * 5 + 3] = x << ((int)y & 127);
    out[at * 5 + 4] = (u128)((__int128)x >> ((int)x & 127));
}

/// Quotients of signed and unsigned 64-bit numbers, leading and trailing zeros, set bits, bits reversed.
extern "C" __global__ void integers(const long long *a, const long long *b, long long *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    long long x = a[at], y = b[at], *to = out + at * 10;
    to[0] = x / y, to[1] = x % y, to[2] = (u64)x / (u64)y, to[3] = (u64)x % (u64)y;
    to[4] = __mul64hi(x, y), to[5] = __clzll(x), to[6] = __ffsll(x), to[7] = __popcll(x), to[8] = __brevll(x);
    to[9] = __sad((int)x, (int)y, 7) + __mul24((int)x, (int)y) + __hadd((int)x, (int)y) + __rhadd((int)x, (int)y);
}
