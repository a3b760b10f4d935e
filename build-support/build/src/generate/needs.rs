//! The features of the run time that a module's types need.

use crate::kernel::{ParamType, Scalar, Signatures, Type};

/// Types of other crates, and the feature that has them.
const FEATURES: &[(&str, &[Scalar], &[&str])] = &[
    (
        "f16",
        &[Scalar::F16, Scalar::Bf16],
        &["__half2", "half2", "__nv_bfloat162", "nv_bfloat162"],
    ),
    ("f8", &[Scalar::F8E4M3, Scalar::F8E5M2], &[]),
    ("f4", &[Scalar::F4E2M1, Scalar::F4E2M1x2], &[]),
];

/// Each feature, with who needs it: `` `__half`, which kernel `scale` takes, ``.
pub(super) fn needs(signatures: &Signatures) -> Vec<(&'static str, String)> {
    let mut uses = Vec::new();
    for kernel in &signatures.kernels {
        for param in &kernel.params {
            if let ParamType::Value(ty) | ParamType::Pointer { to: Some(ty), .. } = &param.ty {
                let who = format!("`{}` in kernel `{}`", param.declared, kernel.path);
                uses.push((ty, who));
            }
        }
    }
    for function in &signatures.functions {
        let params = function.params.iter().map(|it| (&it.declared, &it.ty));
        let returns = function.returns.iter().map(|(declared, ty)| (declared, ty));
        uses.extend(params.chain(returns).filter_map(|(declared, ty)| {
            let who = format!("`{declared}` in host function `{}`", function.name);
            Some((ty.innermost()?, who))
        }));
    }
    for symbol in &signatures.symbols {
        let who = format!(
            "`{}`, the type of variable `{}`",
            symbol.declared, symbol.path
        );
        uses.push((&symbol.ty, who));
    }
    for structure in &signatures.structs {
        let fields = structure.fields.iter().map(|it| (&it.ty, &it.name));
        let views = structure.views.iter().map(|it| (&it.ty, &it.name));
        uses.extend(fields.chain(views).map(|(ty, name)| {
            let who = format!("field `{name}` of `{}`", structure.path);
            (ty, who)
        }));
    }
    let needed = FEATURES.iter().filter_map(|(feature, scalars, vectors)| {
        let mut uses = uses.iter();
        let (_, who) = uses.find(|(ty, _)| holds(ty, scalars, vectors))?;
        Some((*feature, who.clone()))
    });
    needed.collect()
}

fn holds(ty: &Type, scalars: &[Scalar], vectors: &[&str]) -> bool {
    match ty {
        Type::Scalar(scalar) => scalars.contains(scalar),
        Type::Vector(name) => vectors.contains(&name.as_str()),
        Type::Array(item, _) => holds(item, scalars, vectors),
        Type::Struct(_) | Type::Enum(_) | Type::Bytes(_) | Type::Address | Type::Generic(_) => {
            false
        }
    }
}
