// Structs whose members are all Rust fields.
#include "given.cuh"

namespace geometry {
struct Point {
    float x, y;
};
} // namespace geometry

struct Mixed {
    char tag;
    double weight;
    int counts[3];
    bool flag;
    geometry::Point at;
};
struct Ordered {
    float scale;
    long long count;
    float offset;
};
struct __align__(16) Aligned {
    float x;
    __align__(8) short y;
};
struct alignas(128) Line {
    int at;
};
#pragma pack(push, 1)
struct Packed {
    char tag;
    double value;
    short tail;
};
#pragma pack(pop)
struct Empty {};
struct Meshes {
    geometry::Point points[2][3];
    Mixed parts[2];
    Empty nothing;
    unsigned char last;
};
template <class T, int N> struct Params {
    T data[N];
    int length;
};
struct Base {
    int base;
    char small;
};
struct Derived : Base, Empty {
    char own;
    double last;
};
class Private {
    short hidden;
    geometry::Point point;

  public:
    int seen;
    __device__ short get() const { return hidden; }
    __device__ geometry::Point at() const { return point; }
};
struct Vectors {
    char tag;
    float3 three;
    float4 four;
    uchar2 two;
};
struct Addresses {
    const float *in;
    float *out[2];
    void (*call)(int);
    int last;
};
struct Float3s {
    float3 a;
    double d;
    float3 b;
};

GIVEN(point, geometry::Point, value.x, value.y)
GIVEN(mixed, Mixed, value.tag, value.weight, value.counts, value.flag, value.at)
GIVEN(ordered, Ordered, value.scale, value.count, value.offset)
GIVEN(aligned, Aligned, value.x, value.y)
GIVEN(line, Line, value.at)
GIVEN(packed, Packed, value.tag, value.value, value.tail)
GIVEN(empty, Empty)
GIVEN(meshes, Meshes, value.points, value.parts[1].at, value.last)
using Params64 = Params<float, 64>;
GIVEN(params64, Params64, value.data, value.length)
GIVEN(derived, Derived, value.base, value.small, value.own, value.last)
GIVEN(private_, Private, value.get(), value.at(), value.seen)
GIVEN(vectors_, Vectors, value.tag, value.three, value.four, value.two)
GIVEN(addresses, Addresses, value.in, value.out, value.call, value.last)
GIVEN(float3s, Float3s, value.a, value.d, value.b)

/// A struct between others, and behind a pointer.
extern "C" __global__ void between(float first, Ordered value, bool flag, const Mixed *in, Mixed *out) {
    out[0] = in[1];
    out[1] = {char(first), value.scale, {int(value.count), int(value.offset), 0}, flag, {}};
}
