// Functions of CUDA's math library, and integer intrinsics.
#define F(name, expr)                                                                                                  \
    extern "C" __global__ void f_##name(const float *x, const float *y, float *o, int n) {                             \
        int i = threadIdx.x + blockIdx.x * blockDim.x;                                                                 \
        if (i < n) { float a = x[i], b = y[i]; o[i] = expr; }                                                          \
    }
#define D(name, expr)                                                                                                  \
    extern "C" __global__ void d_##name(const double *x, const double *y, double *o, int n) {                          \
        int i = threadIdx.x + blockIdx.x * blockDim.x;                                                                 \
        if (i < n) { double a = x[i], b = y[i]; o[i] = expr; }                                                         \
    }
F(pow, powf(a, b))
F(exp, expf(a))
F(log, logf(a))
F(sin, sinf(a))
F(tan, tanf(a))
F(tanh, tanhf(a))
F(cbrt, cbrtf(a))
F(atan2, atan2f(a, b))
F(fmod, fmodf(a, b))
F(hypot, hypotf(a, b))
F(expm1, expm1f(a))
D(pow, pow(a, b))
D(exp, exp(a))
D(log, log(a))
D(sin, sin(a))
D(tan, tan(a))
D(atan2, atan2(a, b))
D(cbrt, cbrt(a))
D(fmod, fmod(a, b))
D(rsqrt, rsqrt(a))

extern "C" __global__ void ints(const int *x, const long long *y, long long *o) {
    int i = threadIdx.x, a = x[i], b = x[i + 1];
    long long c = y[i];
    long long *out = o + 24 * i;
    out[0] = __popc(a);
    out[1] = __clz(b);
    out[2] = __ffs(a);
    out[3] = __brev(b);
    out[4] = __byte_perm(a, b, 0x2143);
    out[5] = __mulhi(a, b);
    out[6] = __sad(a, b, 1);
    out[7] = __funnelshift_l(a, b, 5);
    out[8] = __dp4a(a, b, 3);
    out[9] = __hadd(a, b);
    out[10] = __rhadd(a, b);
    out[11] = a / (b | 1);
    out[12] = a % 7;
    out[13] = (unsigned)a / 10u;
    out[14] = __popcll(c);
    out[15] = __clzll(c);
    out[16] = __mul64hi(c, a);
    out[17] = c / (b | 1);
    out[18] = c % 1000003;
    out[19] = __ffsll(c);
    out[20] = __brevll(c);
    out[21] = (unsigned long long)c / 12345ull;
    out[22] = (long long)(((unsigned __int128)c * (unsigned long long)a) >> 64);
    out[23] = (long long)(((unsigned __int128)c << 32) / (unsigned)(b | 1));
}
