//! Questions to the compiler about types, as text behind the preprocessed source.
//!
//! Each question is a line of C++ that defines variables with a type's name or a struct's layout for a
//! value; the compiler prints them into the PTX. Nothing of it is code, so kernels stay what they are.
//!
//! Which question is worth asking is decided in `ask`, with `resolve` to tell what a name means; its text is
//! in `text`, what came back is read in `answer`.

mod answer;
mod ask;
mod parted;
mod resolve;
mod text;

use std::collections::BTreeMap;

use crate::source::Declarations;

pub(crate) use answer::{Answers, EnumAnswer, InstanceAnswer, Layout, LayoutField};
use ask::Asked;
pub(crate) use parted::parted;

/// The file that a compiler's message about a question names.
pub(crate) const FILE: &str = "gpuk-probe";

/// What the names of all the probe's variables start with.
pub(crate) const PREFIX: &str = "__gpuk_probe_";

/// The lines of [`FILE`] that a compiler's messages blame, also at the end of a chain of instantiations: an
/// answer may need a class to be instantiated that cannot be.
pub(crate) fn blamed(messages: &str) -> Vec<u32> {
    let mut lines = Vec::new();
    for (at, _) in messages.match_indices(FILE) {
        let (before, after) = (&messages[..at], &messages[at + FILE.len()..]);
        // `gpuk-probe(12): error`, or `at line 12 of gpuk-probe`.
        let behind = after
            .strip_prefix('(')
            .and_then(|rest| rest.split(')').next());
        let ahead = before
            .strip_suffix(" of ")
            .or(before.strip_suffix(" of \""))
            .and_then(|rest| rest.rsplit(' ').next());
        lines.extend(
            behind
                .or(ahead)
                .and_then(|digits| digits.parse::<u32>().ok()),
        );
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Questions about the declarations of one source.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    questions: Vec<Asked>,
    text: String,
}

impl Probe {
    /// Asks for the types of kernels, and for the layout of the structs they mention.
    pub(crate) fn new(declarations: &Declarations) -> Self {
        Self::of(ask::questions(declarations))
    }

    /// Asks for the types of functions of the host, and for the layout of the structs they mention.
    pub(crate) fn of_functions(declarations: &Declarations) -> Self {
        Self::of(ask::of_functions(declarations))
    }

    /// Asks for nothing.
    pub(crate) fn none() -> Self {
        Self::of(Vec::new())
    }

    fn of(questions: Vec<Asked>) -> Self {
        let text = text::text(&questions);
        Self { questions, text }
    }

    /// What to append to the preprocessed source; empty if there is nothing to ask.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The probe without the questions on some lines (from 1) of [`FILE`], where the compiler found errors.
    ///
    /// A line that is no question's takes all questions with it: the compiler cannot take any.
    #[must_use]
    pub(crate) fn without(&self, lines: &[u32]) -> Self {
        let common = |line: u32| line <= text::COMMON_LINES;
        if lines.iter().any(|&line| common(line)) {
            return Self::of(Vec::new());
        }
        let kept = self.questions.iter().zip(text::COMMON_LINES + 1..);
        let kept = kept.filter(|(_, line)| !lines.contains(line));
        Self::of(kept.map(|(question, _)| question.clone()).collect())
    }

    /// Reads what the compiler put into the variables, given by name.
    pub(crate) fn answers(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn probe() -> Probe {
        let source = "struct P { int x; };\n\
            extern \"C\" __attribute__((global)) void f(P p) {}\n\
            __attribute__((global)) void g(int) {} __attribute__((global)) void g(float) {}\n";
        Probe::new(&Declarations::read(source))
    }

    fn lines(probe: &Probe) -> Vec<&str> {
        let questions = probe.text().lines().skip(2 + text::COMMON_LINES as usize);
        questions.collect()
    }

    #[test]
    fn overloads_are_not_asked_for() {
        let probe = probe();
        let [kernel, layout] = lines(&probe)[..] else {
            panic!("{}", probe.text())
        };
        assert!(kernel.contains("decltype(&::f)"));
        assert!(layout.contains("__builtin_offsetof(::P, x)"));
    }

    #[test]
    fn what_is_named_is_asked_for_before_what_an_instance_could_take() {
        let many: String = (0..400)
            .map(|n| format!("struct S{n} {{ int x; }};"))
            .collect();
        let source = format!(
            "struct P {{ int x; }}; {many} struct Q {{ int x; }};\n\
            template <class T> __attribute__((global)) void f(P p, T t) {{}} __attribute__((device)) Q q;"
        );
        let probe = Probe::new(&Declarations::read(&source));
        for name in ["P", "Q"] {
            assert!(probe.text().contains(&format!("offsetof(::{name}, x)")));
        }
    }

    #[test]
    fn a_question_is_taken_back_by_its_line() {
        let probe = probe();
        let all = lines(&probe);
        let fewer = probe.without(&[text::COMMON_LINES + 1]);
        assert_eq!(lines(&fewer), all[1..]);
        assert_eq!(fewer.without(&[text::COMMON_LINES + 1]).text(), "");
        assert_eq!(probe.without(&[2]).text(), "");
    }

    #[test]
    fn messages_blame_lines() {
        let messages = "bad.cu(1): error: static assertion failed\n  detected during:\n\
            instantiation of class \"Never<T> [with T=float]\" at line 2\n\
            instantiation of class \"Deep<T> [with T=float]\" at line 10 of gpuk-probe\n\
            gpuk-probe(9): error: x\ngpuk-probe(10): error: y\ngpuk-probe is not a line";
        assert_eq!(blamed(messages), [9, 10]);
        assert!(blamed("k.cu(3): error: at line 4 of k.cu").is_empty());
    }

    #[test]
    fn what_is_no_answer_is_none() {
        let source = "struct P { int x; };\nextern \"C\" __attribute__((global)) void f(P p) {}";
        let declarations = Declarations::read(source);
        let probe = Probe::new(&declarations);
        let text = |list: &str| {
            format!("constexpr auto t() [with T = __gpuk_probe::list<{list}>]\0").into_bytes()
        };
        let numbers = |all: &[u64]| all.iter().flat_map(|number| number.to_le_bytes()).collect();
        let good: [(&str, Vec<u8>); 3] = [
            ("__gpuk_probe_0_types", text("void (*)(P)")),
            ("__gpuk_probe_1_types", text("P, int")),
            ("__gpuk_probe_1_numbers", numbers(&[4, 4, 1, 0, 0, 4, 4])),
        ];
        let answers = |variables: &[(&str, Vec<u8>)]| {
            let named = variables
                .iter()
                .map(|(name, bytes)| ((*name).to_owned(), bytes.clone()));
            probe.answers(&declarations, &named.collect())
        };
        let all = answers(&good);
        assert_eq!(all.kernels[&0].len(), 1);
        assert_eq!(all.layouts["P"].fields[0].ty.to_string(), "int");
        let bad: [Vec<u8>; 5] = [
            Vec::new(),
            vec![0xff, 0xfe],
            text("lambda []()"),
            text("Q, int"),
            text("P"),
        ];
        for bytes in bad {
            let mut variables = good.clone();
            variables[1].1 = bytes;
            assert!(answers(&variables).layouts.is_empty());
            variables[1] = good[1].clone();
            variables[2].1 = numbers(&[4, 4, 1, 0, 0, 4]);
            assert!(answers(&variables).layouts.is_empty());
        }
    }
}
