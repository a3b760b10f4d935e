//! Rewriting: edits of a text by place. What no edit touches stays as it is, byte for byte.

use crate::span::Span;

/// Edits that cannot be made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Two edits want the same bytes.
    #[error("two edits overlap at byte {at}")]
    Overlap {
        /// The first byte that both want.
        at: usize,
    },
    /// An edit lies outside of the text, or splits a character.
    #[error("an edit at bytes {} to {} does not fit the text", span.start, span.end)]
    Outside {
        /// Where the edit is.
        span: Span,
    },
}

/// A list of edits of one text.
#[derive(Debug, Clone, Default)]
pub struct Edits {
    edits: Vec<(Span, String)>,
}

impl Edits {
    /// No edits.
    #[must_use]
    pub const fn new() -> Self {
        Self { edits: Vec::new() }
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Puts `text` before the byte `at`. Several insertions at one place stay in the order they were made.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.edits.push((Span::new(at, at), text.into()));
    }

    /// Puts `text` in the place of `span`.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.edits.push((span, text.into()));
    }

    /// Removes `span`.
    pub fn delete(&mut self, span: Span) {
        self.edits.push((span, String::new()));
    }

    /// Makes all edits.
    ///
    /// # Errors
    ///
    /// If two edits overlap or one does not fit `text`.
    pub fn apply(&self, text: &str) -> Result<String, EditError> {
        let mut edits: Vec<_> = self.edits.iter().collect();
        // Stable, so insertions keep their order; an insertion comes before what replaces the same place.
        edits.sort_by_key(|(span, _)| *span);
        let mut edited = String::with_capacity(text.len());
        let mut done = 0;
        for (span, new) in edits {
            if span.start < done {
                return Err(EditError::Overlap { at: span.start });
            }
            let outside = EditError::Outside { span: *span };
            let kept = text.get(done..span.start).ok_or(outside)?;
            text.get(span.range()).ok_or(outside)?;
            edited.push_str(kept);
            edited.push_str(new);
            done = span.end;
        }
        let kept = text.get(done..).ok_or(EditError::Outside {
            span: Span::new(done, done),
        })?;
        edited.push_str(kept);
        Ok(edited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untouched_bytes_stay() {
        let mut edits = Edits::new();
        edits.delete(Span::new(4, 6));
        edits.insert(0, "<");
        edits.replace(Span::new(1, 3), "XYZ");
        edits.insert(1, "a");
        edits.insert(1, "b");
        assert_eq!(edits.apply("0123456789").unwrap(), "<0abXYZ36789");
        assert_eq!(Edits::new().apply("µ").unwrap(), "µ");
    }

    #[test]
    fn clashing_edits_are_refused() {
        let mut edits = Edits::new();
        edits.delete(Span::new(2, 5));
        edits.insert(4, "x");
        assert_eq!(edits.apply("0123456789"), Err(EditError::Overlap { at: 4 }));
        let mut edits = Edits::new();
        edits.insert(1, "x");
        assert!(edits.apply("µ").is_err());
        let mut edits = Edits::new();
        edits.delete(Span::new(1, 12));
        assert!(edits.apply("0123456789").is_err());
    }
}
