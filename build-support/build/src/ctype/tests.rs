//! Types as nvcc 13.0 prints them (`__PRETTY_FUNCTION__`), and as a demangler does.

use super::*;

/// One template argument list over 79 types, printed by the compiler.
const PRINTED: &str = include_str!("fixtures/printed.txt");
/// The same list demangled from the entry that it instantiated.
const DEMANGLED: &str = include_str!("fixtures/demangled.txt");

fn list(text: &str) -> Vec<Arg> {
    match format!("list<{}>", text.trim()).parse() {
        Ok(CType::Named(Name(mut parts), _)) => parts.remove(0).args.unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_compiler_prints_comes_back() {
    let printed: Vec<_> = list(PRINTED);
    assert_eq!(printed.len(), 79);
    let again: Vec<_> = printed.iter().map(ToString::to_string).collect();
    let normal = [
        ("__nv_bool", "bool"),
        ("'a', -5LL, 7U", "97, -5, 7"),
        ("3UL", "3"),
        ("&&", "&"),
        ("(int) const", "(int)"),
    ];
    let plain = normal
        .iter()
        .fold(PRINTED.trim().to_owned(), |text, (from, to)| {
            text.replace(from, to)
        });
    assert_eq!(again.join(", "), plain);
}

/// Both texts name the same types, except where the demangler knows less.
#[test]
fn the_demangler_agrees() {
    let printed = list(PRINTED);
    let demangled = list(DEMANGLED);
    let differing: Vec<_> = printed
        .iter()
        .zip(&demangled)
        .filter(|(printed, demangled)| printed != demangled)
        .map(|(printed, demangled)| format!("{printed} | {demangled}"))
        .collect();
    assert_eq!(printed.len(), demangled.len());
    insta::assert_snapshot!(differing.join("\n"), @r"
    ns::Col<ns::Color::Red> | ns::Col<(ns::Color)3>
    ns::Fn<ns::fn> | ns::Fn<&ns::fn(int)>
    int | wchar_t
    ");
}

#[test]
fn functions_by_their_demangled_names() {
    let read = |text: &str| match function_name(text) {
        Ok(FunctionName { name, params, .. }) => {
            let params: Vec<_> = params.iter().map(ToString::to_string).collect();
            format!("{name} | {}", params.join(" | "))
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(read("ov(int*)"), "ov | int *");
    assert_eq!(read("st()"), "st | ");
    assert_eq!(
        read("void (anonymous namespace)::an<int>(int*)"),
        "<unnamed>::an<int> | int *"
    );
    assert_eq!(
        read("(anonymous namespace)::an(int*)"),
        "<unnamed>::an | int *"
    );
    assert_eq!(read("void k<4>()"), "k<4> | ");
    assert_eq!(
        read("void ns::scale<float, (unsigned int)3>(float*, float const*, int (*) [4])"),
        "ns::scale<float, 3> | float * | const float * | int (*)[4]"
    );
    assert_eq!(
        read("ns::(anonymous namespace)::f(ns::P, (anonymous namespace)::Q const*)"),
        "ns::<unnamed>::f | ns::P | const <unnamed>::Q *"
    );
    assert_eq!(
        read("std::enable_if<(bool)1, void>::type h<float>(std::enable_if<true, float>::type*)"),
        "h<float> | std::enable_if<true, float>::type *"
    );
    assert_eq!(read("k(int"), "`k(int` is not understood as a type at ``");
}

/// `int32_t` is `signed int` to glibc, and nvcc prints it so.
#[test]
fn fundamental_types_have_one_spelling() {
    let cases = [
        ("signed int *", "int *"),
        ("const signed long", "const long"),
        ("signed short", "short"),
        ("signed char", "signed char"),
        ("long unsigned int", "unsigned long"),
        ("unsigned", "unsigned int"),
        ("signed", "int"),
        ("long long int", "long long"),
        ("unsigned long long", "unsigned long long"),
        ("short unsigned int", "unsigned short"),
        ("long double", "long double"),
        ("unsigned __int128", "unsigned __int128"),
        ("__nv_bool", "bool"),
    ];
    for (printed, expected) in cases {
        let ty: CType = printed.parse().unwrap();
        assert_eq!(ty.to_string(), expected);
    }
}

#[test]
fn what_is_no_type_is_refused() {
    for text in [
        "",
        "const",
        "int int*)",
        "3",
        "f(",
        "Vec<int",
        "lambda [](int)->int",
        "int [N]",
        "T&*x",
    ] {
        assert!(text.parse::<CType>().is_err(), "{text}");
    }
}

#[test]
fn broken_text_is_refused_without_a_panic() {
    for text in [PRINTED, DEMANGLED] {
        for at in (0..text.len()).step_by(3) {
            let _ = text[..at].parse::<CType>();
            let _ = text[at..].parse::<CType>();
            let _ = function_name(&format!("void f<{}>(int)", &text[at..]));
        }
    }
}

#[test]
fn values_tell_their_types() {
    let text = "void k<int, 4, 4u, 4ul, 4ll, -3, true, (char)65, (ns::Mode)2, &x, ns::V<5u> >(int)";
    let values = function_name(text).unwrap().values.into_iter();
    let values = values.map(|ty| ty.map_or_else(|| "-".to_owned(), |ty| ty.to_string()));
    assert_eq!(
        values.collect::<Vec<_>>().join(" | "),
        "- | int | unsigned int | unsigned long | long long | int | bool | char | ns::Mode | - | -"
    );
}
