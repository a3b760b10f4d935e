extern "C" __global__ void store(unsigned int *p, unsigned int value) { *p = value; }
extern "C" __global__ void twice(unsigned int *p) { for (int i = threadIdx.x; i < 100; i += blockDim.x) p[i] = p[i] * 2 + p[i ^ 1] / 3; }
