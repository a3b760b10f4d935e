// CUDA's vector types.
#include "given.cuh"

GIVEN(char1_, char1)
GIVEN(char2_, char2)
GIVEN(uchar3_, uchar3)
GIVEN(uchar4_, uchar4)
GIVEN(short2_, short2)
GIVEN(ushort3_, ushort3)
GIVEN(ushort4_, ushort4)
GIVEN(int1_, int1)
GIVEN(int2_, int2)
GIVEN(int3_, int3)
GIVEN(uint4_, uint4)
GIVEN(long3_, long3)
GIVEN(longlong2_, longlong2)
GIVEN(float2_, float2)
GIVEN(float3_, float3)
GIVEN(float4_, float4)
GIVEN(double2_, double2)
GIVEN(double3_, double3)
GIVEN(dim, dim3)
#if __CUDACC_VER_MAJOR__ >= 13
GIVEN(double4_16, double4_16a)
GIVEN(double4_32, double4_32a)
GIVEN(ulonglong4_32, ulonglong4_32a)
#endif
