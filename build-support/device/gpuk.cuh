// gpuk.cuh: checks whose failure is a value on the host.
//
//   GPUK_CHECK(i < n, "index {} of {}", i, n);     a failure is recorded and stops this thread
//   GPUK_EXPECT(x == x, "NaN at {}", i);           a failure is recorded and the thread goes on
//   GPUK_CHECK_BLOCK(ok, "{}", i);                 all threads of the block come to it and leave together if one fails
//   GPUK_CHECK_WARP(ok, "{}", i);                  the same of the threads of a warp
//   GPUK_DEBUG_CHECK, GPUK_DEBUG_EXPECT, GPUK_DEBUG_CHECK_BLOCK, GPUK_DEBUG_CHECK_WARP
//                                                  the same, and nothing at all unless GPUK_DEBUG_CHECKS is 1
//
//   GPUK_INSTANTIATE(scale<float>);                makes an instance of a kernel template, and so its wrapper
//
// The message is optional. Each {} takes one value: bool, char, an integer, float, double, or a type that
// converts to float (half); eight at most. Strings and formats never reach the device.
//
// Annotations say what a kernel's declaration does not. gpuk reads them; to any compiler they are nothing.
//
//   GPUK_IN(extent)      before a pointer parameter: the kernel reads so many items, expressed in other parameters
//   GPUK_OUT(extent)     it writes them all, and reads none before: the wrapper allocates them
//   GPUK_INOUT(extent)   it reads and writes them
//   GPUK_IN_OPT, GPUK_OUT_OPT, GPUK_INOUT_OPT
//                        the same, or the null pointer
//   GPUK_LAUNCH(block = 256, elements = n)
//                        before the kernel: how it is launched; also grid = (…, …), shared = bytes, block = auto
#pragma once

#ifdef GPUK_ANNOTATIONS // set where gpuk preprocesses
#define GPUK_DETAIL_ANNOTATION(...) __attribute__((__gpuk__(__VA_ARGS__)))
#else
#define GPUK_DETAIL_ANNOTATION(...)
#endif
#define GPUK_IN(...) GPUK_DETAIL_ANNOTATION("in", #__VA_ARGS__, __VA_ARGS__)
#define GPUK_OUT(...) GPUK_DETAIL_ANNOTATION("out", #__VA_ARGS__, __VA_ARGS__)
#define GPUK_INOUT(...) GPUK_DETAIL_ANNOTATION("inout", #__VA_ARGS__, __VA_ARGS__)
#define GPUK_IN_OPT(...) GPUK_DETAIL_ANNOTATION("in_opt", #__VA_ARGS__, __VA_ARGS__)
#define GPUK_OUT_OPT(...) GPUK_DETAIL_ANNOTATION("out_opt", #__VA_ARGS__, __VA_ARGS__)
#define GPUK_INOUT_OPT(...) GPUK_DETAIL_ANNOTATION("inout_opt", #__VA_ARGS__, __VA_ARGS__)
#define GPUK_LAUNCH(...) GPUK_DETAIL_ANNOTATION("launch", #__VA_ARGS__, __VA_ARGS__)

#ifndef GPUK_DEBUG_CHECKS
#define GPUK_DEBUG_CHECKS 0
#endif

#ifndef GPUK_CHECK_TRAP // set by the check mode `trap`: a failure is the driver's own assert
#define GPUK_CHECK_TRAP 0
#endif

#if defined(__CUDA_ARCH__)

// The driver's own, behind CUDA's `assert`.
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned int line,
                                        const char *function, decltype(sizeof(0)) char_size);

// Never defined: gpuk replaces each call in the PTX. A link error that names it means that the PTX did not
// go through gpuk.
extern "C" __device__ void __gpuk_fail(const char *site, unsigned long long types, unsigned long long v0,
                                       unsigned long long v1, unsigned long long v2, unsigned long long v3,
                                       unsigned long long v4, unsigned long long v5, unsigned long long v6,
                                       unsigned long long v7);

