// Dense and sparse matrices, stencils.

/// Transposes by tiles in shared memory, a column of padding against bank conflicts.
extern "C" __global__ void transpose(const double *in, double *out, int rows, int columns) {
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

/// A step of heat flow: the mean of four neighbours, edges kept, halo in shared memory.
extern "C" __global__ void heat(const float *in, float *out, int width, int height) {
    __shared__ float tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int row = threadIdx.y; row < 10; row += 8)
        for (int column = threadIdx.x; column < 34; column += 32) {
            int from_x = min(max(int(blockIdx.x * 32) + column - 1, 0), width - 1);
            int from_y = min(max(int(blockIdx.y * 8) + row - 1, 0), height - 1);
            tile[row][column] = in[from_y * width + from_x];
        }
    __syncthreads();
    if (x >= width || y >= height) return;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    float mean = 0.25f * ((tile[ty - 1][tx] + tile[ty + 1][tx]) + (tile[ty][tx - 1] + tile[ty][tx + 1]));
    out[y * width + x] = edge ? tile[ty][tx] : mean;
}

/// A sparse matrix (CSR) times a vector, a warp for each row.
extern "C" __global__ void spmv(const int *starts, const int *columns, const double *values, const double *x, double *y,
                                int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane == 0) y[row] = sum;
}

/// `c = a b` by 16 × 16 tiles; edges may be anywhere.
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float of_a[16][16], of_b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < k; start += 16) {
        int across = start + threadIdx.x, down = start + threadIdx.y;
        of_a[threadIdx.y][threadIdx.x] = row < m && across < k ? a[row * k + across] : 0;
        of_b[threadIdx.y][threadIdx.x] = column < n && down < k ? b[down * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += of_a[threadIdx.y][i] * of_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

/// `c = a b` in double precision, 4 × 4 results in a thread's registers. Sizes are multiples of 4.
extern "C" __global__ void gemm_registers(const double *a, const double *b, double *c, int n) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 4, column = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (row >= n || column >= n) return;
    double sum[4][4] = {};
    for (int k = 0; k < n; ++k) {
        double2 left = *reinterpret_cast<const double2 *>(&b[k * n + column]);
        double2 right = *reinterpret_cast<const double2 *>(&b[k * n + column + 2]);
        for (int i = 0; i < 4; ++i) {
            double x = a[(row + i) * n + k];
            sum[i][0] += x * left.x;
            sum[i][1] += x * left.y;
            sum[i][2] += x * right.x;
            sum[i][3] += x * right.y;
        }
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) c[(row + i) * n + column + j] = sum[i][j];
}

/// Dot products of rows of signed bytes, four at a time.
extern "C" __global__ void dot_bytes(const int *a, const int *b, int *out, int rows, int words) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int sum = 0;
    for (int i = 0; i < words; ++i) sum = __dp4a(a[row * words + i], b[row * words + i], sum);
    out[row] = sum;
}

__constant__ float TAPS[7] = {-0.125f, 0.25f, 0.5f, 1.0f, 0.5f, 0.25f, -0.125f};

/// A filter whose coefficients lie in constant memory.
extern "C" __global__ void convolve(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int tap = 0; tap < 7; ++tap) {
        int from = i + tap - 3;
        if (from >= 0 && from < n) sum += TAPS[tap] * in[from];
    }
    out[i] = sum;
}

/// Shortest ways through one vertex more (Floyd and Warshall).
extern "C" __global__ void shortest(int *distances, int n, int through) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    int way = __viaddmin_s32(distances[i / n * n + through], distances[through * n + i % n], distances[i]);
    if (i / n != through && i % n != through) distances[i] = way;
}
