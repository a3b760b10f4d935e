// Kernels by macro, by template and by namespace, and what they are launched with. `given` has parameters of every type.

namespace geometry {
struct Point {
    float x, y;
};
} // namespace geometry

/// Mirrors points through pointers to a struct.
extern "C" __global__ void points(const geometry::Point *in, geometry::Point *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = {in[i].y, in[i].x};
}

// Kernels made by a macro: their names stand nowhere in the text.
#define AXPY(T, NAME)                                                                                                  \
    extern "C" __global__ void axpy_##NAME(T a, const T *x, T *y, int n) {                                             \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i < n) y[i] += a * x[i];                                                                                   \
    }
AXPY(float, f32)
AXPY(double, f64)
AXPY(long long, i64)

namespace outer {
/// A template in a namespace, over a type and a number.
template <class T, int FACTOR> __global__ void multiply(T *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= FACTOR;
}
template __global__ void multiply<int, 3>(int *, int);
template __global__ void multiply<float, 2>(float *, int);
} // namespace outer

/// Two outputs, an input that may be null.
extern "C" __global__ void two_outputs(const int *maybe, int *first, int *second) {
    *first = maybe ? *maybe : -1;
    *second = *first * 2;
}

/// A `void` pointer takes any buffer.
extern "C" __global__ void copy_bytes(const void *from, void *to, size_t bytes) {
    for (size_t i = threadIdx.x; i < bytes; i += blockDim.x)
        static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
}

/// Sums with dynamic shared memory of any size.
extern "C" __global__ void __launch_bounds__(256) sum(const float *in, float *out, int n) {
    extern __shared__ float shared[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) shared[i] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int i = 0; i < n; ++i) total += shared[i];
        *out = total;
    }
}

/// The driver is told this grid in clusters.
extern "C" __global__ void __block_size__((64, 1, 1), (2, 1, 1)) in_clusters(unsigned *blocks, unsigned *size) {
    if (threadIdx.x == 0) atomicAdd(blocks, 1u);
    size[blockIdx.x] = gridDim.x;
}
