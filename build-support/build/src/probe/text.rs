//! Questions as C++.

use std::fmt::Write;

use super::ask::{Asked, AskedField, Question};
use super::{FILE, PREFIX};
use crate::source::TemplateKind;

/// What questions are made of, a definition a line. C++14 and later; no header is used.
///
/// - `type_of<T>()`: its own name, in which the compiler prints `T`.
/// - `param<N, F>`: the type of a function's parameter. `bare<T>`: what is at the end of pointers and arrays.
/// - `of<M>`: the type of the member that a pointer points to. `object<T &>`: what a reference refers to.
/// - `rooms<F>`: size, alignment, and whether trivially copyable and polymorphic, of each parameter of a function.
/// - `member`: a pointer to a member that may not be named, as an explicit instantiation may do
///   ([temp.spec.general]/6).
const COMMON: &[&str] = &[
    "namespace __gpuk_probe { template <unsigned N> struct bytes { char at[N]; }; template <class...> struct list; template <class T, T V> struct value;",
    "template <class T> constexpr auto type_of() { constexpr unsigned N = sizeof(__PRETTY_FUNCTION__); bytes<N> b{}; for (unsigned i = 0; i < N; ++i) b.at[i] = __PRETTY_FUNCTION__[i]; return b; }",
    "template <unsigned N, class... P> struct nth; template <class T, class... P> struct nth<0, T, P...> { using type = T; }; template <unsigned N, class T, class... P> struct nth<N, T, P...> : nth<N - 1, P...> {};",
    "template <unsigned N, class F> struct param; template <unsigned N, class R, class... P> struct param<N, R (*)(P...)> : nth<N, P...> {};",
    "template <class T> struct bare { using type = T; }; template <class T> struct bare<const T> : bare<T> {}; template <class T> struct bare<volatile T> : bare<T> {}; template <class T> struct bare<const volatile T> : bare<T> {};",
    "template <class T> struct bare<T *> : bare<T> {}; template <class T> struct bare<T *const> : bare<T> {}; template <class T> struct bare<T &> : bare<T> {}; template <class T, class C> struct bare<T C::*> : bare<T> {}; template <class T, unsigned long long N> struct bare<T[N]> : bare<T> {}; template <class T, unsigned long long N> struct bare<const T[N]> : bare<T> {};",
    "template <class M> struct of; template <class T, class C> struct of<T C::*> { using type = T; }; template <class T> struct object; template <class T> struct object<T &> { using type = T; };",
    "template <class F> struct rooms; template <class R, class... P> struct rooms<R (*)(P...)> { unsigned long long at[4 * sizeof...(P) + 1]; constexpr rooms() : at{} { unsigned long long all[4][sizeof...(P) + 1] = {{sizeof(P)..., 0}, {alignof(P)..., 0}, {__is_trivially_copyable(P)..., 0}, {__is_polymorphic(P)..., 0}}; for (unsigned i = 0; i < 4 * sizeof...(P); ++i) at[i] = all[i % 4][i / 4]; } };",
    "template <unsigned N, unsigned M> struct tag { friend constexpr auto found(tag); }; template <class Tag, class M, M V> struct member { friend constexpr auto found(Tag) { return V; } }; }",
];

/// Lines of [`FILE`] before the first question.
pub(super) const COMMON_LINES: u32 = COMMON.len() as u32;

/// What defines a variable that lands in the PTX though nobody uses it.
const VARIABLE: &str = "extern \"C\" __attribute__((device)) __attribute__((used)) extern const";

/// The names of a question's variables.
pub(super) fn types_variable(number: usize) -> String {
    format!("{PREFIX}{number}_types")
}

pub(super) fn numbers_variable(number: usize) -> String {
    format!("{PREFIX}{number}_numbers")
}

pub(super) fn offset_variable(number: usize, field: usize) -> String {
    format!("{PREFIX}{number}_offset_{field}")
}

pub(super) fn bits_variable(number: usize, field: usize) -> String {
    format!("{PREFIX}{number}_bits_{field}")
}

/// The text of all questions, one a line.
///
/// The marker says that it is a system header (3), so that no flag makes an error of a warning in it.
pub(super) fn text(questions: &[Asked]) -> String {
    if questions.is_empty() {
        return String::new();
    }
    let mut text = format!("\n# 1 \"{FILE}\" 3\n");
    for line in COMMON {
        text += line;
        text.push('\n');
    }
    for asked in questions {
        text += &line(asked);
        text.push('\n');
    }
    text
}

