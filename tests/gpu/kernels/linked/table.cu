// Device functions and data that the kernels of another file use; no kernel of its own.
#include "table.cuh"

#include "gpuk.cuh"

__constant__ Entry table[4] = {{3, 0.5f}, {5, 2.0f}, {7, 8.0f}, {0, 0.0f}};
__device__ unsigned lookups;
static __device__ int own = 1;

__device__ float lookup(int key) {
    GPUK_CHECK(key > 0, "key {} is not positive", key);
    atomicAdd(&lookups, (unsigned)own);
    for (const Entry &entry : table) {
        if (entry.key == key) return twice(entry.value);
    }
    return -1.0f;
}
