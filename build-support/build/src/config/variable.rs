//! Variables of the environment that go over what the manifests say.

use std::str::FromStr;

use crate::diagnostic::{Code, Diagnostic};
use crate::env::Env;

/// What a variable says; nothing where it is not set, or cannot be read, which goes to `findings`.
pub(super) fn read<T: FromStr<Err = &'static str>>(
    name: &str,
    env: &Env,
    findings: &mut Vec<Diagnostic>,
) -> Option<T> {
    let value = env.get(name)?.to_string_lossy();
    let read = value.parse().map_err(|expected| {
        let message = format!("`{name}` is `{value}`, not {expected}");
        let help = "unset it: then the manifest decides";
        findings.push(Diagnostic::error(Code::BAD_VALUE, message).help(help));
    });
    read.ok()
}
