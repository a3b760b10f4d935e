// Embedding lookup.
#include <gpuk.cuh>

// The shape of an embedding table. Kernels take it by value; in Rust it is a struct of the same layout.
struct Table {
    int rows;    // tokens that have an embedding
    int dim;     // numbers in an embedding
    float scale; // what they are multiplied by when read
};

/// Looks up embeddings: `out[t][d] = shape.scale * table[ids[t]][d]`.
///
/// A block for each token. The wrapper compares `table` with its extent and allocates `out`.
GPUK_LAUNCH(grid = len(ids))
__global__ void __launch_bounds__(256)
    gather(GPUK_IN(shape.rows * shape.dim) const float *__restrict__ table, const int *__restrict__ ids,
           GPUK_OUT(len(ids) * shape.dim) float *__restrict__ out, Table shape)
{
    const int token = blockIdx.x;
    const int id = ids[token];

    // If it does not hold, this thread ends here and the host gets the message as a value. The context lives on.
    GPUK_CHECK(id >= 0 && id < shape.rows, "token {} has id {}, the table has {} rows", token, id, shape.rows);

    const float *row = table + size_t(id) * shape.dim;
    for (int d = threadIdx.x; d < shape.dim; d += blockDim.x) {
        out[size_t(token) * shape.dim + d] = shape.scale * row[d];
    }
}