namespace gpuk {
namespace detail {

// Codes of gpuk-device's ValueType.
template <class T> struct value;
#define GPUK_DETAIL_INTEGER(type, type_code)                                                                 \
    template <> struct value<type> {                                                                         \
        static constexpr unsigned long long code = type_code;                                                \
        static __device__ __forceinline__ unsigned long long bits(type v) {                                  \
            return static_cast<unsigned long long>(static_cast<long long>(v));                               \
        }                                                                                                    \
    };
GPUK_DETAIL_INTEGER(bool, 1)
GPUK_DETAIL_INTEGER(char, 2)
GPUK_DETAIL_INTEGER(signed char, 3)
GPUK_DETAIL_INTEGER(short, 4)
GPUK_DETAIL_INTEGER(int, 5)
GPUK_DETAIL_INTEGER(long, sizeof(long) == 8 ? 6 : 5)
GPUK_DETAIL_INTEGER(long long, 6)
GPUK_DETAIL_INTEGER(unsigned char, 7)
GPUK_DETAIL_INTEGER(unsigned short, 8)
GPUK_DETAIL_INTEGER(unsigned int, 9)
GPUK_DETAIL_INTEGER(unsigned long, sizeof(long) == 8 ? 10 : 9)
GPUK_DETAIL_INTEGER(unsigned long long, 10)
#undef GPUK_DETAIL_INTEGER

template <> struct value<float> {
    static constexpr unsigned long long code = 11;
    static __device__ __forceinline__ unsigned long long bits(float v) {
        return static_cast<unsigned long long>(__float_as_uint(v));
    }
};
template <> struct value<double> {
    static constexpr unsigned long long code = 12;
    static __device__ __forceinline__ unsigned long long bits(double v) {
        return static_cast<unsigned long long>(__double_as_longlong(v));
    }
};

template <class T> struct is_pointer { static constexpr bool yes = false; };
template <class T> struct is_pointer<T *> { static constexpr bool yes = true; };

// An enumeration is its number; anything else is captured as a float, to which half types convert exactly.
template <class T, bool is_enum> struct other {
    static constexpr unsigned long long code = 6;
    static __device__ __forceinline__ unsigned long long bits(T v) {
        return static_cast<unsigned long long>(static_cast<long long>(v));
    }
};
template <class T> struct other<T, false> {
    static_assert(!is_pointer<T>::yes, "gpuk: a pointer or string means nothing on the host; capture a number");
    static_assert(sizeof(T) <= 4, "gpuk: a check captures numbers; cast this value to one");
    static constexpr unsigned long long code = 11;
    static __device__ __forceinline__ unsigned long long bits(T v) {
        return value<float>::bits(static_cast<float>(v));
    }
};
template <class T> struct value : other<T, __is_enum(T)> {};

template <class T> __device__ __forceinline__ unsigned long long bits(T v) { return value<T>::bits(v); }

// Of the threads that leave with others, those whose own condition holds are no failure.
__device__ __forceinline__ void leave() { asm volatile("exit;"); }

__device__ __forceinline__ void fail(const char *site) { __gpuk_fail(site, 0, 0, 0, 0, 0, 0, 0, 0, 0); }

template <class... T> struct types { static constexpr unsigned long long all = 0; };
template <class First, class... Rest> struct types<First, Rest...> {
    static constexpr unsigned long long all = value<First>::code | types<Rest...>::all << 4;
};

template <class... T> __device__ __forceinline__ void fail(const char *site, const char *, T... v) {
    static_assert(sizeof...(T) <= 8, "gpuk: a check captures at most eight values");
    const unsigned long long b[] = {bits(v)..., 0, 0, 0, 0, 0, 0, 0, 0};
    __gpuk_fail(site, types<T...>::all, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]);
}

} // namespace detail
} // namespace gpuk

#define GPUK_DETAIL_STRING_(x) #x
#define GPUK_DETAIL_STRING(x) GPUK_DETAIL_STRING_(x)
#define GPUK_DETAIL_FIRST(first, ...) first
#define GPUK_DETAIL_SITE(kind, cond, ...)                                                                    \
    kind "\x1f" __FILE__ "\x1f" GPUK_DETAIL_STRING(__LINE__) "\x1f" cond "\x1f" GPUK_DETAIL_FIRST(__VA_ARGS__, "")
