//! Functions of the host.

use gpuk_build::diagnostic::Place;
use gpuk_build::function::{Function, FunctionParam, Handle, HostType};
use gpuk_build::generate::ModuleBindings;
use gpuk_build::kernel::{Enum, Scalar, Type};

use super::{F32, I32, U64, int, kernel, module, structure};

fn value(ty: Type) -> HostType {
    HostType::Value(ty)
}

fn pointer(to: Option<HostType>, mutable: bool) -> HostType {
    HostType::Pointer {
        to: to.map(Box::new),
        mutable,
    }
}

fn function(
    name: &str,
    params: &[(&str, &str, HostType)],
    returns: Option<(&str, HostType)>,
) -> Function {
    let param = |(declared, name, ty): &(&str, &str, HostType)| FunctionParam {
        name: (*name).to_owned(),
        declared: (*declared).to_owned(),
        ty: ty.clone(),
    };
    Function {
        name: name.to_owned(),
        docs: Vec::new(),
        place: Place::line("kernels/host.cu", 7),
        params: params.iter().map(param).collect(),
        returns: returns.map(|(declared, ty)| (declared.to_owned(), ty)),
    }
}

/// A module of functions alone, with every kind of type and names that Rust has, and one of a kernel and a function.
pub(super) fn host() -> Vec<ModuleBindings> {
    let pair = structure("Pair", 8, 4, &[("x", F32, 0), ("y", I32, 4)]);
    let by_value = value(Type::Struct("Pair".to_owned()));
    let mode = || value(Type::Enum("Mode".to_owned()));
    let mut launch = function(
        "run_scale",
        &[
            ("float *", "x", pointer(Some(value(F32)), true)),
            (
                "const Pair &",
                "pair",
                pointer(Some(by_value.clone()), false),
            ),
            ("void *", "scratch", pointer(None, true)),
            (
                "const float *const *",
                "rows",
                pointer(Some(pointer(Some(value(F32)), false)), false),
            ),
            ("CUstream_st *", "stream", HostType::Handle(Handle::Stream)),
            ("CUevent_st *", "", HostType::Handle(Handle::Event)),
        ],
        Some(("Mode", mode())),
    );
    launch.docs = vec!["Scales in place.".to_owned()];
    launch.params[5].name = "param_5".to_owned();
    let mut alone = module("host", vec![], vec![pair]);
    alone.signatures.functions = vec![
        launch,
        function(
            "add",
            &[("Pair", "pair", by_value.clone())],
            Some(("Pair", by_value)),
        ),
        function("type", &[("int", "self", value(I32))], None),
        function("Mode", &[("int", "None", value(I32))], None),
        function("nothing", &[], Some(("unsigned long", value(U64)))),
    ];
    alone.signatures.enums = vec![Enum {
        name: "Mode".to_owned(),
        path: "Mode".to_owned(),
        scalar: Scalar::U32,
        values: vec![("up".to_owned(), 0)],
    }];
    let mut both = module("both", vec![kernel("scale", vec![int("n")])], vec![]);
    both.signatures.functions = vec![function("run", &[("int", "n", value(I32))], None)];
    vec![alone, both]
}
