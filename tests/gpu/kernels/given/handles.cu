// Addresses and handles.
#include "given.cuh"
#include <cuda.h>

struct Texture {
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    int level;
};
struct Tensor {
    int rows;
    CUtensorMap map;
};
struct Class {
    int a, b;
};

using Callback = void (*)(int);
using Member = int Class::*;
using Method = void (Class::*)(int);

GIVEN(texture, cudaTextureObject_t)
GIVEN(surface, cudaSurfaceObject_t)
GIVEN(textures, Texture, value.texture, value.surface, value.level)
GIVEN(tensor_map, CUtensorMap)
GIVEN(tensor, Tensor, value.rows, value.map)
GIVEN(function, Callback)
GIVEN(member, Member)
GIVEN(method, Method)

/// The addresses of pointers of every shape.
extern "C" __global__ void pointers(const float *in, void *any, float **table, const float *const *constants,
                                    float (*rows)[4], const int (*cube)[2][3], short list[], volatile int *last,
                                    const double *__restrict__ restricted, const struct Unknown *unknown,
                                    unsigned long long *addresses) {
    unsigned long long *out = addresses;
    *out++ = reinterpret_cast<unsigned long long>(in);
    *out++ = reinterpret_cast<unsigned long long>(any);
    *out++ = reinterpret_cast<unsigned long long>(table);
    *out++ = reinterpret_cast<unsigned long long>(constants);
    *out++ = reinterpret_cast<unsigned long long>(rows);
    *out++ = reinterpret_cast<unsigned long long>(cube);
    *out++ = reinterpret_cast<unsigned long long>(list);
    *out++ = reinterpret_cast<unsigned long long>(last);
    *out++ = reinterpret_cast<unsigned long long>(restricted);
    *out++ = reinterpret_cast<unsigned long long>(unknown);
}
