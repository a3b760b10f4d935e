// Numbers of 16 bits and less.
#include "given.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

GIVEN(half_, __half)
GIVEN(bfloat16, __nv_bfloat16)
GIVEN(half2_, half2)
GIVEN(bfloat162, __nv_bfloat162)
GIVEN(e4m3, __nv_fp8_e4m3)
GIVEN(e5m2, __nv_fp8_e5m2)
GIVEN(e8m0, __nv_fp8_e8m0)
GIVEN(e4m3x4, __nv_fp8x4_e4m3)
GIVEN(e2m1, __nv_fp4_e2m1)
GIVEN(e2m1x2, __nv_fp4x2_e2m1)
