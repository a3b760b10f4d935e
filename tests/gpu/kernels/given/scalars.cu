// Numbers.
#include "given.cuh"
#include <cstddef>
#include <cstdint>

using u128 = unsigned __int128;

GIVEN(boolean, bool)
GIVEN(plain_char, char)
GIVEN(signed_char, signed char)
GIVEN(unsigned_char, unsigned char)
GIVEN(short_, short)
GIVEN(unsigned_short, unsigned short)
GIVEN(int_, int)
GIVEN(unsigned_int, unsigned)
GIVEN(long_, long)
GIVEN(unsigned_long, unsigned long)
GIVEN(long_long, long long)
GIVEN(unsigned_long_long, unsigned long long)
GIVEN(int128, __int128)
GIVEN(unsigned_int128, u128)
GIVEN(float_, float)
GIVEN(double_, double)
GIVEN(wide_char, wchar_t)
GIVEN(utf16, char16_t)
GIVEN(utf32, char32_t)
GIVEN(std_byte, std::byte)
GIVEN(size, size_t)
GIVEN(fixed, int64_t)
