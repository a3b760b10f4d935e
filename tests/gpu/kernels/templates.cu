// Kernel templates, launched through one method over all of their instances.
#include <cuda_fp16.h>

#include <gpuk.cuh>

/// A pair whose size depends on what it is of.
template <class T> struct Pair {
    T first;
    int second;
};

/// Multiplies by a number and adds a pair's first; its second counts elements.
template <class T> __global__ void scale(T *x, T k, Pair<T> plus) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < plus.second) x[i] = x[i] * k + plus.first;
}
template __global__ void scale<float>(float *, float, Pair<float>);
template __global__ void scale<double>(double *, double, Pair<double>);
template __global__ void scale<__half>(__half *, __half, Pair<__half>);
GPUK_INSTANTIATE(scale<int>);

namespace convert {
/// Converts, a block's `N` elements a thread.
template <class From, class To, int N> __launch_bounds__(N) __global__ void cast(const From *from, To *to) {
    int i = blockIdx.x * N + threadIdx.x;
    to[i] = static_cast<To>(static_cast<float>(from[i]));
}
GPUK_INSTANTIATE(cast<float, __half, 32>);
template __global__ void cast<__half, float, 32>(const __half *, float *);
template __global__ void cast<__half, float, 64>(const __half *, float *);
} // namespace convert

enum class Order : unsigned char { Up, Down = 7 };

/// What it was made with.
template <bool Flag, Order O, char C, unsigned long long Wide> __global__ void made(unsigned long long *out) {
    out[0] = Flag;
    out[1] = static_cast<unsigned long long>(O);
    out[2] = static_cast<unsigned long long>(static_cast<long long>(C));
    out[3] = Wide;
}
template __global__ void made<true, Order::Down, 'A', 18446744073709551615ull>(unsigned long long *);
template __global__ void made<false, Order::Up, -3, 1>(unsigned long long *);

struct Twice {
    __device__ static float of(float x) { return 2 * x; }
};
struct Square {
    __device__ static float of(float x) { return x * x; }
};

/// A type that no parameter has.
template <class Op> __global__ void map(float *x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] = Op::of(x[threadIdx.x]);
}
template __global__ void map<Twice>(float *, int);
template __global__ void map<Square>(float *, int);

/// Has a check where `N` is not zero, and none of it otherwise.
template <int N> __global__ void below(int *x) {
    if constexpr (N != 0) {
        GPUK_CHECK(x[threadIdx.x] < N, "{} is not below {}", x[threadIdx.x], N);
    }
    x[threadIdx.x] += 1;
}
template __global__ void below<0>(int *);
template __global__ void below<8>(int *);

template <class A, class... Rest> __global__ void pack(A *out, Rest... rest) {
    int values[] = {rest...};
    for (unsigned i = 0; i < sizeof...(Rest); ++i) out[i] = static_cast<A>(values[i]);
}
template __global__ void pack<long long, int, int>(long long *, int, int);

/// Two types that are one to Rust.
template <class T> __global__ void wide(T *x, T by) { x[0] = by; }
GPUK_INSTANTIATE(wide<long>);
GPUK_INSTANTIATE(wide<long long>);

namespace {
/// Nobody else can name it, and its entry has a hash in its name.
template <class T> __global__ void unnamed(T *x) { x[0] += 1; }
GPUK_INSTANTIATE(unnamed<int>);
} // namespace

/// Overloads of one name.
__global__ void twin(int *x) { x[0] = 1; }
template <class T> __global__ void twin(T *x, T by) { x[0] = by; }
template __global__ void twin<int>(int *, int);

using real = double;
/// Overloads that are no templates: the compiler tells their types apart, the text does not.
__global__ void over(real *fraction) { fraction[0] = 1.5; }
__global__ void over(const unsigned *from, unsigned *to) { to[0] = from[0] + 1; }
__global__ void over(unsigned *up) { up[0] += 2; }
extern "C" __global__ void over(float *single) { single[0] = 2.5f; }
