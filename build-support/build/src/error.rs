//! How errors are shown, with what caused them.

use std::error::Error;

/// An error and its causes, in cargo's form.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    if cause.is_some() {
        text.push_str("\n\nCaused by:");
    }
    while let Some(error) = cause {
        text.push_str(&format!("\n  {}", error.to_string().replace('\n', "\n  ")));
        cause = error.source();
    }
    text
}
