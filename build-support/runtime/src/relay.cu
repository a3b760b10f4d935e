// Carries outcomes from gate to gate, in the order of a stream. relay.ptx is what the compiler makes of this:
//
//   nvcc -arch=compute_75 -ptx relay.cu -o relay.ptx
//
// with `.version 6.3` and `.target sm_70`, so that every driver and device that runs checks takes it.
// The layout is that of gpuk-device's `record`, which a test compares.

typedef unsigned long long u64;

const u64 NO_WORD = ~0ull;
const unsigned PRIOR = 1u << 31;
const unsigned RECORD_WORDS = 40;
const unsigned STATE = 6;
const unsigned FIRST_WORD = 1;
const unsigned VALUES_WORD = 8;
const unsigned COUNTERS = 32;
const unsigned ADDRESSES = 480;

struct Gate {
    u64 best;
    volatile u64 *record;
    unsigned skipped;
    unsigned rest[27];
    struct {
        u64 count;
        u64 rest[15];
    } line[COUNTERS];
};

struct Addresses {
    u64 at[ADDRESSES];
};

// Sets PRIOR at a gate if one of the records is written, or if there is none: the failure is known then. The records
// may be another device's.
extern "C" __global__ void gpuk_fold(const __grid_constant__ Addresses records, unsigned count, Gate *to) {
    unsigned i = threadIdx.x;
    bool has_failed = count == 0;
    if (i < count) has_failed = ((volatile unsigned *)records.at[i])[STATE] != 0;
    if (has_failed) atomicOr(&to->skipped, PRIOR);
}

// Moves the first failure of these gates to another, with its number, and makes them as new. One that the other
// gate has already stays.
extern "C" __global__ void gpuk_move(const __grid_constant__ Addresses gates, unsigned count, unsigned number, Gate *to) {
    __shared__ unsigned first;
    if (threadIdx.x == 0) first = ADDRESSES;
    bool is_empty = to->best == NO_WORD;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        volatile Gate *gate = (volatile Gate *)gates.at[i];
        if (gate->best != NO_WORD) atomicMin(&first, i);
        unsigned skipped = gate->skipped;
        if (skipped != 0) {
            atomicMax(&to->skipped, skipped & ~PRIOR);
            gate->skipped = 0;
        }
    }
    __syncthreads();
    if (first == ADDRESSES) return;
    if (is_empty) {
        Gate *from = (Gate *)gates.at[first];
        for (unsigned i = 1 + threadIdx.x; i < RECORD_WORDS; i += blockDim.x) to->record[i] = from->record[i];
        if (threadIdx.x < COUNTERS) to->line[threadIdx.x].count = from->line[threadIdx.x].count;
        if (threadIdx.x == 0) {
            to->record[0] = number + first;
            to->best = from->best;
        }
    }
    __syncthreads();
    for (unsigned g = first; g < count; g++) {
        volatile Gate *gate = (volatile Gate *)gates.at[g];
        if (gate->best == NO_WORD) continue;
        for (unsigned i = threadIdx.x; i < RECORD_WORDS; i += blockDim.x)
            gate->record[i] = i == FIRST_WORD || i >= VALUES_WORD ? NO_WORD : 0;
        if (threadIdx.x < COUNTERS) gate->line[threadIdx.x].count = 0;
        __syncthreads();
        if (threadIdx.x == 0) gate->best = NO_WORD;
    }
}
