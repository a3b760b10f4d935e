//! The structs: declarations in C++, and what can be said of their members in both languages.

use std::fmt::Write;

/// Structs that may be made of those before them.
pub(crate) struct Structs {
    pub(crate) all: Vec<Struct>,
}

pub(crate) struct Struct {
    pub(crate) name: String,
    /// Its definition.
    pub(crate) text: String,
    pub(crate) members: Vec<Member>,
    /// No less than its size, and its alignment.
    room: u64,
    align: u64,
}

/// A member that has a name and bits of its own.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    /// A field in Rust too.
    Field,
    /// Methods in Rust, and the value whose bits are all ones: in C++ where it is assigned, and in Rust.
    View {
        assigned: Option<&'static str>,
        ones: &'static str,
    },
}

/// Types with their size and alignment; those that are not bits alone at last.
const TYPES: [(&str, u64); 36] = [
    ("char", 1),
    ("signed char", 1),
    ("unsigned char", 1),
    ("short", 2),
    ("unsigned short", 2),
    ("int", 4),
    ("unsigned", 4),
    ("long", 8),
    ("unsigned long", 8),
    ("long long", 8),
    ("uint64_t", 8),
    ("size_t", 8),
    ("float", 4),
    ("double", 8),
    ("__half", 2),
    ("__nv_bfloat16", 2),
    ("char3", 3),
    ("uchar4", 4),
    ("short2", 4),
    ("ushort3", 6),
    ("int2", 8),
    ("uint3", 12),
    ("int4", 16),
    ("longlong2", 16),
    ("float1", 4),
    ("float2", 8),
    ("float3", 12),
    ("float4", 16),
    ("double2", 16),
    ("double3", 24),
    ("const float *", 8),
    ("void *", 8),
    ("int **", 8),
    ("bool", 1),
    ("Small", 1),
    ("Wide", 8),
];

/// How many of them are bits alone.
const BITS_ALONE: usize = 33;

/// What every file begins with.
pub(crate) const HEAD: &str = "#include <cstdint>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n\
    enum class Small : unsigned char { Zero, One };\nenum Wide : long long { Low = -1, High = 1ll << 40 };\n\
    struct Empty {};\n";

/// Bit-fields: type, the most bits, all ones in C++ and in Rust.
const BITS: [(&str, u64, &str, &str); 8] = [
    ("unsigned", 32, "~0u", "!0"),
    ("int", 32, "-1", "!0"),
    ("unsigned char", 8, "255", "!0"),
    ("short", 16, "-1", "!0"),
    ("unsigned long long", 64, "~0ull", "!0"),
    ("long long", 64, "-1", "!0"),
    ("bool", 1, "true", "true"),
    ("Small", 8, "Small(255)", "Small(!0)"),
];

/// No struct is larger, about.
const ROOM: u64 = 1024;

/// splitmix64
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % end
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

impl Structs {
    pub(crate) fn random(seed: u64, count: usize) -> Self {
        let mut random = Random(seed);
        let mut all: Vec<Struct> = Vec::new();
        for nth in 0..count {
            let mut made = Maker {
                random: &mut random,
                before: &all,
                text: String::new(),
                members: Vec::new(),
                room: 0,
                align: 1,
                at_most: 16,
            };
            let (head, tail) = made.frame(nth);
            let made = Struct {
                name: format!("S{nth}"),
                text: format!("{head}{}{tail}", made.text),
                members: made.members,
                room: made.room + made.align,
                align: made.align,
            };
            all.push(made);
        }
        Self { all }
    }
}

/// What is made of a struct so far.
struct Maker<'a> {
    random: &'a mut Random,
    before: &'a [Struct],
    text: String,
    members: Vec<Member>,
    room: u64,
    align: u64,
    /// Bytes that a member may align to: those that are packed cannot ask for more in Rust.
    at_most: u64,
}

