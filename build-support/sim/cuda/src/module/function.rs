//! Attributes of functions (`CUfunction_attribute`).

use std::sync::atomic::{AtomicI32, Ordering};

use gpuk_sim::Function;

use crate::code::Code;
use crate::device::Profile;
use crate::refusal::Answer;

/// `CU_FUNC_ATTRIBUTE_…`.
mod attribute {
    pub(super) const MAX_THREADS: u32 = 0;
    pub(super) const SHARED: u32 = 1;
    pub(super) const CONST: u32 = 2;
    pub(super) const LOCAL: u32 = 3;
    pub(super) const REGISTERS: u32 = 4;
    pub(super) const PTX_VERSION: u32 = 5;
    pub(super) const BINARY_VERSION: u32 = 6;
    pub(super) const CACHE_MODE_CA: u32 = 7;
    pub(super) const MAX_DYNAMIC_SHARED: u32 = 8;
    pub(super) const CARVEOUT: u32 = 9;
    pub(super) const CLUSTER_MUST_BE_SET: u32 = 10;
    pub(super) const CLUSTER_WIDTH: u32 = 11;
    pub(super) const CLUSTER_DEPTH: u32 = 13;
    pub(super) const NON_PORTABLE_CLUSTER: u32 = 14;
    pub(super) const CLUSTER_POLICY: u32 = 15;
}

/// Registers of a thread. They are the machine code's business, which there is none of; as many let a full
/// multiprocessor of threads run.
pub(crate) const REGISTERS: u32 = 32;

/// What `cuFuncSetAttribute` sets.
#[derive(Debug)]
pub(crate) struct Settings {
    max_dynamic_shared: AtomicI32,
    carveout: AtomicI32,
    cluster: [AtomicI32; 3],
    non_portable: AtomicI32,
    policy: AtomicI32,
}

/// Threads of a block, as the attribute has it: a shape that the kernel requires does not lower it.
fn max_threads(function: &Function, profile: &Profile) -> u32 {
    let threads = function
        .bounds()
        .max_block
        .map(|block| block.iter().product());
    threads.unwrap_or(u32::MAX).min(profile.threads_per_block)
}

fn signed(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

impl Settings {
    pub(crate) fn new(function: &Function, profile: &Profile) -> Self {
        let left = profile
            .shared_per_block
            .saturating_sub(function.static_shared());
        Self {
            max_dynamic_shared: AtomicI32::new(signed(left)),
            carveout: AtomicI32::new(-1),
            cluster: [const { AtomicI32::new(0) }; 3],
            non_portable: AtomicI32::new(0),
            policy: AtomicI32::new(0),
        }
    }

    /// Bytes of dynamic shared memory that a launch may ask for.
    pub(crate) fn max_dynamic_shared(&self) -> u32 {
        u32::try_from(self.max_dynamic_shared.load(Ordering::Acquire)).unwrap_or(0)
    }

    /// Whether clusters may have more blocks than every device of the capability takes.
    pub(crate) fn takes_large_clusters(&self) -> bool {
        self.non_portable.load(Ordering::Acquire) != 0
    }

    fn place(&self, which: u32) -> Option<&AtomicI32> {
        Some(match which {
            attribute::MAX_DYNAMIC_SHARED => &self.max_dynamic_shared,
            attribute::CARVEOUT => &self.carveout,
            attribute::CLUSTER_WIDTH..=attribute::CLUSTER_DEPTH => self
                .cluster
                .get((which - attribute::CLUSTER_WIDTH) as usize)?,
            attribute::NON_PORTABLE_CLUSTER => &self.non_portable,
            attribute::CLUSTER_POLICY => &self.policy,
            _ => return None,
        })
    }

    /// An attribute's value.
    pub(crate) fn get(
        &self,
        which: u32,
        function: &Function,
        ptx_target: u32,
        profile: &Profile,
    ) -> Answer<i32> {
        if let Some(place) = self.place(which) {
            return Ok(place.load(Ordering::Acquire));
        }
        Ok(signed(match which {
            attribute::MAX_THREADS => max_threads(function, profile),
            attribute::SHARED => function.static_shared(),
            attribute::CONST => u32::try_from(function.const_bytes()).unwrap_or(u32::MAX),
            attribute::LOCAL => function.local_bytes(),
            attribute::REGISTERS => REGISTERS,
            attribute::PTX_VERSION => ptx_target,
            attribute::BINARY_VERSION => profile.capability,
            attribute::CACHE_MODE_CA | attribute::CLUSTER_MUST_BE_SET => 0,
            _ => {
                return Err(
                    Code::INVALID_VALUE.because(format!("functions have no attribute {which}"))
                );
            }
        }))
    }

    /// Sets an attribute.
    pub(crate) fn set(
        &self,
        which: u32,
        value: i32,
        function: &Function,
        profile: &Profile,
    ) -> Answer {
        let most = profile
            .shared_per_block_opt_in
            .saturating_sub(function.static_shared());
        let allowed = match which {
            attribute::MAX_DYNAMIC_SHARED => 0..=signed(most),
            attribute::CARVEOUT => -1..=100,
            attribute::CLUSTER_WIDTH..=attribute::CLUSTER_DEPTH => 0..=i32::MAX,
            attribute::NON_PORTABLE_CLUSTER => 0..=1,
            attribute::CLUSTER_POLICY => 0..=2,
            _ => {
                return Err(Code::INVALID_VALUE
                    .because(format!("attribute {which} of a function cannot be set")));
            }
        };
        if !allowed.contains(&value) {
            return Err(Code::INVALID_VALUE.because(format!(
                "attribute {which} of kernel `{}` takes {} to {}, not {value}",
                function.name(),
                allowed.start(),
                allowed.end()
            )));
        }
        if let Some(place) = self.place(which) {
            place.store(value, Ordering::Release);
        }
        Ok(())
    }
}
