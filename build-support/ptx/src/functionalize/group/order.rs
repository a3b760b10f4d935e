//! The order of the units of a trace.

use std::collections::BTreeSet;

use super::unit::Placed;
use crate::flow::Effect;

/// What is done next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A statement.
    Run(usize),
    /// Checks, by one branch.
    Check(Vec<Failing>),
}

/// A check of a group.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failing {
    pub(super) check: usize,
    /// What stands before it and others see, with all that it needs, and was not done yet: where this
    /// check is the first that fails, it is to be done.
    pub(super) owed: BTreeSet<usize>,
}

/// The most checks of a group.
const MAX_GROUP: usize = 8;

/// The most loads whose results wait for a later check before they are used.
const MAX_WAITING: usize = 24;

/// Puts units in order.
pub(super) fn order(units: &[Placed]) -> Vec<Step> {
    let mut order = Order {
        units,
        done: vec![false; units.len()],
        steps: Vec::new(),
        waiting: 0,
    };
    let checks: Vec<usize> = (0..units.len())
        .filter(|unit| units[*unit].effect().is_none())
        .collect();
    let mut next = 0;
    while let Some(first) = checks.get(next).copied() {
        if order.waiting > MAX_WAITING {
            let before = next.checked_sub(1).and_then(|before| checks.get(before));
            order.all_before(before.copied().unwrap_or_default());
            order.waiting = 0;
        }
        // Loads as early as they may, before the check is waited for.
        let loads = (0..first).filter(|unit| units[*unit].effect() == Some(Effect::Read));
        let mut wanted: BTreeSet<usize> = loads.collect();
        wanted.extend(&units[first].after);
        order.run(wanted);
        let mut group = vec![first];
        next += 1;
        while let Some(more) = checks.get(next).copied()
            && group.len() < MAX_GROUP
        {
            let wanted: BTreeSet<usize> = (units[more].after.iter().copied())
                .filter(|unit| !group.contains(unit))
                .collect();
            let needs = order.needs(&wanted);
            // A load that waits for no check of the group may be made before it.
            let waits = needs.iter().any(|unit| units[*unit].effect().is_none());
            let moves =
                |unit: &usize| matches!(units[*unit].effect(), Some(Effect::Pure | Effect::Read));
            if waits || !needs.iter().all(moves) {
                break;
            }
            order.run(wanted);
            group.push(more);
            next += 1;
        }
        for check in &group {
            order.done[*check] = true;
        }
        let failing = group.into_iter().map(|check| {
            let writes = (0..check).filter(|unit| units[*unit].effect() == Some(Effect::Write));
            Failing {
                check,
                owed: order.needs(&writes.collect()),
            }
        });
        let failing = failing.collect();
        order.steps.push(Step::Check(failing));
    }
    order.all_before(units.len());
    order.steps
}

struct Order<'a> {
    units: &'a [Placed],
    done: Vec<bool>,
    steps: Vec<Step>,
    /// Loads whose users may still be to come.
    waiting: usize,
}

impl Order<'_> {
    /// All that is to be done for some units, themselves too.
    fn needs(&self, wanted: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = wanted.iter().copied().collect();
        while let Some(unit) = open.pop() {
            if !self.done[unit] && found.insert(unit) {
                open.extend(&self.units[unit].after);
            }
        }
        found
    }

    /// Does units and all that they need.
    fn run(&mut self, wanted: BTreeSet<usize>) {
        // What a unit needs stands before it.
        for unit in self.needs(&wanted) {
            self.done[unit] = true;
            self.steps.push(Step::Run(unit));
            self.waiting += usize::from(self.units[unit].effect() == Some(Effect::Read));
        }
    }

    /// Does all before `end` that is not done.
    fn all_before(&mut self, end: usize) {
        let rest = (0..end).filter(|unit| !self.done[*unit]);
        let rest: BTreeSet<usize> = rest.collect();
        self.run(rest);
    }
}
