// Relocatable device code: extern functions and data, weak functions, a launch from the device.
extern __device__ int elsewhere(int, float);
extern __device__ float elsewhere_too;
template <class T> __device__ __noinline__ T weak(T t) { return t + 1; }
__global__ void child(int *o) { *o = 1; }
__global__ void parent(int *o) {
    child<<<1, 1>>>(o);
    o[0] = elsewhere(3, 2.f) + weak<int>(o[1]) + elsewhere_too;
}
