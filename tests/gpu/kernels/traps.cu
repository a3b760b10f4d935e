// Traps that are checks by setting.
#include <cstdint>

/// Scales by a power of two; another factor is a trap.
extern "C" __global__ void scale_by_power(float *y, uint32_t factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((factor & (factor - 1)) != 0 && i == 77) __trap();
    if (i < n) y[i] *= factor;
}