impl Maker<'_> {
    /// Fills it; what stands before and behind its members.
    fn frame(&mut self, nth: usize) -> (String, String) {
        let name = format!("S{nth}");
        if self.random.one_in(8) {
            let count = 1 + self.random.below(4);
            self.shared(count);
            return (format!("union {name} {{\n"), "};\n".to_owned());
        }
        let (mut head, mut tail) = (format!("struct {name}"), "};\n".to_owned());
        match self.random.below(10) {
            0 => {
                let pack = 1 << self.random.below(3);
                head = format!("#pragma pack(push, {pack})\n{head}");
                tail += "#pragma pack(pop)\n";
                self.at_most = pack;
            }
            1 => {
                self.align = 1 << self.random.below(7);
                let word = ["alignas", "__align__"][self.random.below(2) as usize];
                // Less than its members ask for would be an error.
                self.align = self.align.max(16);
                head = head.replace(&name, &format!("{word}({}) {name}", self.align));
            }
            _ => {}
        }
        for _ in 0..1 + self.random.below(7) {
            self.member();
        }
        (format!("{head} {{\n"), tail)
    }

    fn name(&self) -> String {
        format!("m{}", self.members.len())
    }

    fn add(&mut self, kind: Kind, room: u64) {
        let name = self.name();
        self.members.push(Member { name, kind });
        self.room += room;
    }

    fn member(&mut self) {
        match self.random.below(12) {
            0 | 1 => self.bits(),
            2 => {
                self.text += "union {\n";
                let count = 1 + self.random.below(3);
                self.shared(count);
                self.text += "};\n";
            }
            3 => {
                self.text += "struct {\n";
                self.own();
                self.own();
                self.text += "};\n";
            }
            4 if self.random.one_in(2) => {
                let nth = self.text.len();
                writeln!(self.text, "Empty e{nth};").unwrap();
                self.room += 1;
            }
            _ => self.own(),
        }
    }

    /// A member with bytes of its own.
    fn own(&mut self) {
        let nested = self
            .before
            .iter()
            .filter(|it| it.room < 96 && it.align <= self.at_most);
        let nested: Vec<_> = nested
            .map(|it| (it.name.as_str(), it.room, it.align))
            .collect();
        let (ty, size, align) = match nested.is_empty() || !self.random.one_in(3) {
            true => {
                let (ty, size) = *self.random.of(&TYPES);
                (ty, size, 8)
            }
            false => *self.random.of(&nested),
        };
        let mut room = size;
        let mut name = self.name();
        for _ in 0..2 {
            if self.random.one_in(4) && room < 128 {
                let length = 1 + self.random.below(4);
                name += &format!("[{length}]");
                room *= length;
            }
        }
        if self.room + room + 64 > ROOM {
            return;
        }
        if self.at_most == 16 && self.random.one_in(8) {
            let asked = [16, 32][self.random.below(2) as usize].max(align);
            self.text += &format!("alignas({asked}) ");
            self.align = self.align.max(asked);
            room += asked;
        }
        self.align = self.align.max(align.min(self.at_most));
        writeln!(self.text, "{ty} {name};").unwrap();
        self.add(Kind::Field, room + 16);
    }

    fn bits(&mut self) {
        for _ in 0..1 + self.random.below(4) {
            let &(ty, most, assigned, ones) = self.random.of(&BITS);
            if self.random.one_in(8) {
                let width = self.random.below(most);
                writeln!(self.text, "{ty} : {width};").unwrap();
                self.room += 8;
            }
            let width = 1 + self.random.below(most);
            writeln!(self.text, "{ty} {} : {width};", self.name()).unwrap();
            let assigned = Some(assigned);
            self.add(Kind::View { assigned, ones }, 8);
        }
    }

    /// Members that share their bytes.
    fn shared(&mut self, count: u64) {
        for _ in 0..count {
            let (ty, size) = *self.random.of(&TYPES[..BITS_ALONE]);
            let mut room = size;
            let mut name = self.name();
            if self.random.one_in(3) {
                let length = 1 + self.random.below(4);
                name += &format!("[{length}]");
                room *= length;
            }
            writeln!(self.text, "{ty} {name};").unwrap();
            let (assigned, ones) = (None, "ones()");
            self.add(Kind::View { assigned, ones }, room + 16);
        }
    }
}
