//! The kernels that take the structs, and the Rust that marks their members.

use std::fmt::Write;

use crate::oracle::Expected;
use crate::structs::{HEAD, Kind, Structs};

/// What the tests in the library share.
pub(crate) const HELP: &str = "use core::mem::MaybeUninit;
fn bytes<S>(it: &MaybeUninit<S>) -> Vec<u8> {
    (0..size_of::<S>()).map(|at| unsafe { it.as_ptr().cast::<u8>().add(at).read() }).collect()
}
fn field<S, T>(at: impl Fn(*mut S) -> *mut T) -> Vec<u8> {
    // In place: `MaybeUninit::zeroed` is moved, and padding with it is lost.
    let mut it = MaybeUninit::<S>::uninit();
    unsafe {
        it.as_mut_ptr().cast::<u8>().write_bytes(0, size_of::<S>());
        at(it.as_mut_ptr()).cast::<u8>().write_bytes(0xff, size_of::<T>());
    }
    bytes(&it)
}
fn ones<T>() -> T {
    let mut it = MaybeUninit::<T>::uninit();
    unsafe {
        it.as_mut_ptr().cast::<u8>().write_bytes(0xff, size_of::<T>());
        it.assume_init()
    }
}
fn view<S>(of_views: &[u8], with: impl Fn(S) -> S) -> Vec<u8> {
    let it = MaybeUninit::new(with(unsafe { MaybeUninit::zeroed().assume_init() }));
    bytes(&it).iter().zip(of_views).map(|(byte, mask)| byte & mask).collect()
}
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!(\"{it:02x}\")).collect()
}
";

/// One kernel for each struct, which stands where its alignment matters.
pub(crate) fn kernels(structs: &Structs) -> String {
    let mut text = HEAD.to_owned();
    for it in &structs.all {
        text += &it.text;
        writeln!(
            text,
            "extern \"C\" __global__ void take_{0}(char before, {0} value, {0} *out) {{ *out = value; }}",
            it.name
        )
        .unwrap();
    }
    text
}

pub(crate) fn test(module: &str, structs: &Structs, expected: &[Expected]) -> String {
    let mut text = format!("#[test]\nfn {module}() {{\nuse crate::{module}::*;\n");
    for (it, expected) in structs.all.iter().zip(expected) {
        let name = &it.name;
        writeln!(
            text,
            "assert_eq!((size_of::<{name}>(), align_of::<{name}>()), ({}, {}), \"{name}\");",
            expected.size, expected.align
        )
        .unwrap();
        // Rust does not keep padding when it moves a struct.
        let mut of_views = vec![0; expected.size as usize];
        for (member, marked) in it.members.iter().zip(&expected.marked) {
            if let Kind::View { .. } = member.kind {
                of_views
                    .iter_mut()
                    .zip(marked)
                    .for_each(|(mask, byte)| *mask |= byte);
            }
        }
        writeln!(
            text,
            "let of_views: &[u8] = &{of_views:?};\nlet _ = of_views;"
        )
        .unwrap();
        for (member, marked) in it.members.iter().zip(&expected.marked) {
            let to = &member.name;
            let found = match member.kind {
                Kind::Field => format!("field::<{name}, _>(|it| unsafe {{ &raw mut (*it).{to} }})"),
                Kind::View { ones, .. } => {
                    format!("view::<{name}>(of_views, |it| it.with_{to}({ones}))")
                }
            };
            let marked: String = marked.iter().map(|it| format!("{it:02x}")).collect();
            writeln!(
                text,
                "assert_eq!(hex(&{found}), \"{marked}\", \"{name}::{to}\");"
            )
            .unwrap();
        }
    }
    text + "}\n"
}
