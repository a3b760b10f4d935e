//! Annotations of declarations, and everything that is refused.

use super::*;
use crate::ctype::{Arg, CType};
use crate::diagnostic::Diagnostic;
use crate::kernel::{Bounds, Kernel, Param, ParamType, Scalar, Type};
use crate::source::Declarations;
use crate::source::annotation::marked;

struct Known;

impl Types for Known {
    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        let scalar = match (structure, field) {
            ("P", "n") => Scalar::I64,
            ("P", "f") => Scalar::F32,
            _ => return None,
        };
        Some(Type::Scalar(scalar))
    }

    fn size(&self, ty: &CType) -> Option<u64> {
        match ty.to_string().as_str() {
            "float" => Some(4),
            "unsigned long" => Some(8),
            _ => None,
        }
    }
}

/// `(const float *src, float *dst, int n, float x, P p)` of `template <class T, int N>`.
fn kernel(bounds: Bounds) -> Kernel {
    let pointer = |mutable| ParamType::Pointer {
        to: Some(Type::Scalar(Scalar::F32)),
        mutable,
    };
    let scalar = |scalar| ParamType::Value(Type::Scalar(scalar));
    let params = [
        ("src", "const float *", pointer(false)),
        ("dst", "float *", pointer(true)),
        ("n", "int", scalar(Scalar::I32)),
        ("x", "float", scalar(Scalar::F32)),
        ("p", "P", ParamType::Value(Type::Struct("P".to_owned()))),
    ];
    let param = |(name, declared, ty): (&str, &str, ParamType)| Param {
        name: name.to_owned(),
        declared: declared.to_owned(),
        ty,
    };
    Kernel {
        name: "k".to_owned(),
        path: "k".to_owned(),
        entry: "k".to_owned(),
        docs: Vec::new(),
        place: crate::diagnostic::Place::line("k.cu", 1),
        params: params.map(param).to_vec(),
        bounds,
        instance: None,
        annotations: Annotations::default(),
    }
}

/// What a line of a kernel's source says, macros left as they are.
fn resolved(line: &str, bounds: Bounds) -> (Annotations, Vec<Diagnostic>) {
    let text = marked(line);
    let mut declarations = Declarations::read(&format!("# 1 \"k.cu\"\n{text}"));
    declarations.locate(|_| Some(line.to_owned()));
    let types = [
        ("T".to_owned(), Arg::Type("unsigned long".parse().unwrap())),
        ("N".to_owned(), Arg::Value("(Mode)7".to_owned())),
    ];
    resolve(
        &declarations.kernels[0].annotations,
        &kernel(bounds),
        &types,
        &Known,
    )
}

fn with_extent(extent: &str) -> String {
    format!(
        "extern \"C\" __attribute__((global)) void k(GPUK_IN({extent}) const float *src, float *dst, int n, float x, P p)"
    )
}

/// The value of an expression where `n` is 10, `p.n` is 3, and `src` and `dst` have 100 items.
fn value(expression: &Expression) -> i64 {
    match expression {
        Expression::Number(number) => i64::try_from(*number).unwrap(),
        Expression::Value(value) => match (value.param, value.fields.as_slice()) {
            (2, []) => 10,
            (4, [field]) if field == "n" => 3,
            other => panic!("{other:?}"),
        },
        Expression::Length(_) => 100,
        Expression::Block(_) => 32,
        Expression::Binary(operator, left, right) => {
            let (left, right) = (value(left), value(right));
            match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                Operator::Divide => left / right,
                Operator::Remainder => left % right,
                Operator::ShiftLeft => left << right,
                Operator::ShiftRight => left >> right,
                Operator::Min => left.min(right),
                Operator::Max => left.max(right),
                Operator::CeilDiv => (left + right - 1) / right,
            }
        }
    }
}

#[test]
fn expressions_are_those_of_c() {
    for (text, expected) in [
        ("n", 10),
        ("n - 3 - 2", 5),
        ("n - (3 - 2)", 9),
        ("2 + n * 3 % 4", 4),
        ("1 << 2 + 1", 8),
        ("n * 100 >> 3 / 3", 500),
        ("-n + 11", 1),
        ("- -n", 10),
        ("std::min(n, p.n) + ::max(n, 3) + ceil_div(n, p.n)", 17),
        ("(size_t)n * (unsigned long long)2", 20),
        ("(n) * 2", 20),
        ("static_cast<std::size_t>(n + 1) * 2", 22),
        ("uint64_t(n) * size_t(2)", 20),
        ("len(src) / n", 10),
        ("0x1Fu + 010 + 0b11 + 1'000ULL + 0", 31 + 8 + 3 + 1000),
        ("N * sizeof(T) + sizeof(float)", 60),
        ("18446744073709551615 / 9223372036854775807 * 0 + n", 10),
    ] {
        let (found, findings) = resolved(&with_extent(text), Bounds::default());
        let messages: Vec<_> = findings.iter().map(|it| &it.message).collect();
        assert!(messages.is_empty(), "{text}: {messages:?}");
        if !text.starts_with("1844") {
            assert_eq!(value(&found.extents[0].items), expected, "{text}");
        }
    }
}

#[test]
fn a_length_is_derived_from_its_name_alone() {
    let of = |extent: &str| {
        let (found, _) = resolved(&with_extent(extent), Bounds::default());
        found.lengths(2)
    };
    assert_eq!(of("n"), [0]);
    for explicit in ["(n)", "n + 0", "(int)n", "1 * n", "p.n"] {
        assert!(of(explicit).is_empty(), "{explicit}");
    }
    let line = with_extent("n").replace("GPUK_IN(", "GPUK_IN_OPT(");
    let (found, _) = resolved(&line, Bounds::default());
    assert_eq!(
        (found.lengths(2), found.extents[0].optional),
        (vec![], true)
    );
    let line = with_extent("n").replace(", float *dst", ", GPUK_OUT(n) float *dst");
    let (found, _) = resolved(&line, Bounds::default());
    assert_eq!((found.lengths(2), found.is_allocated(1)), (vec![0], true));
}

