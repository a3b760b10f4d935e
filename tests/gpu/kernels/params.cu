// Every kind of parameter, given back as bytes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> static __device__ unsigned char *put(unsigned char *out, const T &value) {
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&value);
    for (unsigned i = 0; i < sizeof(T); ++i) *out++ = bytes[i];
    return out;
}

/// Numbers of all sizes, in the order of the parameters.
extern "C" __global__ void scalars(bool b, signed char i8, short i16, int i32, long long i64, unsigned char u8,
                                   unsigned short u16, unsigned int u32, unsigned long u64, float f32, double f64,
                                   unsigned char *out) {
    out = put(out, b);
    out = put(out, i8);
    out = put(out, i16);
    out = put(out, i32);
    out = put(out, i64);
    out = put(out, u8);
    out = put(out, u16);
    out = put(out, u32);
    out = put(out, u64);
    out = put(out, f32);
    put(out, f64);
}

namespace geometry {
struct Point {
    float x, y;
};
} // namespace geometry

struct Mixed {
    char tag;
    double weight;
    int counts[3];
    bool flag;
    geometry::Point at;
};
typedef unsigned int count_t;

/// A struct with padding between smaller parameters, field by field.
extern "C" __global__ void structs(bool before, Mixed mixed, count_t after, unsigned char *out) {
    out = put(out, before);
    out = put(out, mixed.tag);
    out = put(out, mixed.weight);
    out = put(out, mixed.counts);
    out = put(out, mixed.flag);
    out = put(out, mixed.at);
    put(out, after);
}

/// Vector types among smaller parameters.
extern "C" __global__ void vectors(char before, float4 a, uchar3 b, double2 c, short2 d, float3 e, unsigned char *out) {
    out = put(out, before);
    out = put(out, a);
    out = put(out, b);
    out = put(out, c);
    out = put(out, d);
    put(out, e);
}

/// Halves, widened.
extern "C" __global__ void halves(__half h, __nv_bfloat16 b, float *out) {
    out[0] = __half2float(h);
    out[1] = __bfloat162float(b);
}

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
