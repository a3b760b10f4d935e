#pragma once

struct Entry {
    int key;
    float value;
};

extern __constant__ Entry table[4];
extern __device__ unsigned lookups;

// Fails where no entry has the key.
__device__ float lookup(int key);

template <class T>
__device__ __noinline__ T twice(T x) {
    return x + x;
}
