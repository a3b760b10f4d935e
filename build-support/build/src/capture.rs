//! GPUK0008: what the compiler says inside `gpuk.cuh` about a captured value, told at the check.
//!
//! The header's templates take no pointer, no string and nothing that is not a number. EDG places such an error in
//! the header and names the check last, below "detected during"; several errors can be about one check.

use gpuk_device::HEADER_NAME;

use crate::diagnostic::{Code, Diagnostic, Place};

/// Puts one finding in the place of all that are about one check.
pub(crate) fn retell(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut retold: Vec<Diagnostic> = Vec::new();
    for finding in findings {
        let Some(capture) = capture(&finding) else {
            retold.push(finding);
            continue;
        };
        let known = |told: &Diagnostic| told.code == capture.code && told.labels == capture.labels;
        if !retold.iter().any(known) {
            retold.push(capture);
        }
    }
    retold
}

fn capture(finding: &Diagnostic) -> Option<Diagnostic> {
    let header = &finding.labels.first()?.place.file;
    if header.file_name()? != HEADER_NAME {
        return None;
    }
    let mut notes = finding.notes.iter();
    let check = notes.find(|note| note.contains("gpuk::detail::fail("))?;
    let (_, place) = check.rsplit_once(" at line ")?;
    let (line, file) = place.split_once(" of ")?;
    let place = Place::line(file.trim_matches('"'), line.parse().ok()?);
    let types = check.rsplit_once("[with T=<")?.1.rsplit_once(">]")?.0;
    let (message, help) = match finding.message.split_once("\"gpuk: ") {
        Some((_, said)) if said.starts_with("a check captures at most") => (
            "a check captures more than eight values".to_owned(),
            "leave out some, or divide the check",
        ),
        _ => {
            let captured = finding.notes.iter().find_map(|note| {
                let (_, with) = note.split_once("gpuk::detail::other<")?;
                Some(with.rsplit_once("[with T=")?.1.rsplit_once(']')?.0)
            });
            wrong(captured.unwrap_or(types))
        }
    };
    let label = format!("its values have the types `{types}`");
    let told = Diagnostic::error(Code::CAPTURE_NOT_A_NUMBER, message);
    Some(told.at(place, label).help(help))
}

fn wrong(captured: &str) -> (String, &'static str) {
    let is = |what: &str| format!("a check captures a value of type `{captured}`, which is {what}");
    match captured.strip_suffix('*').map(str::trim_end) {
        Some("const char" | "char") => (
            is("a string"),
            "write the text into the message; strings do not leave the device",
        ),
        Some(_) => (
            is("a pointer"),
            "capture what it points to, or an index; an address means nothing on the host",
        ),
        None => (
            is("no number"),
            "capture its fields, or cast it to `int`, `float` or another number",
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::message::findings;

    /// What nvcc 13.0 says of a string, a struct and nine values; the source's excerpts are shortened.
    const OUTPUT: &str = r#"
/b/include/gpuk.cuh(82): error: static assertion failed with "gpuk: a pointer or string means nothing on the host; capture a number"
      static_assert(!is_pointer<T>::yes, "gpuk: …");
      ^
          detected during:
            instantiation of class "gpuk::detail::other<T, false> [with T=const char *]" at line 89
            instantiation of class "gpuk::detail::value<T> [with T=const char *]" at line 91
            instantiation of "unsigned long long gpuk::detail::bits(T) [with T=const char *]" at line 102
            instantiation of "void gpuk::detail::fail(const char *, const char *, T...) [with T=<int, const char *>]" at line 4 of kernels/a b.cu
            instantiation of "void user<T>(T) [with T=int]" at line 40

/b/include/gpuk.cuh(83): error: static assertion failed with "gpuk: a check captures numbers; cast this value to one"
      static_assert(sizeof(T) <= 4, "gpuk: …");
      ^
          detected during:
            instantiation of class "gpuk::detail::other<T, false> [with T=const char *]" at line 89
            instantiation of "void gpuk::detail::fail(const char *, const char *, T...) [with T=<int, const char *>]" at line 4 of kernels/a b.cu

/b/include/gpuk.cuh(86): error: no suitable conversion function from "Big" to "float" exists
          return value<float>::bits(static_cast<float>(v));
                                                       ^
          detected during:
            instantiation of "unsigned long long gpuk::detail::other<T, false>::bits(T) [with T=Big]" at line 91
            instantiation of "void gpuk::detail::fail(const char *, const char *, T...) [with T=<Big>]" at line 10 of kernels/a b.cu

/b/include/gpuk.cuh(101): error: static assertion failed with "gpuk: a check captures at most eight values"
      static_assert(sizeof...(T) <= 8, "gpuk: a check captures at most eight values");
      ^
          detected during instantiation of "void gpuk::detail::fail(const char *, const char *, T...) [with T=<int, int, int, int, int, int, int, int, int>]" at line 11 of kernels/a b.cu

kernels/a b.cu(20): error: identifier "y" is undefined

5 errors detected in the compilation of "kernels/a b.cu".
"#;

    #[test]
    fn each_check_is_told_once_and_at_its_line() {
        let told: Vec<_> = findings(OUTPUT, true)
            .iter()
            .map(crate::render::Render::short)
            .collect();
        insta::assert_debug_snapshot!(told, @r#"
        [
            "kernels/a b.cu:4: error[GPUK0008]: a check captures a value of type `const char *`, which is a string",
            "kernels/a b.cu:10: error[GPUK0008]: a check captures a value of type `Big`, which is no number",
            "kernels/a b.cu:11: error[GPUK0008]: a check captures more than eight values",
            "kernels/a b.cu:20: error: identifier \"y\" is undefined",
        ]
        "#);
    }
}
