//! Functions of the host: what the source declares, joined with what the compiler says of their types.
//!
//! A call passes values as the platform's C ABI does, so a struct by value has to be the same struct to Rust, not only
//! the same bytes: one with members that Rust has as bytes may go in other registers.

use super::fit::is_constant;
use super::refusal::reason;
use super::size::Room;
use super::types::{Types, Why};
use crate::ctype::CType;
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::function::{Function, FunctionParam, Handle, HostType};
use crate::kernel::{Signatures, Type};
use crate::probe::Answers;
use crate::source::{Declarations, DeclaredFunction};

/// The functions of a source with the types they take, and why some have no declaration.
pub(crate) fn of_host(
    declarations: &Declarations,
    answers: &Answers,
) -> (Signatures, Vec<Diagnostic>) {
    let mut types = Types::new(answers);
    let (mut functions, mut findings) = (Vec::new(), Vec::new());
    for (index, declared) in declarations.functions.iter().enumerate() {
        let answer = answers.functions.get(&index);
        let made = match answer {
            Some((returns, params)) => function(declared, returns, params, &mut types),
            None => Err("its type could not be asked of the compiler".to_owned()),
        };
        match made {
            Ok(function) => functions.push(function),
            Err(why) => findings.push(refused(declared, why)),
        }
    }
    (
        types.signatures(Vec::new(), Vec::new(), functions),
        findings,
    )
}

fn refused(declared: &DeclaredFunction, why: String) -> Diagnostic {
    let message = format!("host function `{}` gets no declaration", declared.name);
    let code = Some(Code::FUNCTION_WITHOUT_DECLARATION);
    Diagnostic::new(code, Level::Note, message)
        .at(declared.place.clone(), "")
        .note(why)
        .help("take numbers, pointers and plain structs, or declare it by hand: it is compiled and linked")
}

fn function(
    declared: &DeclaredFunction,
    returns: &CType,
    params: &[CType],
    types: &mut Types<'_>,
) -> Result<Function, String> {
    let returns = match returns.as_word() {
        Some("void") => None,
        _ => {
            let ty = host(types, returns).map_err(|why| format!("it returns `{returns}`{why}"))?;
            Some((returns.to_string(), ty))
        }
    };
    let mut passed = Vec::new();
    for (nth, ty) in params.iter().enumerate() {
        let name = declared.params.get(nth).and_then(|it| it.name.clone());
        let name = name.unwrap_or_else(|| format!("param_{nth}"));
        let made = host(types, ty).map_err(|why| match ty {
            CType::Ellipsis => "it takes any number of arguments".to_owned(),
            _ => format!("parameter `{name}` has type `{ty}`{why}"),
        })?;
        passed.push(FunctionParam {
            name,
            declared: ty.to_string(),
            ty: made,
        });
    }
    Ok(Function {
        name: declared.name.clone(),
        docs: Vec::new(),
        place: declared.place.clone(),
        params: passed,
        returns,
    })
}

/// The type of a value that is passed or returned, or why it has none, behind the type's name.
fn host(types: &mut Types<'_>, ty: &CType) -> Result<HostType, String> {
    match ty {
        // To the ABI a reference is an address.
        CType::Pointer(to, _) | CType::Reference(to) => Ok(pointer(types, to)),
        _ => {
            let value = types.value(ty).map_err(|why| said(&why))?;
            match passes(types, &value) {
                true => Ok(HostType::Value(value)),
                false => Err(
                    ", of which Rust has bytes alone: by value it may go in other registers"
                        .to_owned(),
                ),
            }
        }
    }
}

fn pointer(types: &mut Types<'_>, to: &CType) -> HostType {
    match to.as_word() {
        Some("CUstream_st") => return HostType::Handle(Handle::Stream),
        Some("CUevent_st") => return HostType::Handle(Handle::Event),
        _ => {}
    }
    let mutable = !is_constant(to) && !matches!(to, CType::Function(..));
    let to = match to {
        CType::Pointer(to, _) => Some(pointer(types, to)),
        CType::Function(..) => None,
        // What lies behind an address need not be known to pass it.
        _ => types.value(to).ok().map(HostType::Value),
    };
    HostType::Pointer {
        to: to.map(Box::new),
        mutable,
    }
}

fn said(why: &Why) -> String {
    match reason(why) {
        reason if reason.is_empty() => String::new(),
        reason => format!(": {reason}"),
    }
}

/// Whether a value goes to Rust where C++ puts it.
fn passes(types: &Types<'_>, ty: &Type) -> bool {
    match ty {
        Type::Bytes(_) | Type::Generic(_) => false,
        Type::Array(of, _) => passes(types, of),
        Type::Struct(path) => types.found(path).is_some_and(|it| {
            let mut end: u64 = 0;
            let natural = it.fields.iter().all(|field| {
                let Some(Room { size, align }) = types.room(&field.ty) else {
                    return false;
                };
                let placed = field.offset == end.next_multiple_of(align.max(1));
                end = field.offset + size;
                placed && passes(types, &field.ty)
            });
            natural && !it.fields.is_empty() && it.size == end.next_multiple_of(it.align.max(1))
        }),
        Type::Scalar(_) | Type::Vector(_) | Type::Enum(_) | Type::Address => true,
    }
}
