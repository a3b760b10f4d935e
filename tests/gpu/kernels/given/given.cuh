// Kernels that give a parameter back.
#pragma once

template <class T> static __device__ unsigned char *put(unsigned char *out, const T &value) {
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&value);
    for (unsigned i = 0; i < sizeof(T); ++i) *out++ = bytes[i];
    return out;
}

template <class... T> static __device__ void put_all(unsigned char *out, const T &...values) {
    ((out = put(out, values)), ...);
}

/// What the kernel sees of a parameter beside its bytes, and of its neighbours.
template <class T> static __device__ void look(const T &value, unsigned char before, unsigned char after, unsigned *facts) {
    facts[0] = sizeof(T);
    facts[1] = alignof(T);
    facts[2] = reinterpret_cast<unsigned long long>(&value) % alignof(T);
    facts[3] = before;
    facts[4] = after;
}

/// A kernel that gives back all bytes of `value`, and behind them those of the expressions that follow, one by one.
#define GIVEN(NAME, TYPE, ...)                                                                                         \
    extern "C" __global__ void NAME(unsigned char before, const __grid_constant__ TYPE value, unsigned char after,     \
                                    unsigned *facts, unsigned char *bytes) {                                           \
        look(value, before, after, facts);                                                                             \
        put_all(put(bytes, value), ##__VA_ARGS__);                                                                     \
    }
