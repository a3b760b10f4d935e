extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
#define T 16
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int t = 0; t < n / T; ++t) {
        as[y][x] = a[row * n + t * T + x];
        bs[y][x] = b[(t * T + y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
__device__ int table[4] = {1,2,3,4};
__device__ int *ptr = table + 1;
__constant__ float coef[8] = {1.5f};
__device__ __noinline__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
struct P { int a; double b; char c[5]; };
__device__ __noinline__ double takes(P p, int k) { return p.a + p.b + p.c[k]; }
typedef int (*fp)(int);
__device__ __noinline__ int f1(int x) { return x + 1; }
__device__ __noinline__ int f2(int x) { return x * 2; }
__device__ fp fps[2] = {f1, f2};
extern "C" __global__ void misc(int *out, P p, int k) {
    int i = threadIdx.x;
    int loc[8];
    for (int j = 0; j < 8; ++j) loc[j] = j * k + i;
    out[i] = fact(i % 10) + (int)takes(p, k) + fps[i & 1](i) + loc[(i + k) & 7] + *ptr + (int)coef[k];
    switch (k) { case 0: out[0] += 1; break; case 1: out[1] += 2; break; case 2: out[5] -= 7; break; case 3: out[9]+=3; break; case 4: out[10] = 11; break; case 5: out[12] ^= 3; break; case 6: out[3] &= 3; break;}
    if (i == 0) printf("hello %d %s %f\n", i, "x", 1.5);
}
