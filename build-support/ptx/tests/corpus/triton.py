# triton.ptx: Triton 3.6, target ("cuda", 90, 32), B=128, debug=True.
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.device_assert(v < 10, "too big")
    tl.store(y + i, v + 1, mask=i < n)
