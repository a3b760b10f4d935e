//! Declarations read from excerpts of preprocessed text.

use super::*;

fn kernels(text: &str) -> String {
    let declarations = Declarations::read(text);
    let mut out = String::new();
    for kernel in &declarations.kernels {
        let params: Vec<_> = kernel
            .params
            .iter()
            .map(|param| {
                format!(
                    "{}{}: {}",
                    if param.pack { "..." } else { "" },
                    param.name.as_deref().unwrap_or("_"),
                    param.text
                )
            })
            .collect();
        let mut marks = Vec::new();
        marks.extend(kernel.c_linkage.then_some("C"));
        marks.extend(kernel.is_static.then_some("static"));
        marks.extend((!kernel.defined).then_some("declared"));
        marks.extend(kernel.overloaded.then_some("overloaded"));
        let template = kernel.template.as_ref().map(|params| params.len());
        out += &format!(
            "{} {}({}) {marks:?} {template:?}\n",
            kernel.place.line,
            kernel.path(),
            params.join(", ")
        );
    }
    out
}

/// The orders of specifiers and attributes in which public kernels are declared, as gcc prints them.
#[test]
fn every_order_of_a_declaration() {
    let g = "__attribute__((global))";
    let b = "__attribute__((launch_bounds(256, f<2>(3))))";
    let orders = [
        format!("template<class T> {g} void N(T *x)"),
        format!("{g} void N(T *x)"),
        format!("extern \"C\" {g} void N(T *x)"),
        format!("template<class T> {b} {g} void N(T *x)"),
        format!("template<class T> static {g} void N(T *x)"),
        format!("template<class T> {g} {b} void N(T *x)"),
        format!("static {g} void N(T *x)"),
        format!("template<class T> void {g} N(T *x)"),
        format!("template<class T> {g} void {b} N(T *x)"),
        format!("{b} {g} void N(T *x)"),
        format!("extern \"C\" {b} {g} void N(T *x)"),
        format!("{g} static void N(T *x)"),
        format!("template<class T> static {g} void {b} N(T *x)"),
        format!("template<class T> {g} static {b} void N(T *x)"),
        format!("{b} {b} {b} {g} void N(T *x)"),
        format!("inline {g} void N(T *x)"),
        format!("[[deprecated(\"x\")]] {g} void N(T *x)"),
        format!("template<class T, std::enable_if_t<(sizeof(T) > 2), int> = 0> {g} void N(T *x)"),
        format!("template<class T> {g} std::enable_if_t<(sizeof(T) > 2), void> N(T *x)"),
        format!("template<class T> requires (sizeof(T) > 2) && std::integral<T> {g} void N(T *x)"),
        format!("template<class T> {g} auto N(T *x) -> void"),
        format!("template<> {g} void N<float, (3 > 2)>(T *x)"),
        format!("template<class T> template<class U> {g} void N(T *x)"),
        format!("extern \"C\" {{ namespace a {{ {g} void N(T *x)"),
        "extern \"C\" __declspec(__global__) void __cdecl N(T *x)".to_owned(),
    ];
    for head in orders {
        for tail in [";", "{ if (a < b) { x[0] = '}'; } }"] {
            let text = format!("int y; {head} {tail} }} }} int z;");
            let read = Declarations::read(&text);
            let [kernel] = &read.kernels[..] else {
                panic!("{text}: {read:#?}")
            };
            assert_eq!(kernel.name, "N", "{text}");
            assert_eq!(kernel.params.len(), 1, "{text}");
            assert_eq!(kernel.params[0].name.as_deref(), Some("x"), "{text}");
            assert_eq!(kernel.params[0].text, "T *", "{text}");
            assert_eq!(kernel.defined, tail.starts_with('{'), "{text}");
            assert_eq!(kernel.c_linkage, head.starts_with("extern"), "{text}");
            assert_eq!(kernel.is_static, head.contains("static"), "{text}");
            assert_eq!(
                kernel.template.is_some(),
                head.starts_with("template"),
                "{text}"
            );
        }
    }
}

