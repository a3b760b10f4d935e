//! Why a launch does not fit its kernel's annotations.

use std::fmt;

use thiserror::Error;

/// Why a launch does not fit its kernel's annotations.
#[derive(Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are what the messages say")]
#[non_exhaustive]
pub enum ExtentError {
    /// The kernel would access more than is there.
    #[error(
        "`{buffer}` {}, but `{written}` = {needed}{numbers}",
        has(*.is_null, *.items)
    )]
    Short {
        buffer: &'static str,
        is_null: bool,
        items: usize,
        written: &'static str,
        needed: usize,
        numbers: Numbers,
    },

    /// A negative number of items, elements, blocks, threads or bytes.
    #[error("{} is {value}{numbers}", expression(.of, .written))]
    Negative {
        /// The buffer, or the part of the launch.
        of: &'static str,
        written: &'static str,
        value: i128,
        numbers: Numbers,
    },

    /// More than a machine can have.
    #[error("{} is more than 64 bits hold{numbers}", expression(.of, .written))]
    Overflow {
        of: &'static str,
        written: &'static str,
        numbers: Numbers,
    },

    /// A division by zero.
    #[error("{} divides by zero{numbers}", expression(.of, .written))]
    Division {
        of: &'static str,
        written: &'static str,
        numbers: Numbers,
    },

    /// Of an [`Address`](crate::Address) only the caller can say how much there is.
    #[error(
        "`{of}` comes from the length of `{buffer}`, which is not known; say it with `Address::items`"
    )]
    NoLength {
        buffer: &'static str,
        of: &'static str,
    },

    /// One number cannot be two lengths.
    #[error(
        "`{value}` is the length of `{}` and of `{}`, which have {} and {} items",
        .buffers[0], .buffers[1], .items[0], .items[1]
    )]
    Disagree {
        value: &'static str,
        buffers: [&'static str; 2],
        items: [usize; 2],
    },

    /// The kernel takes the length as a number with fewer bits.
    #[error(
        "`{buffer}` has {items} items, more than the {bits} bits of `{value}` hold, which is its length"
    )]
    TooLong {
        value: &'static str,
        buffer: &'static str,
        items: usize,
        bits: usize,
    },

    /// Memory cannot be allocated for good while a graph is recorded.
    #[error(
        "`{buffer}` cannot be allocated while the stream is captured into a graph; \
         allocate it before and pass it to `{kernel}_into`"
    )]
    Capturing {
        buffer: &'static str,
        kernel: &'static str,
    },
}

/// What an expression was computed from, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers(pub(crate) Vec<(String, i128)>);

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(f, "{before}{name} = {value}")?;
        }
        f.write_str(if self.0.is_empty() { "" } else { ")" })
    }
}

fn has(is_null: bool, items: usize) -> String {
    match (is_null, items) {
        (true, _) => "is null".to_owned(),
        (false, 1) => "has 1 item".to_owned(),
        (false, items) => format!("has {items} items"),
    }
}

fn expression(of: &str, written: &str) -> String {
    match written {
        "" => format!("`{of}` of the launch"),
        written => format!("`{written}`, the extent of `{of}`,"),
    }
}
