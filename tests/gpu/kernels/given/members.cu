// Structs with members that are no Rust fields.
#include "given.cuh"

union Number {
    int i;
    float f;
    double d;
    unsigned char bytes[12];
};
struct Tagged {
    short tag;
    Number number;
};
struct Anonymous {
    int kind;
    union {
        long long whole;
        struct {
            float low, high;
        };
    };
    struct {
        char p, q;
    };
    char last;
};
enum class Mode : unsigned char { Off, On, Auto };
struct Bits {
    float scale;
    unsigned a : 3, b : 5;
    int c : 12;
    unsigned : 4;
    long long big : 40;
    bool on : 1;
    Mode mode : 2;
    double last;
};
class Secret {
    unsigned a : 3;

  public:
    unsigned b : 3;
    int c;
    __device__ unsigned get() const { return a; }
};
class Hidden {
    int x;

  protected:
    __device__ int get() const { return x; }
};
struct Inherits : private Hidden {
    short own;
    __device__ int base() const { return get(); }
};
struct Unnamed {
    struct {
        int x, y;
    } at;
    enum { left, right } side;
    char last;
};
template <class T> struct Box {
    T x;
};
template <> struct Box<int> {
    int y;
    char z;
};
struct Unmade {
    int x : 4;
    int y;
    __device__ Unmade(int v) : x(v), y(v) {}
};
struct Tail {
    int count;
    float data[];
};

GIVEN(number, Number, value.d)
GIVEN(tagged, Tagged, value.tag, value.number.f)
GIVEN(anonymous, Anonymous, value.kind, value.low, value.high, value.p, value.q, value.last)
GIVEN(bits, Bits, value.scale, value.a, value.b, value.c, value.big, value.on, value.mode, value.last)
GIVEN(secret, Secret, value.get(), value.b, value.c)
GIVEN(inherits, Inherits, value.base(), value.own)
GIVEN(unnamed, Unnamed, value.at, value.side, value.last)
GIVEN(specialized, Box<int>, value.y, value.z)
GIVEN(unmade, Unmade, value.x, value.y)
GIVEN(tail, Tail, value.count)
