//! Which checks an image was made with, told by the image itself.
//!
//! A record names a check by its number in the image's table, which the host has. So an image with checks carries a
//! hash of its table, in a variable of its own, and whoever loads it compares. The number of a check is its place in
//! the order of the PTX; what stays when others are added is its `site` hash.

use crate::abi::ValueType;

/// The variable's name.
pub const SYMBOL: &str = "__gpuk_table";

/// Bytes of the variable: [`MARK`], then how many checks, two `u32`; then the table's hash, a `u64`.
pub const SIZE: usize = 16;

/// What the variable begins with: the layout of the gate and the record, as a number that changes with it, and that
/// failed checks are recorded (`functional`), which is the one mode that needs a table.
pub const MARK: u32 = 0x6b75_7002;

/// FNV-1a, 64 bits: the same on every machine and in every version.
#[derive(Debug, Clone, Copy)]
struct Hash(u64);

impl Hash {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, step))
    }

    /// A text and what cannot stand in one, so that moving a letter to the next changes the hash.
    fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).bytes(&[0xff])
    }
}

/// What a check is.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// What it was written with, by the name of the run time's variant: `Check`.
    pub kind: &'a str,
    /// The device function it stands in; empty where that is the kernel itself.
    pub function: &'a str,
    /// The file, with `/`.
    pub file: &'a str,
    /// From 1.
    pub line: u32,
    /// The condition's text.
    pub condition: &'a str,
    /// The message.
    pub format: Option<&'a str>,
    /// Of the captured values.
    pub types: &'a [ValueType],
}

/// A call that a check was inlined through.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The device function that the call stands in; empty where that is the kernel itself.
    pub function: &'a str,
    /// The file, with `/`.
    pub file: &'a str,
    /// From 1; several where it is one of them.
    pub lines: &'a [u32],
}

/// The number of a check: the same as long as its source line says the same in the same place, whatever was inlined
/// where.
#[must_use]
pub fn id(site: &Site<'_>) -> u64 {
    place(site).0
}

/// The hash of an entry of the table, by all that it says.
#[must_use]
pub fn entry<'a>(site: &Site<'_>, calls: impl IntoIterator<Item = Call<'a>>) -> u64 {
    let hash = place(site).text(site.function);
    let calls = calls.into_iter().fold(hash, |hash, call| {
        let hash = hash.text(call.function).text(call.file);
        let lines = call.lines.iter();
        let hash = lines.fold(hash, |hash, line| hash.bytes(&line.to_le_bytes()));
        hash.bytes(&[0xff])
    });
    calls.0
}

fn place(site: &Site<'_>) -> Hash {
    let hash = Hash::new()
        .text(site.kind)
        .text(site.file)
        .bytes(&site.line.to_le_bytes())
        .text(site.condition)
        .bytes(&[site.format.is_some().into()])
        .text(site.format.unwrap_or_default());
    let types = site.types.iter();
    types.fold(hash, |hash, ty| hash.text(ty.as_str()))
}

/// The variable of an image whose checks have these hashes, in order.
#[must_use]
pub fn variable(sites: impl IntoIterator<Item = u64>) -> [u8; SIZE] {
    let (mut count, mut hash) = (0_u32, Hash::new());
    for site in sites {
        count += 1;
        hash = hash.bytes(&site.to_le_bytes());
    }
    let mut bytes = [0; SIZE];
    bytes[..4].copy_from_slice(&MARK.to_le_bytes());
    bytes[4..8].copy_from_slice(&count.to_le_bytes());
    bytes[8..].copy_from_slice(&hash.0.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: Site<'_> = Site {
        kind: "Check",
        function: "",
        file: "kernels/gather.cu",
        line: 14,
        condition: "k < rows",
        format: Some("row {}"),
        types: &[ValueType::I32],
    };

    #[test]
    fn the_hash_is_fnv_1a() {
        // Of the algorithm's authors' test suite.
        assert_eq!(Hash::new().bytes(b"").0, 0xcbf2_9ce4_8422_2325);
        assert_eq!(Hash::new().bytes(b"a").0, 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Hash::new().bytes(b"foobar").0, 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_part_of_a_check_and_their_order_count() {
        let others = [
            Site {
                kind: "Expect",
                ..SITE
            },
            Site {
                file: "kernels/gather.c",
                condition: "uk < rows",
                ..SITE
            },
            Site { line: 15, ..SITE },
            Site {
                condition: "k > rows",
                ..SITE
            },
            Site {
                format: Some("row {} "),
                ..SITE
            },
            Site {
                format: None,
                types: &[],
                ..SITE
            },
            Site {
                format: Some(""),
                types: &[],
                ..SITE
            },
            Site {
                types: &[ValueType::U32],
                ..SITE
            },
        ];
        let mut hashes: Vec<_> = others.iter().chain([&SITE]).map(id).collect();
        let forth = variable(hashes.iter().copied());
        hashes.reverse();
        assert_ne!(forth, variable(hashes.iter().copied()));
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), others.len() + 1);
    }

    #[test]
    fn what_is_inlined_where_is_of_the_table_and_not_of_the_check() {
        const CALL: Call<'_> = Call {
            function: "outer",
            file: "kernels/gather.cu",
            lines: &[33],
        };
        let within = Site {
            function: "f",
            ..SITE
        };
        assert_eq!(id(&within), id(&SITE));
        let others = [
            Call {
                function: "",
                ..CALL
            },
            Call {
                file: "kernels/other.cu",
                ..CALL
            },
            Call {
                lines: &[33, 34],
                ..CALL
            },
        ];
        let chains: [&[Call<'_>]; 7] = [
            &[],
            &[CALL],
            &[CALL, CALL],
            &[CALL, others[0]],
            &others[..1],
            &others[1..2],
            &others[2..],
        ];
        let hash = |site: &Site<'_>, calls: &[Call<'_>]| entry(site, calls.iter().copied());
        let mut hashes: Vec<_> = chains.iter().map(|calls| hash(&SITE, calls)).collect();
        hashes.push(hash(&within, &[]));
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 8);
    }

    #[test]
    fn the_variable_says_how_many() {
        let bytes = variable([1, 2, 3]);
        assert_eq!(bytes[..8], [2, 0x70, 0x75, 0x6b, 3, 0, 0, 0]);
    }
}
