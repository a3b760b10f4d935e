//! An instance that the kernels do not have, claimed by somebody else.
include!("../golden/templates.rs");

impl templates::Cast<5, u8> for u8 {
    const INFO: gpuk::KernelInfo = templates::Kernels::CAST_4_FLOAT_DOUBLE;

    fn function(_: &templates::Kernels, _: templates::seal::Seal) -> templates::seal::Found<'_> {
        unreachable!()
    }
}

fn main() {}
