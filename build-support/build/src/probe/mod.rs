//! Questions to the compiler about types, as text behind the preprocessed source.
//!
//! Each question is a line of C++ that defines variables with a type's name or a struct's layout for a
//! value; the compiler prints them into the PTX. Nothing of it is code, so kernels stay what they are.
//!
//! Which question is worth asking is decided in `ask`, its text is in `text`, what came back is read in
//! `answer`.

mod answer;
mod ask;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use crate::source::Declarations;

pub use answer::{Answers, InstanceAnswer, Layout, LayoutField};
use ask::Asked;

/// The file that a compiler's message about a question names.
pub const FILE: &str = "gpuk-probe";

/// What the names of all the probe's variables start with.
pub const PREFIX: &str = "__gpuk_probe_";

/// Questions about the declarations of one source.
#[derive(Debug, Clone)]
pub struct Probe {
    questions: Vec<Asked>,
    text: String,
}

impl Probe {
    /// Asks for the types of kernels, and for the layout of the structs they mention.
    pub fn new(declarations: &Declarations) -> Self {
        Self::of(ask::questions(declarations))
    }

    fn of(questions: Vec<Asked>) -> Self {
        let text = text::text(&questions);
        Self { questions, text }
    }

    /// What to append to the preprocessed source; empty if there is nothing to ask.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The probe without the questions on some lines (from 1) of [`FILE`], where the compiler found errors.
    ///
    /// A line that is no question's takes all questions with it: the compiler cannot take any.
    #[must_use]
    pub fn without(&self, lines: &[u32]) -> Self {
        let common = |line: u32| line <= text::COMMON_LINES;
        if lines.iter().any(|&line| common(line)) {
            return Self::of(Vec::new());
        }
        let kept = self.questions.iter().zip(text::COMMON_LINES + 1..);
        let kept = kept.filter(|(_, line)| !lines.contains(line));
        Self::of(kept.map(|(question, _)| question.clone()).collect())
    }

    /// Reads what the compiler put into the variables, given by name.
    pub fn answers(
        &self,
        declarations: &Declarations,
        variables: &BTreeMap<String, Vec<u8>>,
    ) -> Answers {
        let mut answers = Answers::default();
        for asked in &self.questions {
            // A variable that is not there, or not readable, is a question without an answer.
            let _ = answers.take(asked, declarations, variables);
        }
        answers
    }
}
