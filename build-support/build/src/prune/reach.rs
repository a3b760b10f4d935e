//! Which parts stay: those that must, and those that declare what a part that stays names.

use super::split::{Headers, Part, words};

/// Names that the compiler looks for by itself: of the language, of `printf` and `assert`.
const BUILT_IN: [&str; 13] = [
    "__assertfail",
    "align_val_t",
    "dim3",
    "initializer_list",
    "nothrow_t",
    "nullptr_t",
    "partial_ordering",
    "ptrdiff_t",
    "size_t",
    "strong_ordering",
    "type_info",
    "uint3",
    "vprintf",
];

/// Those that it looks for where it reads a launch.
const OF_LAUNCHES: [&str; 8] = [
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "cudaConfigureCall",
    "cudaGetParameterBuffer",
    "cudaGetParameterBufferV2",
    "cudaLaunchDevice",
    "cudaLaunchDeviceV2",
    "cudaStream_t",
];

/// What stays of a text and of what stands behind it.
pub(super) struct Kept {
    pub(super) first: Vec<bool>,
    pub(super) second: Vec<bool>,
}

/// Follows the names from what must stay, and from `more`.
pub(super) fn reach(first: &Headers, second: &Headers, more: &str) -> Kept {
    let count = first.words.len() + second.words.len();
    let parts: Vec<&Part> = first.parts.iter().chain(&second.parts).collect();
    let mut declared = vec![Vec::new(); count];
    for (index, part) in parts.iter().enumerate() {
        for name in part.names.iter().flatten() {
            declared[*name as usize].push(index);
        }
    }
    let mut kept: Vec<_> = parts.iter().map(|part| part.names.is_none()).collect();
    let mut queue: Vec<_> = (0..parts.len()).filter(|index| kept[*index]).collect();
    let number = |word: &str| first.number(word).or_else(|| second.number(word));
    let launches = second.text.contains("<<<");
    let of_launches = OF_LAUNCHES.iter().filter(|_| launches);
    let built_in = BUILT_IN.iter().chain(of_launches);
    let built_in = built_in.filter_map(|word| number(word));
    let more = words(more);
    let more = more.iter().filter_map(|word| number(word));
    let mut named: Vec<_> = built_in.chain(more).collect();
    let mut seen = vec![false; count];
    loop {
        for word in named.drain(..) {
            if std::mem::replace(&mut seen[word as usize], true) {
                continue;
            }
            for index in &declared[word as usize] {
                if !std::mem::replace(&mut kept[*index], true) {
                    queue.push(*index);
                }
            }
        }
        match queue.pop() {
            Some(index) => named.extend_from_slice(&parts[index].uses),
            None => break,
        }
    }
    let second = kept.split_off(first.parts.len());
    Kept {
        first: kept,
        second,
    }
}
