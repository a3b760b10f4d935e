//! Kinds of failed checks, and sets of them.

use std::ops::BitOr;

use crate::site::SiteKind;

/// The kind of a [`FailedCheck`](crate::FailedCheck).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Category {
    /// `GPUK_CHECK`.
    Check,
    /// `GPUK_EXPECT`.
    Expect,
    /// `GPUK_DEBUG_CHECK`.
    DebugCheck,
    /// `GPUK_DEBUG_EXPECT`.
    DebugExpect,
    /// `assert`.
    Assert,
    /// A `trap`, where the setting `traps` makes it a check.
    Trap,
    /// `GPUK_CHECK_BLOCK`.
    CheckBlock,
    /// `GPUK_CHECK_WARP`.
    CheckWarp,
    /// `GPUK_DEBUG_CHECK_BLOCK`.
    DebugCheckBlock,
    /// `GPUK_DEBUG_CHECK_WARP`.
    DebugCheckWarp,
    /// No check is known to have failed, but it cannot be said that none did: the driver reports a fault, or
    /// the record names a check that the image does not have. Block, thread and place are then zero or empty.
    Fault,
}

impl From<SiteKind> for Category {
    fn from(kind: SiteKind) -> Self {
        match kind {
            SiteKind::Check => Self::Check,
            SiteKind::Expect => Self::Expect,
            SiteKind::DebugCheck => Self::DebugCheck,
            SiteKind::DebugExpect => Self::DebugExpect,
            SiteKind::Assert => Self::Assert,
            SiteKind::Trap => Self::Trap,
            SiteKind::CheckBlock => Self::CheckBlock,
            SiteKind::CheckWarp => Self::CheckWarp,
            SiteKind::DebugCheckBlock => Self::DebugCheckBlock,
            SiteKind::DebugCheckWarp => Self::DebugCheckWarp,
        }
    }
}

impl Category {
    /// What happened, in two or three words.
    pub(crate) const fn headline(self) -> &'static str {
        match self {
            Self::Check => SiteKind::Check.headline(),
            Self::Expect => SiteKind::Expect.headline(),
            Self::DebugCheck => SiteKind::DebugCheck.headline(),
            Self::DebugExpect => SiteKind::DebugExpect.headline(),
            Self::Assert => SiteKind::Assert.headline(),
            Self::Trap => SiteKind::Trap.headline(),
            Self::CheckBlock => SiteKind::CheckBlock.headline(),
            Self::CheckWarp => SiteKind::CheckWarp.headline(),
            Self::DebugCheckBlock => SiteKind::DebugCheckBlock.headline(),
            Self::DebugCheckWarp => SiteKind::DebugCheckWarp.headline(),
            Self::Fault => "launch failed",
        }
    }
}

/// A set of [`Category`]s, to tell failures apart that a program treats differently.
///
/// It filters nothing. Which checks are armed is settled when kernels are built, where one that is not a debug check
/// is armed or refused; and a payload tells its first failure whatever it is of.
///
/// ```
/// # use gpuk::{Categories, Category};
/// let mine = Categories::EXPECTATIONS | Category::Assert.into();
/// assert!(mine.contains(Category::Expect) && mine.contains(Category::Assert));
/// assert!(!mine.contains(Category::Check));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Categories(u32);

impl Categories {
    /// Those that stop the thread: checks, asserts and traps.
    pub const STOPS: Self = Self::of(Category::Check)
        .and(Self::of(Category::DebugCheck))
        .and(Self::of(Category::Assert))
        .and(Self::of(Category::Trap))
        .and(Self::GROUPS);
    /// Those that stop a block or a warp together.
    pub const GROUPS: Self = Self::of(Category::CheckBlock)
        .and(Self::of(Category::CheckWarp))
        .and(Self::of(Category::DebugCheckBlock))
        .and(Self::of(Category::DebugCheckWarp));
    /// Those after which the thread goes on.
    pub const EXPECTATIONS: Self = Self::of(Category::Expect).and(Self::of(Category::DebugExpect));
    /// Those of debug builds alone.
    pub const DEBUG: Self = Self::of(Category::DebugCheck)
        .and(Self::of(Category::DebugExpect))
        .and(Self::of(Category::DebugCheckBlock))
        .and(Self::of(Category::DebugCheckWarp));
    /// Failures of which no check is known.
    pub const FAULTS: Self = Self::of(Category::Fault);
    /// Every one, those that later versions add too.
    pub const ALL: Self = Self(u32::MAX);

    const fn of(category: Category) -> Self {
        Self(1 << category as u32)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a category is one of them.
    #[must_use]
    pub const fn contains(self, category: Category) -> bool {
        self.0 & Self::of(category).0 != 0
    }
}

impl From<Category> for Categories {
    fn from(category: Category) -> Self {
        Self::of(category)
    }
}

impl BitOr for Categories {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_stops_goes_on_or_is_a_fault() {
        let all = [
            Category::Check,
            Category::Expect,
            Category::DebugCheck,
            Category::DebugExpect,
            Category::Assert,
            Category::Trap,
            Category::CheckBlock,
            Category::CheckWarp,
            Category::DebugCheckBlock,
            Category::DebugCheckWarp,
            Category::Fault,
        ];
        let sets = [
            Categories::STOPS,
            Categories::EXPECTATIONS,
            Categories::FAULTS,
        ];
        for category in all {
            assert!(Categories::ALL.contains(category));
            assert!(!Categories::default().contains(category));
            let of = sets.iter().filter(|set| set.contains(category));
            assert_eq!(of.count(), 1, "{category:?}");
            let is_debug = matches!(
                category,
                Category::DebugCheck
                    | Category::DebugExpect
                    | Category::DebugCheckBlock
                    | Category::DebugCheckWarp
            );
            assert_eq!(Categories::DEBUG.contains(category), is_debug);
        }
    }
}
