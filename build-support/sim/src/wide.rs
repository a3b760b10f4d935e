//! Runs loops over rows with the machine's wide vectors.
//!
//! A binary is built for the oldest processor of its kind, which on x86-64 has four lanes and no fused
//! multiply-add. [`wide!`] compiles a function a second time for AVX2 and FMA and picks it where the
//! processor has them. Both give the same bits.

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicU8, Ordering};

/// `wide!(fn name(arguments) = body);`: `name` runs `body`, an `#[inline(always)]` function of the same
/// arguments, as wide as the processor can. With `<S: Bound>` after the name both are generic.
macro_rules! wide {
    (
        $visibility:vis fn $name:ident $(<$($generic:ident: $bound:path),+>)? (
            $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? = $body:ident
    ) => {
        #[inline(never)]
        $visibility fn $name $(<$($generic: $bound),+>)? ($($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn vectors $(<$($generic: $bound),+>)? ($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                if $crate::wide::available() {
                    #[expect(
                        unsafe_code,
                        reason = "a processor without these instructions must not come here"
                    )]
                    // SAFETY: `available` says that the processor has them.
                    return unsafe { vectors($($argument),*) };
                }
            }
            $body($($argument),*)
        }
    };
}
pub(crate) use wide;

/// Whether the processor has what [`wide!`] compiles for.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn available() -> bool {
    match KNOWN.load(Ordering::Relaxed) {
        0 => detect(),
        known => known == 2,
    }
}

/// 0 before anyone looked, 1 for no, 2 for yes.
#[cfg(target_arch = "x86_64")]
static KNOWN: AtomicU8 = AtomicU8::new(0);

#[cfg(target_arch = "x86_64")]
#[cold]
fn detect() -> bool {
    use std::arch::is_x86_feature_detected as has;
    let found = has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2");
    let found = found && has!("lzcnt") && has!("popcnt");
    KNOWN.store(1 + u8::from(found), Ordering::Relaxed);
    found
}
