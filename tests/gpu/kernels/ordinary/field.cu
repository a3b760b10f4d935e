// Large integers and the fields of zero-knowledge provers.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned __int128 u128;

/// 256 × 256 → 512 bits, little-endian words, by carry chains.
extern "C" __global__ void multiply_wide(const u32 *a, const u32 *b, u32 *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u32 x[8], y[8], r[16] = {};
    for (int i = 0; i < 8; ++i) x[i] = a[at * 8 + i], y[i] = b[at * 8 + i];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        asm("mad.lo.cc.u32 %0, %9, %10, %0;\n\t"
            "madc.lo.cc.u32 %1, %9, %11, %1;\n\t"
            "madc.lo.cc.u32 %2, %9, %12, %2;\n\t"
            "madc.lo.cc.u32 %3, %9, %13, %3;\n\t"
            "madc.lo.cc.u32 %4, %9, %14, %4;\n\t"
            "madc.lo.cc.u32 %5, %9, %15, %5;\n\t"
            "madc.lo.cc.u32 %6, %9, %16, %6;\n\t"
            "madc.lo.cc.u32 %7, %9, %17, %7;\n\t"
            "addc.u32 %8, %8, 0;"
            : "+r"(r[i]), "+r"(r[i + 1]), "+r"(r[i + 2]), "+r"(r[i + 3]), "+r"(r[i + 4]), "+r"(r[i + 5]),
              "+r"(r[i + 6]), "+r"(r[i + 7]), "+r"(r[i + 8])
            : "r"(x[i]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
        asm("mad.hi.cc.u32 %0, %8, %9, %0;\n\t"
            "madc.hi.cc.u32 %1, %8, %10, %1;\n\t"
            "madc.hi.cc.u32 %2, %8, %11, %2;\n\t"
            "madc.hi.cc.u32 %3, %8, %12, %3;\n\t"
            "madc.hi.cc.u32 %4, %8, %13, %4;\n\t"
            "madc.hi.cc.u32 %5, %8, %14, %5;\n\t"
            "madc.hi.cc.u32 %6, %8, %15, %6;\n\t"
            "madc.hi.u32 %7, %8, %16, %7;"
            : "+r"(r[i + 1]), "+r"(r[i + 2]), "+r"(r[i + 3]), "+r"(r[i + 4]), "+r"(r[i + 5]), "+r"(r[i + 6]),
              "+r"(r[i + 7]), "+r"(r[i + 8])
            : "r"(x[i]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    }
    for (int i = 0; i < 16; ++i) out[at * 16 + i] = r[i];
}

// The base fields of BN254 and BLS12-381, least significant word first, with -1/p modulo 2^64.
__constant__ u64 BN254[4] = {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029};
__constant__ u64 BLS381[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                              0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};

/// A Montgomery product `a b / 2^(64 N)` modulo `p` (CIOS).
template <int N> static __device__ void product(const u64 *a, const u64 *b, const u64 *p, u64 inverse, u64 *out) {
    u64 t[N + 2] = {};
    for (int i = 0; i < N; ++i) {
        u64 carry = 0;
        for (int j = 0; j < N; ++j) {
            u128 s = (u128)a[j] * b[i] + t[j] + carry;
            t[j] = (u64)s;
            carry = (u64)(s >> 64);
        }
        u128 s = (u128)t[N] + carry;
        t[N] = (u64)s;
        t[N + 1] = (u64)(s >> 64);
        u64 m = t[0] * inverse;
        s = (u128)m * p[0] + t[0];
        carry = (u64)(s >> 64);
        for (int j = 1; j < N; ++j) {
            s = (u128)m * p[j] + t[j] + carry;
            t[j - 1] = (u64)s;
            carry = (u64)(s >> 64);
        }
        s = (u128)t[N] + carry;
        t[N - 1] = (u64)s;
        t[N] = t[N + 1] + (u64)(s >> 64);
    }
    u64 less[N], borrow = 0;
    for (int i = 0; i < N; ++i) {
        u128 d = (u128)t[i] - p[i] - borrow;
        less[i] = (u64)d;
        borrow = (u64)(d >> 64) & 1;
    }
    bool keep = borrow > t[N];
    for (int i = 0; i < N; ++i) out[i] = keep ? t[i] : less[i];
}

/// Montgomery products of BN254's base field.
extern "C" __global__ void multiply_bn254(const u64 *a, const u64 *b, u64 *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) product<4>(a + at * 4, b + at * 4, BN254, 0x87d20782e4866389, out + at * 4);
}

/// Montgomery products of BLS12-381's base field.
extern "C" __global__ void multiply_bls381(const u64 *a, const u64 *b, u64 *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) product<6>(a + at * 6, b + at * 6, BLS381, 0x89f3fffcfffcfffd, out + at * 6);
}

/// The same product of BN254 in 32-bit words, its carries in the condition code.
extern "C" __global__ void multiply_bn254_words(const u32 *a, const u32 *b, u32 *out, int n) {
    const u32 p[8] = {0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u32 t[9] = {};
    for (int i = 0; i < 8; ++i) {
        u32 y = b[at * 8 + i], high;
#pragma unroll
        for (int round = 0; round < 2; ++round) {
            u32 word[8], by = round == 0 ? y : t[0] * 0xe4866389;
            for (int j = 0; j < 8; ++j) word[j] = round == 0 ? a[at * 8 + j] : p[j];
            asm("mad.lo.cc.u32 %0, %9, %10, %0;\n\t"
                "madc.lo.cc.u32 %1, %9, %11, %1;\n\t"
                "madc.lo.cc.u32 %2, %9, %12, %2;\n\t"
                "madc.lo.cc.u32 %3, %9, %13, %3;\n\t"
                "madc.lo.cc.u32 %4, %9, %14, %4;\n\t"
                "madc.lo.cc.u32 %5, %9, %15, %5;\n\t"
                "madc.lo.cc.u32 %6, %9, %16, %6;\n\t"
                "madc.lo.cc.u32 %7, %9, %17, %7;\n\t"
                "addc.u32 %8, %8, 0;"
                : "+r"(t[0]), "+r"(t[1]), "+r"(t[2]), "+r"(t[3]), "+r"(t[4]), "+r"(t[5]), "+r"(t[6]), "+r"(t[7]),
                  "+r"(t[8])
                : "r"(by), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(word[4]), "r"(word[5]),
                  "r"(word[6]), "r"(word[7]));
            asm("mad.hi.cc.u32 %0, %9, %10, %0;\n\t"
                "madc.hi.cc.u32 %1, %9, %11, %1;\n\t"
                "madc.hi.cc.u32 %2, %9, %12, %2;\n\t"
                "madc.hi.cc.u32 %3, %9, %13, %3;\n\t"
                "madc.hi.cc.u32 %4, %9, %14, %4;\n\t"
                "madc.hi.cc.u32 %5, %9, %15, %5;\n\t"
                "madc.hi.cc.u32 %6, %9, %16, %6;\n\t"
                "madc.hi.cc.u32 %7, %9, %17, %7;\n\t"
                "addc.u32 %8, 0, 0;"
                : "+r"(t[1]), "+r"(t[2]), "+r"(t[3]), "+r"(t[4]), "+r"(t[5]), "+r"(t[6]), "+r"(t[7]), "+r"(t[8]),
                  "=r"(high)
                : "r"(by), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(word[4]), "r"(word[5]),
                  "r"(word[6]), "r"(word[7]));
        }
        for (int j = 0; j < 8; ++j) t[j] = t[j + 1];
        t[8] = high;
    }
    u32 less[8], borrow;
    asm("sub.cc.u32 %0, %9, %17;\n\t"
        "subc.cc.u32 %1, %10, %18;\n\t"
        "subc.cc.u32 %2, %11, %19;\n\t"
        "subc.cc.u32 %3, %12, %20;\n\t"
        "subc.cc.u32 %4, %13, %21;\n\t"
        "subc.cc.u32 %5, %14, %22;\n\t"
        "subc.cc.u32 %6, %15, %23;\n\t"
        "subc.cc.u32 %7, %16, %24;\n\t"
        "subc.u32 %8, 0, 0;"
        : "=r"(less[0]), "=r"(less[1]), "=r"(less[2]), "=r"(less[3]), "=r"(less[4]), "=r"(less[5]), "=r"(less[6]),
          "=r"(less[7]), "=r"(borrow)
        : "r"(t[0]), "r"(t[1]), "r"(t[2]), "r"(t[3]), "r"(t[4]), "r"(t[5]), "r"(t[6]), "r"(t[7]), "r"(p[0]),
          "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]), "r"(p[6]), "r"(p[7]));
    for (int j = 0; j < 8; ++j) out[at * 8 + j] = borrow ? t[j] : less[j];
}

// 2^64 - 2^32 + 1, "Goldilocks": 2^64 = 2^32 - 1 and 2^96 = -1 modulo p.
static const u64 P = 0xffffffff00000001;

static __device__ u64 times(u64 a, u64 b) {
    u64 low = a * b, high = __umul64hi(a, b);
    u64 top = high >> 32, middle = high & 0xffffffff;
    u64 t = low - top;
    if (low < top) t -= 0xffffffff;
    u64 m = (middle << 32) - middle, r = t + m;
    if (r < t) r += 0xffffffff;
    return r >= P ? r - P : r;
}

static __device__ u64 plus(u64 a, u64 b) {
    u64 r = a + b;
    if (r < a) r += 0xffffffff;
    return r >= P ? r - P : r;
}

static __device__ u64 minus(u64 a, u64 b) { return a >= b ? a - b : a - b + P; }

static __device__ u64 power(u64 base, u64 exponent) {
    u64 result = 1;
    for (; exponent; exponent >>= 1, base = times(base, base))
        if (exponent & 1) result = times(result, base);
    return result;
}

/// A number theoretic transform of 256 numbers of Goldilocks in shared memory (decimation in time).
extern "C" __global__ void __launch_bounds__(128) transform(u64 *data) {
    __shared__ u64 own[256];
    u64 *block = data + blockIdx.x * 256;
    for (int i = threadIdx.x; i < 256; i += 128) own[__brev(i) >> 24] = block[i];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int j = threadIdx.x & (half - 1), low = 2 * threadIdx.x - j;
        // 7 generates the group of p - 1 elements.
        u64 w = power(7, (P - 1) / (2 * half) * j);
        u64 x = own[low], y = times(own[low + half], w);
        own[low] = plus(x, y);
        own[low + half] = minus(x, y);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 128) block[i] = own[i];
}

/// A permutation in the manner of Poseidon: 8 rounds of constants, seventh powers and a mix of a state of 4.
extern "C" __global__ void permute(u64 *states, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u64 s[4];
    for (int i = 0; i < 4; ++i) s[i] = states[at * 4 + i];
    for (int round = 0; round < 8; ++round) {
        u64 sum = 0;
        for (int i = 0; i < 4; ++i) {
            u64 x = plus(s[i], 0x9e3779b97f4a7c15ull * (round * 4 + i + 1) % P), square = times(x, x);
            s[i] = times(times(square, square), times(square, x));
            sum = plus(sum, s[i]);
        }
        for (int i = 0; i < 4; ++i) s[i] = plus(sum, times(s[i], i + 2));
    }
    for (int i = 0; i < 4; ++i) states[at * 4 + i] = s[i];
}

/// Inverses modulo Goldilocks by Euclid's algorithm: loops of every length, and 64-bit divisions.
extern "C" __global__ void invert(const u64 *in, u64 *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u64 a = P, b = in[at], x = 0, y = 1;
    while (b) {
        u64 q = a / b, next = a - q * b, factor = minus(x, times(q % P, y));
        a = b, b = next, x = y, y = factor;
    }
    out[at] = x;
}
