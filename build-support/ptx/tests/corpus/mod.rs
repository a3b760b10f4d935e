//! The files beside this one; `README.md` says where each is from.

pub(crate) const CHECKS: &str = include_str!("checks.ptx");
pub(crate) const FEATURES: &str = include_str!("features.ptx");
pub(crate) const TRITON: &str = include_str!("triton.ptx");

pub(crate) const INLINED: &str = include_str!("inlined.ptx");
pub(crate) const INLINED_SM100: &str = include_str!("inlined_sm100.ptx");
pub(crate) const WAITS: &str = include_str!("waits.ptx");

pub(crate) const ALL: [(&str, &str); 10] = [
    ("checks", CHECKS),
    ("checks_debug", include_str!("checks_debug.ptx")),
    ("checks_sm100", include_str!("checks_sm100.ptx")),
    ("features", FEATURES),
    ("relocatable", include_str!("relocatable.ptx")),
    ("inlined", INLINED),
    ("inlined_sm100", INLINED_SM100),
    ("nvrtc12", include_str!("nvrtc12.ptx")),
    ("triton", TRITON),
    ("waits", WAITS),
];
