// Complex numbers.
#include "given.cuh"
#include <cuComplex.h>
#include <cuda/std/complex>
#include <thrust/complex.h>

struct Wave {
    char tag;
    cuda::std::complex<float> amplitude;
    thrust::complex<double> phase[2];
};

GIVEN(cu_float, cuFloatComplex)
GIVEN(cu_double, cuDoubleComplex)
GIVEN(thrust_float, thrust::complex<float>)
GIVEN(thrust_double, thrust::complex<double>)
GIVEN(std_float, cuda::std::complex<float>)
GIVEN(std_double, cuda::std::complex<double>)
GIVEN(wave, Wave, value.tag, value.amplitude, value.phase)

/// Conjugates numbers behind pointers.
extern "C" __global__ void conjugate(const thrust::complex<float> *in, cuFloatComplex *out) {
    out[threadIdx.x] = make_cuFloatComplex(in[threadIdx.x].real(), -in[threadIdx.x].imag());
}
