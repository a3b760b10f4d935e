// Ways through a program: calls, tables, locks, barriers, grids and clusters.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;
typedef unsigned int u32;

static __device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

/// Recursion of another depth in each thread.
extern "C" __global__ void recursion(int *out) {
    out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x / 3);
}

static __device__ int add(int a, int b) { return a + b; }
static __device__ int subtract(int a, int b) { return a - b; }
static __device__ int multiply(int a, int b) { return a * b; }
static __device__ int remainder(int a, int b) { return b ? a % b : 0; }
typedef int (*Operation)(int, int);
__device__ Operation operations[4] = {add, subtract, multiply, remainder};

/// Calls through a table of functions, another one in each lane.
extern "C" __global__ void dispatch(const unsigned char *which, const int *a, const int *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = operations[which[i] & 3](a[i], b[i]);
}

/// A stack machine: each thread interprets a program of its own, with a stack in local memory.
extern "C" __global__ void interpret(const unsigned char *programs, int length, int *out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    int stack[16] = {}, top = 0;
    for (int pc = 0; pc < length; ++pc) {
        unsigned char code = programs[at * length + pc];
        int &a = stack[top & 15], &b = stack[(top + 15) & 15];
        switch (code & 7) {
        case 0: stack[++top & 15] = code >> 3; break;
        case 1: b += a, --top; break;
        case 2: b -= a, --top; break;
        case 3: b *= a, --top; break;
        case 4: b ^= a << (code >> 6), --top; break;
        case 5: a = -a; break;
        case 6: stack[(top + 1) & 15] = a, ++top; break;
        case 7: a = a >> 1 | (a & 1) << 30; break;
        }
    }
    out[at] = stack[top & 15] + 31 * stack[(top + 15) & 15];
}

/// What kernels print.
extern "C" __global__ void print(int n, float x) {
    if (threadIdx.x < n) printf("thread %d of %s: %5.2f %%\n", (int)threadIdx.x, "print", x * threadIdx.x);
}

/// Lists on the device's heap, of another length in each thread, summed and freed.
extern "C" __global__ void lists(int *out) {
    struct Node {
        int value;
        Node *next;
    };
    Node *head = nullptr;
    for (int i = 0; i < threadIdx.x % 7 + 1; ++i) {
        Node *node = static_cast<Node *>(malloc(sizeof(Node)));
        *node = {i * i, head};
        head = node;
    }
    int sum = 0;
    while (head) {
        Node *next = head->next;
        sum = sum * 3 + head->value;
        free(head);
        head = next;
    }
    out[threadIdx.x] = sum;
}

/// A sum over a grid that waits for all its blocks. For a cooperative launch.
extern "C" __global__ void grid_sum(const int *in, int *parts, int *out, int n) {
    cg::grid_group grid = cg::this_grid();
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
    parts[grid.thread_rank()] = sum;
    for (int half = grid.size() / 2; half > 0; half /= 2) {
        grid.sync();
        if (grid.thread_rank() < half) parts[grid.thread_rank()] += parts[grid.thread_rank() + half];
    }
    if (grid.thread_rank() == 0) *out = parts[0];
}

/// A lock that the lanes of a warp contend for.
extern "C" __global__ void locked(int *lock, int *order, int *count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            volatile int *next = count;
            order[*next] = blockIdx.x * blockDim.x + threadIdx.x;
            *next = *next + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

/// Half of the warps make what the other half takes, over named barriers.
extern "C" __global__ void __launch_bounds__(128) pipeline(const int *in, int *out, int rounds) {
    __shared__ int slots[2][64];
    int lane = threadIdx.x % 64;
    for (int round = 0; round < rounds; ++round) {
        int slot = round & 1;
        if (threadIdx.x < 64) {
            if (round >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + slot) : "memory");
            slots[slot][lane] = in[round * 64 + lane] * 3;
            asm volatile("bar.arrive %0, 128;" ::"r"(1 + slot) : "memory");
        } else {
            asm volatile("bar.sync %0, 128;" ::"r"(1 + slot) : "memory");
            out[round * 64 + lane] = slots[slot][63 - lane] + round;
            if (round + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + slot) : "memory");
        }
    }
}