#if GPUK_CHECK_TRAP
#define GPUK_DETAIL_CHECK(kind, cond, ...)                                                                   \
    do {                                                                                                     \
        if (!(cond)) __assertfail(#cond, __FILE__, __LINE__, __func__, sizeof(char));                        \
    } while (0)
#else
#define GPUK_DETAIL_CHECK(kind, cond, ...)                                                                   \
    do {                                                                                                     \
        if (!(cond)) ::gpuk::detail::fail(GPUK_DETAIL_SITE(kind, #cond, ##__VA_ARGS__), ##__VA_ARGS__);      \
    } while (0)
#endif

#define GPUK_DETAIL_TOGETHER(kind, all, cond, ...)                                                           \
    do {                                                                                                     \
        const bool gpuk_detail_holds = static_cast<bool>(cond);                                              \
        if (!all(gpuk_detail_holds)) {                                                                       \
            GPUK_DETAIL_HELD(kind, gpuk_detail_holds, cond, ##__VA_ARGS__);                                  \
            ::gpuk::detail::leave();                                                                         \
        }                                                                                                    \
    } while (0)
#if GPUK_CHECK_TRAP
#define GPUK_DETAIL_HELD(kind, holds, cond, ...)                                                             \
    do {                                                                                                     \
        if (!(holds)) __assertfail(#cond, __FILE__, __LINE__, __func__, sizeof(char));                       \
    } while (0)
#else
#define GPUK_DETAIL_HELD(kind, holds, cond, ...)                                                             \
    do {                                                                                                     \
        if (!(holds)) ::gpuk::detail::fail(GPUK_DETAIL_SITE(kind, #cond, ##__VA_ARGS__), ##__VA_ARGS__);     \
    } while (0)
#endif
#define GPUK_DETAIL_ALL_OF_BLOCK(holds) __syncthreads_and(holds)
#define GPUK_DETAIL_ALL_OF_WARP(holds) __all_sync(0xffffffffu, holds)

#else // the host pass sees the conditions, so that names are used, and checks nothing

#define GPUK_DETAIL_CHECK(kind, cond, ...)                                                                   \
    do {                                                                                                     \
        if (false) { (void)(cond); }                                                                         \
    } while (0)

#define GPUK_DETAIL_TOGETHER(kind, all, cond, ...) GPUK_DETAIL_CHECK(kind, cond, ##__VA_ARGS__)

#endif

#define GPUK_CHECK(cond, ...) GPUK_DETAIL_CHECK("check", cond, ##__VA_ARGS__)
#define GPUK_EXPECT(cond, ...) GPUK_DETAIL_CHECK("expect", cond, ##__VA_ARGS__)
#define GPUK_CHECK_BLOCK(cond, ...)                                                                          \
    GPUK_DETAIL_TOGETHER("check_block", GPUK_DETAIL_ALL_OF_BLOCK, cond, ##__VA_ARGS__)
#define GPUK_CHECK_WARP(cond, ...)                                                                           \
    GPUK_DETAIL_TOGETHER("check_warp", GPUK_DETAIL_ALL_OF_WARP, cond, ##__VA_ARGS__)

#if GPUK_DEBUG_CHECKS
#define GPUK_DEBUG_CHECK_BLOCK(cond, ...)                                                                    \
    GPUK_DETAIL_TOGETHER("debug_check_block", GPUK_DETAIL_ALL_OF_BLOCK, cond, ##__VA_ARGS__)
#define GPUK_DEBUG_CHECK_WARP(cond, ...)                                                                     \
    GPUK_DETAIL_TOGETHER("debug_check_warp", GPUK_DETAIL_ALL_OF_WARP, cond, ##__VA_ARGS__)
#define GPUK_DEBUG_CHECK(cond, ...) GPUK_DETAIL_CHECK("debug_check", cond, ##__VA_ARGS__)
#define GPUK_DEBUG_EXPECT(cond, ...) GPUK_DETAIL_CHECK("debug_expect", cond, ##__VA_ARGS__)
#else
#define GPUK_DEBUG_CHECK(...) ((void)0)
#define GPUK_DEBUG_EXPECT(...) ((void)0)
#define GPUK_DEBUG_CHECK_BLOCK(...) ((void)0)
#define GPUK_DEBUG_CHECK_WARP(...) ((void)0)
#endif

// The address makes the compiler emit the entry, in any namespace, without the signature once more; of overloaded
// templates, write `template __global__ void …;` out.
#define GPUK_INSTANTIATE(...) GPUK_DETAIL_INSTANTIATE(__COUNTER__, __VA_ARGS__)
#define GPUK_DETAIL_INSTANTIATE(number, ...) GPUK_DETAIL_INSTANCE(number, __VA_ARGS__)
#define GPUK_DETAIL_INSTANCE(number, ...)                                                                    \
    [[maybe_unused]] static decltype(&__VA_ARGS__) const gpuk_detail_instance_##number = &__VA_ARGS__