/// `column: message` of each finding, the column counted from the annotation's parentheses.
fn refused(line: &str, bounds: Bounds) -> String {
    let (_, findings) = resolved(line, bounds);
    let base = line.find("GPUK_").unwrap();
    let base = base + line[base..].find('(').unwrap() + 1;
    let shown = findings.iter().map(|it| {
        let place = &it.labels[0].place;
        assert_eq!((place.file.to_str(), place.line), (Some("k.cu"), 1));
        let column = i64::from(place.column.unwrap()) - i64::try_from(base).unwrap();
        let code = it.code.unwrap();
        let message = it.message.strip_prefix("an annotation of kernel `k`: ");
        format!("{code} {column}: {}", message.unwrap())
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[test]
fn wrong_extents_are_refused_at_their_column() {
    let texts = [
        "n * m",
        "n * src",
        "2 * x",
        "p.f",
        "p.m",
        "n.x",
        "n * 0.5",
        "n +",
        "",
        "n 2",
        "n == 2",
        "min(n)",
        "len(n)",
        "sizeof(Q)",
        "T",
        "f(n)",
        "99999999999999999999",
        "*src",
        "src[0]",
        "p->n",
    ];
    let found = texts.map(|text| {
        format!(
            "{text:12} {}",
            refused(&with_extent(text), Bounds::default())
        )
    });
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn annotations_at_the_wrong_place_are_refused() {
    let head = "__attribute__((global)) void k(";
    let all = "const float *src, float *dst, int n, float x, P p)";
    let lines = [
        format!("{head}{}", all.replace("const", "GPUK_OUT(n) const")),
        format!("{head}{}", all.replace("int", "GPUK_IN(1) int")),
        format!(
            "{head}{}",
            all.replace("const", "GPUK_LAUNCH(elements = n) const")
        ),
        format!(
            "{head}{}",
            all.replace("float *dst", "GPUK_IN(n) GPUK_OUT(n) float *dst")
        ),
        format!(
            "{head}{}",
            all.replace("float *dst", "GPUK_OUT(len(dst)) float *dst")
        ),
        format!("GPUK_IN(n) {head}{all}"),
        format!("GPUK_LAUNCH(grid = 1) GPUK_LAUNCH(grid = 1) {head}{all}"),
    ];
    let found = lines.map(|line| refused(&line, Bounds::default()));
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn wrong_shapes_are_refused_at_their_column() {
    let bounds = |max_threads, exact_block| Bounds {
        max_threads,
        exact_block,
        ..Bounds::default()
    };
    let shape = |shape: &str, bounds| {
        let line = "void k(const float *src, float *dst, int n, float x, P p)";
        let line = format!("GPUK_LAUNCH({shape}) __attribute__((global)) {line}");
        let found = refused(&line, bounds);
        format!(
            "{shape:40} {}",
            if found.is_empty() { "taken" } else { &found }
        )
    };
    let any = || bounds(None, None);
    let found = [
        shape("block = 256, elements = n", any()),
        shape(
            "block = (16, 4), grid = (n, len(src), 2), shared = block.x * 4",
            any(),
        ),
        shape("block = auto, elements = n, shared = 1 << 10", any()),
        shape("elements = n", any()),
        shape("block = 256", any()),
        shape("", any()),
        shape("blocks = 1", any()),
        shape("block 256", any()),
        shape("grid = 1, elements = n", any()),
        shape("grid = 1, block = 1, block = 2", any()),
        shape("grid = (1, 2, 3, 4)", any()),
        shape("grid = (1, m)", any()),
        shape("block = block, grid = 1", any()),
        shape("grid = block.w", any()),
        shape("grid = 1, block = auto, shared = n", any()),
        shape("grid = 1, block = 0", any()),
        shape("grid = 1, block = (32, 8)", bounds(Some(255), None)),
        shape("grid = 1, block = (32, 8)", bounds(Some(256), None)),
        shape("grid = 1, block = 32", bounds(None, Some([32, 2, 1]))),
        shape("grid = 1, block = n", bounds(Some(1), None)),
    ];
    insta::assert_snapshot!(found.join("\n"));
}

/// On a stack of a size that a thread may have on any system.
#[test]
fn long_expressions_are_refused() {
    let nested = |open: &str, close: &str, times| {
        with_extent(&[&open.repeat(times), "n", &close.repeat(times)].concat())
    };
    let found = move || {
        let shapes = [
            ("(", ")", 128),
            ("-", "", 49),
            ("+", "", 256),
            ("n * ", "", 49),
            ("", " + 1", 49),
            ("min(n, ", ")", 49),
        ];
        shapes.map(|(open, close, too_many)| {
            let short = resolved(&nested(open, close, 20), Bounds::default()).1;
            assert_eq!(short, [], "{open}n{close}");
            let (_, endless) = resolved(&nested(open, close, 20_000), Bounds::default());
            assert!(
                endless[0].message.ends_with("the expression is too long"),
                "{endless:?}"
            );
            refused(&nested(open, close, too_many), Bounds::default())
        })
    };
    let thread = std::thread::Builder::new().stack_size(1 << 19);
    let found = thread.spawn(found).unwrap().join().unwrap();
    insta::assert_snapshot!(found.join("\n"));
}
