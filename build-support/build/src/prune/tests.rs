//! What stays of small headers, and where it stands.

use super::{Headers, prune};

const HEADERS: &str = r#"# 1 "/cuda/include/cuda_runtime.h" 1
typedef unsigned long size_t;
# 1 "/usr/include/math.h" 1 3 4
extern "C" {
extern double sin(double x) __attribute__((nothrow)); extern double cos(double x);
typedef struct { int quot; } div_t;
enum kind { KIND_A, KIND_B = 2 };
}
namespace std {
  inline float sin(float x) { return x; }
  using ::cos;
  template<typename T> struct pair { T first; };
  template<typename T> bool operator==(const pair<T> &a, const pair<T> &b) { return a.first == b.first; }
  template<typename T> struct iterator { pair<T> at; } __attribute__((deprecated));
  template<> struct iterator<int> : pair<int> { iterator() : pair<int>{1} {} };
  template<typename T> T *begin(T (&array)[2]) { return array; }
}
# 9 "/cuda/include/cuda_runtime.h" 2
#pragma kept
__attribute__((device)) void here() { }
static __attribute__((device)) inline void gone() { }
static const int table[2] = {1, 2};
int (*hook(int))(int);
# 0 "<command-line>" 2
"#;

fn pruned(user: &str) -> String {
    let headers = Headers::new(HEADERS.into()).unwrap();
    prune(&headers, &format!("# 1 \"k.cu\"\n{user}\n"), "").unwrap()
}