fn line(asked: &Asked) -> String {
    let number = asked.number;
    match &asked.question {
        Question::Kernel {
            function,
            rooms: of,
            ..
        } => rooms(number, function, *of) + &types(number, &format!("decltype(&{function})")),
        Question::Instance {
            scope,
            function,
            args,
            rooms: of,
            ..
        } => {
            let mut list = vec![format!("decltype(&{function})")];
            list.extend(args.iter().map(|(kind, arg)| match kind {
                TemplateKind::Type => arg.clone(),
                TemplateKind::Value => format!("__gpuk_probe::value<decltype({arg}), ({arg})>"),
                TemplateKind::Template => "void".to_owned(),
            }));
            let rooms = rooms(number, function, *of);
            within(scope, &(rooms + &types(number, &list.join(", "))))
        }
        Question::Function { function, .. } => types(number, &format!("decltype(&{function})")),
        Question::Variable { ty, .. } => types(number, ty),
        Question::Enum { ty, values } => enumeration(number, ty, values),
        Question::Layout {
            scope, ty, fields, ..
        } => within(scope, &layout(number, ty, fields)),
        Question::Bits {
            scope, ty, fields, ..
        } => within(scope, &bits(number, ty, fields)),
    }
}

fn rooms(number: usize, function: &str, wanted: bool) -> String {
    let name = numbers_variable(number);
    match wanted {
        true => format!("{VARIABLE} auto {name} = __gpuk_probe::rooms<decltype(&{function})>(); "),
        false => String::new(),
    }
}

fn enumeration(number: usize, ty: &str, values: &[String]) -> String {
    let values: String = values
        .iter()
        .map(|value| format!(", (unsigned long long)({ty}::{value})"))
        .collect();
    let name = numbers_variable(number);
    format!("{VARIABLE} unsigned long long {name}[] = {{ sizeof({ty}){values} }}; ")
        + &types(number, &format!("{ty}, __underlying_type({ty})"))
}

/// A value of the struct for each bit-field, with all its bits set and those of the others clear.
///
/// What is `constexpr` but no literal type's has no such value: the compiler then refuses the question.
fn bits(number: usize, ty: &str, fields: &[String]) -> String {
    let mut line = String::new();
    for set in std::iter::once(None).chain(fields.iter().enumerate().map(Some)) {
        let name = match set {
            Some((nth, _)) => bits_variable(number, nth),
            None => numbers_variable(number),
        };
        let mut body = String::new();
        for field in fields {
            let value = if set.is_some_and(|(_, it)| it == field) {
                "-1"
            } else {
                "0"
            };
            let _ = write!(body, "s.{field} = (decltype({ty}::{field})){value}; ");
        }
        let _ = write!(
            line,
            "constexpr {ty} {name}_make() {{ {ty} s{{}}; {body}return s; }} {VARIABLE} {ty} {name} = {name}_make(); "
        );
    }
    let list: String = fields
        .iter()
        .map(|field| format!(", decltype({ty}::{field})"))
        .collect();
    line + &types(number, &format!("{ty}{list}"))
}

fn types(number: usize, list: &str) -> String {
    let name = types_variable(number);
    format!("{VARIABLE} auto {name} = __gpuk_probe::type_of<__gpuk_probe::list< {list}>>();")
}

fn layout(number: usize, ty: &str, fields: &[AskedField]) -> String {
    let mut line = String::new();
    let mut list = ty.to_owned();
    let mut places = String::new();
    for (nth, AskedField { name, public, .. }) in fields.iter().enumerate() {
        let of = field_type(number, ty, nth, name, *public);
        let _ = write!(list, ", {of}");
        let (offset, whole) = if *public {
            (format!("__builtin_offsetof({ty}, {name})"), of)
        } else {
            let (tag, offset) = (tag(number, nth), offset_variable(number, nth));
            let _ = write!(
                line,
                "template struct __gpuk_probe::member<{tag}, decltype(&{ty}::{name}), &{ty}::{name}>; "
            );
            let _ = write!(line, "{VARIABLE} auto {offset} = found({tag}{{}}); ");
            ("0".to_owned(), format!("__gpuk_probe::of<{of}>::type"))
        };
        let _ = write!(places, ", {offset}, sizeof({whole}), alignof({whole})");
    }
    let traits = format!("__is_trivially_copyable({ty}), __is_polymorphic({ty})");
    let numbers = numbers_variable(number);
    line += &format!(
        "{VARIABLE} unsigned long long {numbers}[] = {{ sizeof({ty}), alignof({ty}), {traits}{places} }}; "
    );
    line + &types(number, &list)
}

/// How C++ names the type of a field; for one that may not be named, of the pointer to it.
pub(super) fn field_type(number: usize, ty: &str, nth: usize, field: &str, public: bool) -> String {
    match public {
        true => format!("decltype({ty}::{field})"),
        false => format!("decltype(found({}{{}}))", tag(number, nth)),
    }
}

fn tag(number: usize, nth: usize) -> String {
    format!("__gpuk_probe::tag<{number}, {nth}>")
}

/// A line inside the namespaces in which its names were written.
fn within(scope: &[String], line: &str) -> String {
    let open: String = scope
        .iter()
        .map(|part| format!("namespace {part} {{ "))
        .collect();
    format!("{open}{line}{}", " }".repeat(scope.len()))
}