#[test]
fn scopes_linkage_and_overloads() {
    let text = r#"# 1 "k.cu"
namespace a::inline v1 { namespace { __attribute__((global)) void f(int) {} }
  inline namespace w { extern "C" { __attribute__((global)) void g(float *x = nullptr, int n = 3 < 4); } } }
namespace b = a;
extern "C" { namespace c { __attribute__((global)) void h(void) {} } extern "C++" { __attribute__((global)) void i() {} } }
void g(int);
__attribute__((global)) void o(int *x) {} __attribute__((global)) void o(float *x) {}
__attribute__((global)) void p(int *x); __attribute__((global)) void p(int *y) {}
__attribute__((global)) void c::q(int (*p)[4], void (*cb)(int, int), T a[]) noexcept {}
struct S { S() : a{1}, b(2) {} int a, b; };
S::S(int x) : a{x}, b(x) {} int S::operator()(int) const { return 1; }
S operator+(S a, S b) { return a; } S::operator int() { return 1; } bool operator==(S, S) { return true; } S s{1, 2};
static const int table[] = { 1, 2 }; void host(int global, int __global__); auto l = [](int x) { return x; };
template<class... A> __attribute__((global)) void v(A... args) {}
__attribute__((global)) void last() {}
"#;
    insta::assert_snapshot!(kernels(text), @r#"
    1 a::v1::f(_: int) [] None
    2 a::v1::w::g(x: float *, n: int) ["C", "declared", "overloaded"] None
    4 c::h() ["C"] None
    4 i() [] None
    6 o(x: int *) ["overloaded"] None
    6 o(x: float *) ["overloaded"] None
    7 p(x: int *) ["declared"] None
    7 p(y: int *) [] None
    8 c::q(p: int ( * ) [ 4 ], cb: void ( * ) ( int , int ), a: T [ ]) [] None
    13 v(...args: A ...) [] Some(1)
    14 last() [] None
    "#);
}

#[test]
fn explicit_instantiations() {
    let text = r"namespace n { template __attribute__((global)) void s<real, (2 > 1), ns::V<int, 3>>(real*, float, int); }
template __attribute__((global)) void n::s(float *x);
template class Foo<int>; template void host<int>(int); extern template __attribute__((global)) void n::s<int>(int*);
template __attribute__((launch_bounds(3))) __attribute__((global)) void ::n::t<1>();";
    let read = Declarations::read(text);
    let all: Vec<_> = read
        .instantiations
        .iter()
        .map(|i| format!("{:?} {} {:?} {}", i.scope, i.name, i.args, i.params.len()))
        .collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
    ["n"] s Some(["real", "( 2 > 1 )", "ns :: V < int , 3 >"]) 3
    [] n::s None 1
    [] n::t Some(["1"]) 0
    "#);
    assert!(read.kernels.is_empty());
}

#[test]
fn structs_and_their_fields() {
    let text = r"
namespace ns { struct __attribute__((aligned(16))) P final { float a; double *b, c[3]; const int (*arr)[4]; void (*cb)(int);
  T (*tcb)(T); static int s; static constexpr int K = 3; constexpr static int L = 3; int d = 4, e{5}; P() : a(1) {} ~P(); operator int() const { return 1; } P &operator=(const P &) = default; P operator+=(P o) { return o; }
  int get() const { return d; } template<class U> U as(); enum Kind : unsigned char { A, B } kind; struct Inner { int x; } inner; struct Other { int y; };
  typedef int word; using T = float; friend struct Q; private: int hidden; protected: int half_hidden; }; }
typedef struct { int a; unsigned char b; } Anon, *AnonPtr; typedef struct Tag_st { long long l; } Tag;
class C { int x; public: int y; alignas(8) float z; };
template<class T, int N> struct Vec { T v[N]; struct In { T t; }; }; template<> struct Vec<int, 3> { int q; };
struct D : public C, Vec<int, 2> { int d; }; union U { int i; float f; };
struct B { int x : 3, y : 4, : 0; int z; }; struct M { union { int i; struct { float f; private: int g : 3; }; }; struct { int k; } named; };
enum class Color : unsigned char { Red }; enum Old { X = sizeof(int), Y }; enum { NoName };
struct Forward; struct Forward *make(int); struct C global_c; struct { int q; } one; class X::Y { int n; };
struct E { std::array<std::pair<int, float>, 3> a; unsigned long long k; const char *name; __half2 h; } e1, e2;
";
    let read = Declarations::read(text);
    let mut out = String::new();
    for ty in &read.types {
        let fields: Vec<_> = ty
            .fields
            .iter()
            .map(|f| {
                let access = if f.public { "" } else { "-" };
                let kind = match f.kind {
                    FieldKind::Own => "",
                    FieldKind::Shared => "|",
                    FieldKind::Bits => ":",
                    FieldKind::SharedBits => "|:",
                };
                format!("{access}{}{kind}", f.name)
            })
            .chain(ty.enumerators.iter().map(|value| format!("={value}")))
            .collect();
        let template = if ty.template.is_some() {
            "template "
        } else {
            ""
        };
        let obstacle = ty.obstacle.map_or_else(String::new, |o| format!(" {o:?}"));
        out += &format!(
            "{template}{:?} {} {{{}}}{obstacle}{}\n",
            ty.kind,
            ty.path(),
            fields.join(" "),
            if ty.public { "" } else { " private" }
        );
    }
    insta::assert_snapshot!(out, @r"
    Enum ns::P::Kind {=A =B}
    Struct ns::P::Inner {x}
    Struct ns::P::Other {y}
    Struct ns::P {a b c arr cb tcb d e kind inner -hidden -half_hidden}
    Struct Anon {a b}
    Struct Tag_st {l}
    Struct C {-x y z}
    template Struct Vec::In {t}
    template Struct Vec {v}
    template Struct Vec {q} Specialization
    Struct D {d}
    Union U {i| f|}
    Struct B {x: y: z}
    Struct M {i| f| -g|: named}
    Enum Color {=Red}
    Enum Old {=X =Y}
    Struct X::Y {-n}
    Struct E {a k name h}
    ");
    insta::assert_snapshot!(format!("{:?}", read.aliases), @r#"{"AnonPtr": ["Anon"], "T": ["float"], "Tag": ["Tag_st"], "word": ["int"]}"#);
}

/// On a stack of a size that a thread may have on any system: the names of the kernels.
fn kernels_of_deep(text: String) -> Vec<String> {
    let read = move || Declarations::read(&text).kernels;
    let thread = std::thread::Builder::new().stack_size(1 << 19);
    let kernels = thread.spawn(read).unwrap().join().unwrap();
    kernels.into_iter().map(|kernel| kernel.name).collect()
}

#[test]
fn what_is_nested_too_deep_is_passed_over() {
    let kernel = |name| format!("__attribute__((global)) void {name}(int *p) {{}}");
    for open in [
        "namespace a {",
        "extern \"C\" {",
        "struct S {",
        "template<class T> struct S {",
    ] {
        let nested = |times| {
            let close = if open.contains("struct") { "};" } else { "}" };
            [&open.repeat(times), &*kernel("deep"), &close.repeat(times)].concat()
                + &kernel("behind")
        };
        let found = kernels_of_deep(nested(20_000));
        assert_eq!(found, ["behind"], "{open}");
        assert_eq!(kernels_of_deep(open.repeat(5_000)), [""; 0], "{open}");
        if !open.contains("struct") {
            assert_eq!(kernels_of_deep(nested(64)), ["deep", "behind"], "{open}");
            assert_eq!(kernels_of_deep(nested(65)), ["behind"], "{open}");
        }
    }
    let annotated = "__attribute__((__gpuk__(\"launch\", \"\")))".repeat(5_000) + &kernel("k");
    assert_eq!(kernels_of_deep(annotated), ["k"]);
}
