// Variables of the module, read and written by both sides.

struct Step {
    char kind;
    double by;
    short at[3];
};

// Of the polynomial, lowest first.
__constant__ float coefficients[4] = {1.0f, 0.5f};

__device__ unsigned long long counter = 40;

namespace tables {
static __constant__ Step step = {7, 0.25, {1, 2, 3}};
namespace {
__device__ int secret[2][3];
}
}  // namespace tables

__device__ const int limit = 11;
__device__ float *target, buffer[8];
__device__ volatile bool stopped;

template <class T>
__device__ T anything = T(3);

extern "C" __global__ void polynomial(const float *x, float *y) {
    float at = x[threadIdx.x], sum = 0.0f;
    for (int power = 3; power >= 0; --power) sum = sum * at + coefficients[power];
    y[threadIdx.x] = sum;
}

extern "C" __global__ void count(unsigned long long by) {
    if (by < (unsigned long long)limit) atomicAdd(&counter, by);
    stopped = true;
}

extern "C" __global__ void spread(float value) {
    static __device__ int calls;
    tables::secret[1][threadIdx.x] = tables::step.at[threadIdx.x] + calls + anything<int>;
    target[threadIdx.x] = value + (float)tables::step.by + tables::step.kind;
}

extern "C" __global__ void fill(float *y, float value) { y[threadIdx.x] = value; }

extern "C" __global__ void collect(float *y) { y[threadIdx.x] = buffer[threadIdx.x]; }

__managed__ int managed = 3;
extern "C" __global__ void raise() { managed += 1; }
