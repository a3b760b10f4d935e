// Enums.
#include "given.cuh"

namespace modes {
enum class Rounding : signed char { Down = -1, Nearest, Up };
enum class Wide : unsigned long long { Most = ~0ull };
} // namespace modes
enum Flag { none, first = 1, second = 2, both = first | second };
typedef enum { red, green } Colour;
struct Shape {
    enum Kind : unsigned short { round, square = 0x1234 };
    Kind kind;
    modes::Rounding roundings[3];
    bool filled;
};

GIVEN(scoped, modes::Rounding)
GIVEN(wide, modes::Wide)
GIVEN(plain, Flag)
GIVEN(named_by_typedef, Colour)
GIVEN(nested, Shape::Kind)
GIVEN(shape, Shape, value.kind, value.roundings, value.filled)
