// Annotated kernels: extents of every kind, launch shapes of every kind.
#include <gpuk.cuh>

#define TILE 16

struct Sizes {
    unsigned char tag;
    int rows;
    long long width;
};

/// `y = a x + y`.
GPUK_LAUNCH(block = 128, elements = n)
extern "C" __global__ void saxpy(float a, GPUK_IN(n) const float *x, GPUK_INOUT(n) float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

/// Rows of `src` by their numbers.
extern "C" __global__ void rows_of(GPUK_IN(rows * width) const float *src, GPUK_IN(n) const int *idx,
                                   GPUK_OUT(n * width) float *dst, int n, int rows, int width)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * width; i += gridDim.x * blockDim.x) {
        const int row = idx[i / width];
        GPUK_CHECK(row >= 0 && row < rows, "row {} of {}", row, rows);
        dst[i] = src[row * width + i % width];
    }
}

/// Transposes tile by tile.
extern "C" __global__ void GPUK_LAUNCH(grid = (ceil_div(p.width, TILE), ceil_div(p.rows, TILE)),
                                       block = (TILE, TILE), shared = block.x * block.y * sizeof(float))
    transpose(GPUK_IN(p.rows * p.width) const float *src, GPUK_OUT(size_t(p.rows) * p.width) float *dst, Sizes p)
{
    extern __shared__ float tile[];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < p.width && y < p.rows) tile[threadIdx.y * TILE + threadIdx.x] = src[y * p.width + x];
    __syncthreads();
    if (x < p.width && y < p.rows) dst[x * p.rows + y] = tile[threadIdx.y * TILE + threadIdx.x];
}

/// What is at least the mean of all, as flags; the count of them.
extern "C" __global__ void __launch_bounds__(64)
    above(GPUK_IN(len(bytes)) const void *bytes, GPUK_OUT(len(bytes)) bool *flags, GPUK_OUT(1) unsigned *count,
          unsigned char limit, GPUK_IN((n)) const unsigned char *more, unsigned long long n)
{
    const unsigned char *values = static_cast<const unsigned char *>(bytes);
    unsigned found = 0;
    for (unsigned long long i = 0; i < n; ++i) {
        flags[i] = values[i] >= limit && more[i] >= limit;
        found += flags[i];
    }
    *count = found;
}

/// Adds what is optional, where there is any.
extern "C" __global__ void GPUK_LAUNCH(block = auto, elements = (n, 2))
    add_some(GPUK_IN_OPT(2 * n) const int *some, GPUK_INOUT(2 * n) int *to, unsigned n, GPUK_OUT_OPT(1) int *threads)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && some) to[blockIdx.y * n + i] += some[blockIdx.y * n + i];
    if (i == 0 && threads) *threads = blockDim.x;
}

/// The numbers that extents can be computed from.
extern "C" __global__ void computed(GPUK_OUT(max(min(a, b), 1) + (a << 2) - a / b % 3 + ceil_div(b, 0x4) + (b >> 1U)) int *out,
                                    short a, unsigned char b)
{
    *out = 1;
}

/// An extent that can be negative, be beyond 64 bits, or have none.
extern "C" __global__ void corners(GPUK_OUT(a * b * c / d) char *out, long long a, long long b, unsigned long long c,
                                   int d)
{
    *out = 1;
}

/// A kernel of clusters: whole ones are launched.
extern "C" __global__ void __cluster_dims__(2) GPUK_LAUNCH(block = 32, elements = n)
    clustered(GPUK_OUT(n) unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gridDim.x;
}

/// A template: `N` and `T` are the instance's.
template <class T, int N>
__global__ void GPUK_LAUNCH(block = N, grid = 1) spread(T value, GPUK_OUT(N * sizeof(T)) unsigned char *bytes)
{
    reinterpret_cast<T *>(bytes)[threadIdx.x] = value;
}
template __global__ void spread<short, 8>(short, unsigned char *);
template __global__ void spread<double, 4>(double, unsigned char *);
