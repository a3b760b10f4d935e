//! What the targets share: mutations that keep words whole.
//!
//! Bytes that change one at a time seldom come past the lexer, so that half of all mutations move, drop, double and
//! replace words and lines of the text.

/// A generator is enough; the seed is the fuzzer's.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// Words that numbers and names are replaced with.
const WORDS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "4294967295",
    "18446744073709551616",
    "0x",
    "0f7F800000",
    "%r1",
    "%p1",
    "%rd1",
    "{",
    "}",
    ";",
    "_",
    ".b64",
    "WARP_SZ",
];

/// Changes `data[..size]` within `max`: the new size.
pub fn mutate(data: &mut [u8], size: usize, max: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed) << 1 | 1);
    for _ in 0..3 {
        random.below(1);
    }
    let text = std::str::from_utf8(&data[..size]).ok();
    let Some(text) = text.filter(|text| !text.is_empty() && random.below(2) == 0) else {
        return libfuzzer_sys::fuzzer_mutate(data, size, max);
    };
    let mut parts = match random.below(2) {
        0 => words(text),
        _ => text.split_inclusive('\n').collect(),
    };
    for _ in 0..1 + random.below(4) {
        let (from, to) = (random.below(parts.len()), random.below(parts.len()));
        match random.below(6) {
            0 => parts[to] = parts[from],
            1 => parts.swap(from, to),
            2 => parts[to] = "",
            3 => parts.insert(to, parts[from]),
            4 => drop(parts.drain(to..(to + 1 + random.below(8)).min(parts.len() - 1).max(to))),
            _ => parts[to] = WORDS[random.below(WORDS.len())],
        }
    }
    let text = parts.concat();
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    data[..end].copy_from_slice(&text.as_bytes()[..end]);
    end
}

/// The words of a text, with what stands between them.
fn words(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let (mut start, mut inside) = (0, false);
    for (at, c) in text.char_indices() {
        let word = c.is_alphanumeric() || "%_$".contains(c);
        if at > start && (word != inside || !word) {
            list.push(&text[start..at]);
            start = at;
        }
        inside = word;
    }
    list.push(&text[start..]);
    list
}
