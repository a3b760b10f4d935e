// Matrix products with nvcuda::wmma, of every shape and of several types.
#include <mma.h>
using namespace nvcuda;
template <int M, int N, int K, class T, class A, class LA, class LB>
__device__ void product(const T *a, const T *b, const A *c, A *d, int k, int lda, int ldb, int ldc) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, A> sum;
    wmma::load_matrix_sync(sum, c, ldc, wmma::mem_row_major);
    for (int i = 0; i < k; i += K) {
        bool ra = __is_same(LA, wmma::row_major), rb = __is_same(LB, wmma::row_major);
        wmma::load_matrix_sync(fa, a + (ra ? i : i * lda), lda);
        wmma::load_matrix_sync(fb, b + (rb ? i * ldb : i), ldb);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
    wmma::store_matrix_sync(d, sum, ldc, wmma::mem_row_major);
}
#define KERNEL(name, M, N, K, T, A, LA, LB)                                                                            \
    extern "C" __global__ void name(const T *a, const T *b, const A *c, A *d, int k, int lda, int ldb, int ldc) {      \
        product<M, N, K, T, A, wmma::LA, wmma::LB>(a, b, c, d, k, lda, ldb, ldc);                                      \
    }
KERNEL(f16_square, 16, 16, 16, __half, float, row_major, row_major)
KERNEL(f16_tall, 32, 8, 16, __half, float, col_major, row_major)
KERNEL(f16_flat, 8, 32, 16, __half, float, row_major, col_major)
KERNEL(f16_half, 8, 32, 16, __half, __half, col_major, col_major)
KERNEL(s8_square, 16, 16, 16, signed char, int, row_major, col_major)
KERNEL(u8_tall, 32, 8, 16, unsigned char, int, col_major, row_major)
KERNEL(s8_flat, 8, 32, 16, signed char, int, row_major, row_major)
KERNEL(f64_small, 8, 8, 4, double, double, row_major, col_major)
// Rounded to tf32 first.
extern "C" __global__ void tf32_square(const float *a, const float *b, float *d, int k) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 8) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i * 16, 16);
        for (int j = 0; j < fa.num_elements; ++j) fa.x[j] = wmma::__float_to_tf32(fa.x[j]);
        for (int j = 0; j < fb.num_elements; ++j) fb.x[j] = wmma::__float_to_tf32(fb.x[j]);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}
