//! What generated code says of the features that its types need, and what stands for them where they are off.

/// A macro for generated code: nothing if a feature is on, else an error that names it and what needs it.
macro_rules! needs {
    ($($name:ident: $feature:literal)*) => {$(
        #[cfg(feature = $feature)]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($what:literal) => {};
        }

        #[cfg(not(feature = $feature))]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($what:literal) => {
                ::core::compile_error!(::core::concat!(
                    $what,
                    " needs the feature `",
                    $feature,
                    "` of `gpuk`: gpuk = { features = [\"",
                    $feature,
                    "\"] }"
                ));
            };
        }
    )*};
}

needs! {
    __needs_f16: "f16"
    __needs_f8: "f8"
    __needs_f4: "f4"
}

// The error above is to be the only one: what it is about has a name all the same.

#[cfg(not(feature = "f16"))]
#[doc(hidden)]
#[allow(non_camel_case_types)]
pub mod half {
    pub type f16 = u16;
    pub type bf16 = u16;
}

#[cfg(not(feature = "f8"))]
#[doc(hidden)]
pub mod float8 {
    pub type F8E4M3 = u8;
    pub type F8E5M2 = u8;
}

#[cfg(not(feature = "f4"))]
#[doc(hidden)]
pub mod float4 {
    pub type F4E2M1 = u8;
    pub type F4E2M1x2 = u8;
}
