//! Instances of kernel templates that the configuration asks for.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Place;
use crate::source::written_instance;

/// An entry of `instantiate`: `ns::scale<__half, 64>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instantiation {
    /// As written.
    pub text: String,
    /// The template's name, as far as written: `ns::scale`.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Where it is asked for.
    pub(crate) place: Option<Place>,
}

impl FromStr for Instantiation {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "an instance of a kernel template such as `scale<float>`";
        // It becomes a part of a declaration.
        let odd = |c: char| c.is_control() || ";{}#\\\"`$@".contains(c);
        if text.contains(odd) {
            return Err(EXPECTED);
        }
        let (name, args) = written_instance(text).ok_or(EXPECTED)?;
        Ok(Self {
            text: text.trim().to_owned(),
            name,
            args: args.ok_or(EXPECTED)?,
            place: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_read_as_cpp_writes_them() {
        let one: Instantiation = " ns::scale<std::pair<int, float>, (3 > 2)> "
            .parse()
            .unwrap();
        assert_eq!((&*one.name, one.args.len()), ("ns::scale", 2));
        for text in [
            "",
            "scale",
            "scale<float",
            "scale<float>>",
            "scale<>x",
            "a<b>; c",
            "2<float>",
            "scale<a>{}",
        ] {
            assert!(text.parse::<Instantiation>().is_err(), "{text}");
        }
    }
}