#[test]
fn what_nobody_names_goes() {
    let text = pruned("void k() {}");
    insta::assert_snapshot!(text, @r##"
    # 1 "k.cu"
    # 1 "/cuda/include/cuda_runtime.h" 1
    # 1 "/cuda/include/cuda_runtime.h"
    typedef unsigned long size_t;
    # 1 "/usr/include/math.h" 1 3 4
    extern "C" {
    # 5 "/usr/include/math.h" 3 4
    }
    namespace std {
    # 14 "/usr/include/math.h" 3 4
    }
    # 9 "/cuda/include/cuda_runtime.h" 2
    #pragma kept
    __attribute__((device)) void here() { }
    # 13 "/cuda/include/cuda_runtime.h"
    int (*hook(int))(int);
    # 0 "<command-line>" 2
    # 1 "k.cu"
    void k() {}
    "##);
}

#[test]
fn all_overloads_of_a_name_stay_with_their_lines() {
    let text = pruned("void k() { sin(1); }");
    let line = |wanted: &str| {
        let (mut file, mut number) = (String::new(), 0);
        for line in text.lines() {
            match line.strip_prefix("# ") {
                Some(marker) => {
                    let (at, name) = marker.split_once(' ').unwrap();
                    let (name, _flags) = name.rsplit_once('"').unwrap();
                    (file, number) = (name.replace('"', ""), at.parse().unwrap());
                }
                None if line.contains(wanted) => {
                    return format!("{file} {number} {}", line.find(wanted).unwrap());
                }
                None => number += 1,
            }
        }
        panic!("{wanted} is not in\n{text}");
    };
    // The places that they have in HEADERS.
    assert_eq!(line("extern double sin"), "/usr/include/math.h 2 0");
    assert_eq!(line("inline float sin"), "/usr/include/math.h 7 2");
    assert_eq!(line("void k"), "k.cu 1 0");
    assert!(!text.contains("cos"));
}

#[test]
fn names_are_followed() {
    let has = |user: &str, wanted: &str| pruned(user).contains(wanted);
    assert!(
        has("std::iterator<float> i;", "struct pair")
            && has("std::iterator<float> i;", "operator==")
    );
    assert!(has("std::iterator<float> i;", "iterator<int>"));
    assert!(!has("std::pair<float> i;", "struct iterator"));
    assert!(
        has("int k = KIND_B;", "enum kind")
            && has("div_t d;", "quot")
            && has("int k = table[0];", "{1, 2}")
    );
    assert!(
        has("void k() { std::cos(1); }", "using ::cos")
            && has("void k() { std::cos(1); }", "double cos")
    );
    // Nothing says `begin` here.
    assert!(has("void k() { int a[2]; for (int x : a) {} }", "T *begin"));
    assert!(!has(
        "void k() { for (int x = 0; x < (x ? 1 : 2); ++x) {} }",
        "T *begin"
    ));
}

#[test]
fn what_is_within_the_users_brackets_is_the_users() {
    let inside = "namespace n {\n# 1 \"/usr/include/t.h\" 1 3\nint one;\n# 3 \"k.cu\" 2\n}\n# 1 \"/usr/include/t.h\" 1 3\nint two;\n# 5 \"k.cu\" 2";
    let text = pruned(inside);
    assert!(
        text.contains("int one;") && !text.contains("int two;"),
        "{text}"
    );
}

#[test]
fn what_is_not_understood_stays() {
    let headers =
        |text: &str| format!("# 1 \"/usr/include/x.h\" 1 3\n{text}\n# 2 \"k.cu\" 2\nvoid k();");
    for text in [
        "template<bool b = 1 < 2> struct S { };",
        "int } x;",
        "concept C = true;",
        "asm(\"x\");",
    ] {
        assert!(pruned(&headers(text)).contains(text), "{text}");
    }
}

/// Whether a declaration in a header stays where a word stands in the source.
fn stays(declaration: &str, word: &str) -> bool {
    let text = format!("# 1 \"/usr/include/x.h\" 1 3\n{declaration}\n# 2 \"k.cu\" 2\n{word};");
    pruned(&text).contains(declaration)
}

#[test]
fn a_declaration_stays_for_what_it_declares() {
    for (declaration, declared, named) in [
        (
            "typedef void (*call)(stream_t stream, int *x);",
            "call",
            "stream_t stream x",
        ),
        ("typedef int (__stdcall *call)(int a);", "call", "a"),
        ("typedef int (*(*outer)(int a))(float b);", "outer", "a b"),
        (
            "typedef int function(stream_t stream);",
            "function",
            "stream_t stream",
        ),
        ("typedef int (C::*member)(int a);", "member C", "a"),
        ("typedef struct tag_t name_t;", "tag_t name_t", ""),
        (
            "typedef stream_t table[COUNT], *other;",
            "table other",
            "stream_t COUNT",
        ),
        (
            "typedef enum { ONE, TWO = 2 } number;",
            "ONE TWO number",
            "",
        ),
        (
            "typedef unsigned word __attribute__((mode(DI)));",
            "word",
            "DI mode",
        ),
        (
            "extern stream_t one __attribute__((used)), *two;",
            "one two",
            "stream_t",
        ),
        (
            "static const int a = same<int, 2>::value, b = 2;",
            "a b",
            "same",
        ),
        (
            "template<typename A, typename B> inline constexpr bool same_v = same<A, B>::value;",
            "same_v",
            "same value A B",
        ),
        (
            "template<typename T> const int Big<T>::value;",
            "Big",
            "value T",
        ),
        (
            "template<typename T> T ns::Big<T>::get(int at) { return at; }",
            "Big",
            "get at T",
        ),
        ("int ns::function(int a) { return a; }", "ns function", "a"),
        (
            "template<typename T> bool operator<(const Big<T> &a, Big<T> b);",
            "Big",
            "a b T",
        ),
        (
            "ns::byte operator|(ns::byte, typename Big<int>::type);",
            "ns byte Big",
            "type",
        ),
        (
            "struct [[deprecated]] Old { int x; };",
            "Old",
            "deprecated x",
        ),
        (
            "template<typename T> struct Signed<T, true> : Is<bool, T(-1) < T(0)> { };",
            "Signed",
            "Is T",
        ),
    ] {
        for word in declared.split_whitespace() {
            assert!(stays(declaration, word), "{declaration} for {word}");
        }
        for word in named.split_whitespace().chain(["other_word"]) {
            assert!(!stays(declaration, word), "{declaration} for {word}");
        }
    }
}

#[test]
fn an_operator_of_any_type_stays() {
    let any = "template<class T> bool operator!=(const T &x, const T &y) { return !(x == y); }";
    assert!(stays(any, "other_word"));
}

#[test]
fn what_a_class_calls_its_own_is_not_what_is_so_called_elsewhere() {
    let outside = "template<typename T> struct iterator { T *at; };";
    let has = |class: &str| {
        let header = format!("{outside}\nstruct list {{ {class} }};");
        let text = format!("# 1 \"/usr/include/x.h\" 1 3\n{header}\n# 3 \"k.cu\" 2\nlist l;");
        pruned(&text).contains(outside)
    };
    assert!(!has(
        "typedef int *iterator; iterator begin(); private: iterator at;"
    ));
    assert!(!has("using iterator = int *; iterator at;"));
    assert!(has("iterator<int> at;"));
    assert!(has("typedef ::iterator<int> iterator; iterator at;"));
    assert!(has(
        "struct inner { typedef int *iterator; }; iterator<int> at;"
    ));
}

#[test]
fn what_launches_need_stays_for_launches() {
    let declaration = "int cudaLaunchDevice(void *);";
    assert!(stays(declaration, "void f() { k<<<1, 1>>>(); }"));
    assert!(!stays(declaration, "void f() { k(); }"));
}
