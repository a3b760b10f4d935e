// Hashes, checksums and random numbers.

typedef unsigned int u32;
typedef unsigned long long u64;

__constant__ u32 SHA256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static __device__ u32 rotate(u32 x, int by) { return __funnelshift_r(x, x, by); }

/// SHA-256 of messages of 32 bytes, given as little-endian words, a thread for each.
extern "C" __global__ void sha256(const u32 *messages, u32 *digests, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u32 w[64];
    for (int i = 0; i < 8; ++i) w[i] = __byte_perm(messages[at * 8 + i], 0, 0x0123);
    w[8] = 0x80000000;
    for (int i = 9; i < 15; ++i) w[i] = 0;
    w[15] = 256;
    for (int i = 16; i < 64; ++i) {
        u32 a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    const u32 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u32 s[8];
    for (int i = 0; i < 8; ++i) s[i] = start[i];
    for (int i = 0; i < 64; ++i) {
        u32 one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + (s[4] & s[5] ^ ~s[4] & s[6]) +
                  SHA256[i] + w[i];
        u32 two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + (s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]);
        for (int j = 7; j > 0; --j) s[j] = s[j - 1];
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; ++i) digests[at * 8 + i] = __byte_perm(s[i] + start[i], 0, 0x0123);
}

/// The permutation of Keccak, 24 rounds over 25 words, a thread for each state.
extern "C" __global__ void keccak(u64 *states, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u64 a[25], b[25], c[5];
    for (int i = 0; i < 25; ++i) a[i] = states[at * 25 + i];
    unsigned char lfsr = 1;
    for (int round = 0; round < 24; ++round) {
        for (int x = 0; x < 5; ++x) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (int i = 0; i < 25; ++i) {
            u64 right = c[(i + 1) % 5];
            a[i] ^= c[(i + 4) % 5] ^ (right << 1 | right >> 63);
        }
        int x = 1, y = 0;
        b[0] = a[0];
        for (int t = 0; t < 24; ++t) {
            int by = (t + 1) * (t + 2) / 2 % 64, to = (2 * x + 3 * y) % 5;
            u64 lane = a[5 * y + x];
            b[5 * to + y] = by ? lane << by | lane >> (64 - by) : lane;
            x = y, y = to;
        }
        for (int i = 0; i < 25; ++i) a[i] = b[i] ^ ~b[i / 5 * 5 + (i + 1) % 5] & b[i / 5 * 5 + (i + 2) % 5];
        for (int j = 0; j < 7; ++j) {
            if (lfsr & 1) a[0] ^= 1ull << ((1 << j) - 1);
            lfsr = lfsr << 1 ^ (lfsr & 0x80 ? 0x71 : 0);
        }
    }
    for (int i = 0; i < 25; ++i) states[at * 25 + i] = a[i];
}

/// Philox 4×32-10: a counter and a key to four random words.
extern "C" __global__ void philox(uint4 *out, u32 first, u32 key0, u32 key1, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    uint4 c = make_uint4(first + at, 0, 0, 0);
    for (int round = 0; round < 10; ++round, key0 += 0x9e3779b9, key1 += 0xbb67ae85) {
        u32 high0 = __umulhi(0xd2511f53, c.x), low0 = 0xd2511f53 * c.x;
        u32 high1 = __umulhi(0xcd9e8d57, c.z), low1 = 0xcd9e8d57 * c.z;
        c = make_uint4(high1 ^ c.y ^ key0, low1, high0 ^ c.w ^ key1, low0);
    }
    out[at] = c;
}

__device__ u32 crc_table[256];

/// Fills the table of `crc32` from the polynomial.
extern "C" __global__ void crc32_table() {
    u32 crc = threadIdx.x;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    crc_table[threadIdx.x] = crc;
}

/// CRC-32 of texts of any length, by a table in global memory that an earlier launch made.
extern "C" __global__ void crc32(const unsigned char *text, const int *starts, u32 *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    u32 crc = 0xffffffff;
    for (int i = starts[at]; i < starts[at + 1]; ++i) crc = crc_table[(crc ^ text[i]) & 255] ^ crc >> 8;
    out[at] = ~crc;
}
