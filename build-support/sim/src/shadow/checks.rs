//! Which check sees which access: reads of bytes that nobody wrote, and races.
//!
//! Bytes are told apart, also those of a vector: a struct that is copied whole is a read of its padding.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::clock::Clocks;
use super::log::{Class, Log};
use super::order::Order;
use super::page::Area;
use super::{Access, BlockStart, Found, Lanes, LaunchStart, Same, Scope, Semantics, Shadow, Space};
use crate::finding::Kind;
use crate::memory::Written;
use crate::options::{Options, Races, Uninitialised};
use crate::register::lanes_of;

/// Findings that a block keeps.
const KEPT: usize = 256;
/// The number of a block's shared memory among areas, beside the block's.
const SHARED: u64 = 1 << 63;

/// What is looked for beyond bounds, in one launch.
#[derive(Debug)]
pub(crate) struct Checks {
    pub(super) races: Races,
    uninitialised: Uninitialised,
    /// Whether a launch goes on after a read of bytes that nobody wrote.
    goes_on: bool,
    pub(super) order: Order,
    /// Whether blocks reach each other's shared memory.
    clustered: AtomicBool,
    /// Allocations, and the shared memory of clustered blocks.
    areas: Mutex<HashMap<u64, Arc<Area>>>,
    /// What of the shared memory of clustered blocks is written.
    written: Mutex<HashMap<u64, Arc<Written>>>,
}

/// What belongs to a resident block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(super) linear: u64,
    pub(super) clocks: Clocks,
    pub(super) log: Log,
    shared: Arc<Area>,
    written: Option<Arc<Written>>,
    /// Areas that the block has reached.
    areas: Vec<Arc<Area>>,
    found: Vec<Found>,
}

impl Block {
    /// Keeps a finding, unless there is one like it.
    #[cold]
    pub(super) fn note(&mut self, found: Found) {
        let key = found.key();
        if self.found.len() < KEPT && self.found.iter().all(|known| known.key() != key) {
            self.found.push(found);
        }
    }

    /// Whether there is a finding like it.
    pub(super) fn has(&self, key: (Kind, u32, Option<u32>)) -> bool {
        self.found.iter().any(|known| known.key() == key)
    }
}

impl Checks {
    /// Whether the options ask for any of it.
    pub(crate) fn wanted(options: &Options) -> bool {
        options.races != Races::Off || options.uninitialised != Uninitialised::Off
    }

    /// For a launch of a kernel.
    pub(crate) fn new(options: &Options, kernel: &str) -> Self {
        let allows = |kind| options.allow.iter().any(|one| one.holds(kernel, kind));
        Self {
            races: options.races,
            uninitialised: options.uninitialised,
            goes_on: options.uninitialised != Uninitialised::Error || allows(Kind::Uninitialised),
            order: Order::default(),
            clustered: AtomicBool::new(false),
            areas: Mutex::default(),
            written: Mutex::default(),
        }
    }

    /// The area of an access; `None` for one that is not looked at.
    fn area(&self, block: &mut Block, access: &Access, lanes: &Lanes<'_>) -> Option<Arc<Area>> {
        let number = match (access.space, lanes.allocation, lanes.owner) {
            (Space::Shared, _, None) => return Some(Arc::clone(&block.shared)),
            (Space::Shared, _, Some(owner)) => SHARED | owner,
            (Space::Global, Some(allocation), _) if self.races == Races::All => allocation.number,
            _ => return None,
        };
        if let Some(area) = block.areas.iter().find(|area| area.number == number) {
            return Some(Arc::clone(area));
        }
        let mut areas = self.areas.lock().unwrap_or_else(PoisonError::into_inner);
        let area = match lanes.allocation {
            Some(allocation) => {
                let new = || Arc::new(Area::new(number, allocation.base, allocation.bytes));
                Arc::clone(areas.entry(number).or_insert_with(new))
            }
            None => Arc::clone(areas.get(&number)?),
        };
        block.areas.push(Arc::clone(&area));
        Some(area)
    }

    /// Does `with` what is known of which bytes are written, and the address of the first of them.
    fn written<T>(
        &self,
        block: &Block,
        access: &Access,
        lanes: &Lanes<'_>,
        with: impl FnOnce(&Written, u64) -> T,
    ) -> Option<T> {
        let base = lanes.allocation.map_or(0, |allocation| allocation.base);
        match (access.space, lanes.owner) {
            (Space::Shared, None) => block.written.as_ref().map(|written| with(written, base)),
            (Space::Shared, Some(owner)) => {
                let all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
                let written = all.get(&(SHARED | owner)).cloned();
                drop(all);
                written.map(|written| with(&written, base))
            }
            _ => lanes.written.map(|written| with(written, base)),
        }
    }

    /// Lanes read: finds bytes that nobody wrote.
    fn read(
        &self,
        block: &mut Block,
        access: &Access,
        lanes: &Lanes<'_>,
    ) -> Result<(), Box<Found>> {
        let missing = self.written(block, access, lanes, |written, base| {
            if written.is_complete() {
                return None;
            }
            lanes_of(lanes.mask).find_map(|lane| {
                let at = lanes.addresses[lane].wrapping_sub(base);
                let (first, count) = written.missing(at, access.bytes.into())?;
                Some((lane, first + base, count))
            })
        });
        let Some((lane, first, count)) = missing.flatten() else {
            return Ok(());
        };
        let (bytes, address) = (access.bytes, lanes.addresses[lane]);
        let text = if count == bytes {
            format!("read of {bytes} bytes at {address:#x}, which nobody has written")
        } else {
            let plural = if count == 1 { "" } else { "s" };
            format!(
                "read of {bytes} bytes at {address:#x}, of which {count} byte{plural} from {first:#x} on nobody has \
                 written"
            )
        };
        let found = Found {
            kind: Kind::Uninitialised,
            instruction: access.instruction,
            block: block.linear,
            thread: lanes.warp * 32 + lane as u32,
            address,
            bytes,
            space: access.space,
            other: None,
            text,
        };
        if !self.goes_on {
            return Err(Box::new(found));
        }
        block.note(found);
        Ok(())
    }

    /// Lanes write.
    fn write(&self, block: &Block, access: &Access, lanes: &Lanes<'_>) {
        self.written(block, access, lanes, |written, base| {
            if written.is_complete() {
                return;
            }
            for lane in lanes_of(lanes.mask) {
                let at = lanes.addresses[lane].wrapping_sub(base);
                written.set(at, access.bytes.into());
            }
        });
    }

    fn race(
        &self,
        block: &mut Block,
        access: &Access,
        lanes: &Lanes<'_>,
        class: Class,
        same: Option<&Same<'_>>,
    ) {
        if self.races == Races::Off || access.space == Space::Const {
            return;
        }
        let strong = class == Class::Atomic || access.semantics != Semantics::Weak;
        if strong && class != Class::Write {
            self.hear(block, access, lanes);
        }
        if let Some(area) = self.area(block, access, lanes) {
            let one = super::race::One {
                access,
                lanes,
                class,
                same,
            };
            one.look(self, block, &area);
        }
        if strong && class != Class::Read {
            self.say(block, access, lanes, class);
        }
    }

    /// The place that a lane reads or writes, among all that threads can say something at.
    fn place(block: &Block, access: &Access, lanes: &Lanes<'_>, lane: usize) -> u64 {
        let address = lanes.addresses[lane];
        match access.space {
            Space::Shared => {
                let owner = lanes.owner.unwrap_or(block.linear);
                SHARED | owner << 32 | address
            }
            _ => address,
        }
    }

    /// Lanes learn what was said where they read.
    fn hear(&self, block: &mut Block, access: &Access, lanes: &Lanes<'_>) {
        let mut last = None;
        for lane in lanes_of(lanes.mask) {
            let place = Self::place(block, access, lanes, lane);
            let news = match last.take() {
                Some((known, news)) if known == place => news,
                _ => self.order.hear(place),
            };
            if let Some(news) = &news {
                block.clocks.learn(lanes.warp * 32 + lane as u32, news);
            }
            last = Some((place, news));
        }
    }

    /// Lanes say where they write what they may.
    fn say(&self, block: &mut Block, access: &Access, lanes: &Lanes<'_>, class: Class) {
        let wide = is_wide(access, class);
        let number = block.linear as u32;
        let releases = matches!(
            access.semantics,
            Semantics::Release | Semantics::AcquireRelease | Semantics::SequentiallyConsistent
        );
        for lane in lanes_of(lanes.mask) {
            let thread = lanes.warp * 32 + lane as u32;
            let place = Self::place(block, access, lanes, lane);
            if releases {
                let what = block.clocks.release(thread);
                self.order.say(place, number, wide, &what);
                continue;
            }
            let far = block.clocks.released(thread, true).filter(|_| wide);
            if let Some(far) = far {
                self.order.say(place, number, true, far);
            }
            if let Some(near) = block.clocks.released(thread, false)
                && far.is_none_or(|far| !Arc::ptr_eq(far, near))
            {
                self.order.say(place, number, false, near);
            }
        }
    }
}

/// Whether an access is for other blocks too. An atomic operation that says nothing of it is.
pub(super) const fn is_wide(access: &Access, class: Class) -> bool {
    match access.scope {
        Scope::Weak => matches!(class, Class::Atomic),
        Scope::Cta => false,
        Scope::Cluster | Scope::Gpu | Scope::Sys => true,
    }
}

impl Shadow for Checks {
    const ACTIVE: bool = true;
    type Block = Block;

    fn launch(&self, launch: &LaunchStart) {
        let clustered = launch.cluster.iter().any(|size| *size > 1);
        self.clustered.store(clustered, Ordering::Relaxed);
    }

    fn block_start(&self, block: &BlockStart) -> Block {
        let number = SHARED | block.linear;
        let shared = Arc::new(Area::new(number, 0, block.shared.into()));
        let looked_at = self.uninitialised != Uninitialised::Off;
        let written = looked_at.then(|| Arc::new(Written::new(block.shared as usize)));
        if self.clustered.load(Ordering::Relaxed) {
            let mut areas = self.areas.lock().unwrap_or_else(PoisonError::into_inner);
            areas.insert(number, Arc::clone(&shared));
            if let Some(written) = &written {
                let mut all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(number, Arc::clone(written));
            }
        }
        Block {
            linear: block.linear,
            clocks: Clocks::new(block.threads),
            log: Log::new(block.threads.div_ceil(32) as usize),
            shared,
            written,
            areas: Vec::new(),
            found: Vec::new(),
        }
    }

    fn block_end(&self, block: &mut Block) {
        if self.clustered.load(Ordering::Relaxed) {
            let number = SHARED | block.linear;
            let mut areas = self.areas.lock().unwrap_or_else(PoisonError::into_inner);
            areas.remove(&number);
            let mut all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            all.remove(&number);
        }
    }

    fn load(
        &self,
        block: &mut Block,
        access: &Access,
        lanes: &Lanes<'_>,
    ) -> Result<(), Box<Found>> {
        self.read(block, access, lanes)?;
        self.race(block, access, lanes, Class::Read, None);
        Ok(())
    }

    fn store(
        &self,
        block: &mut Block,
        access: &Access,
        lanes: &Lanes<'_>,
        same: &Same<'_>,
    ) -> Result<(), Box<Found>> {
        self.write(block, access, lanes);
        self.race(block, access, lanes, Class::Write, Some(same));
        Ok(())
    }

    fn atomic(
        &self,
        block: &mut Block,
        access: &Access,
        lanes: &Lanes<'_>,
    ) -> Result<(), Box<Found>> {
        self.read(block, access, lanes)?;
        self.write(block, access, lanes);
        self.race(block, access, lanes, Class::Atomic, None);
        Ok(())
    }

    fn moved(&self, block: &mut Block, access: &Access, lanes: &Lanes<'_>) {
        if self.races != Races::Off && access.space != Space::Const {
            self.hear(block, access, lanes);
        }
    }

    fn arrive(&self, block: &mut Block, number: u32, warp: u32, lanes: u32) {
        block.clocks.arrive(number, warp, lanes);
    }

    fn barrier(&self, block: &mut Block, number: u32, members: &[u32], live: &[u32]) {
        if block.clocks.barrier(number, members, live) {
            block.log.clear();
        }
    }

    fn cluster_arrive(&self, block: &mut Block, warp: u32, lanes: u32) {
        block.clocks.cluster_arrive(warp, lanes);
    }

    fn cluster_barrier(&self, blocks: &mut [&mut Block]) {
        let Some(first) = blocks.first() else { return };
        // A place that no memory has.
        let place = SHARED | first.linear << 32 | u64::from(u32::MAX);
        for block in &mut *blocks {
            let what = block.clocks.cluster_release();
            self.order.say(place, block.linear as u32, true, &what);
        }
        if let Some(news) = self.order.hear(place) {
            for block in blocks {
                block.clocks.cluster_learn(&news);
            }
        }
    }

    fn warp_sync(&self, block: &mut Block, warp: u32, members: u32, live: u32) {
        block.clocks.warp_sync(warp, members, live);
    }

    fn fence(&self, block: &mut Block, warp: u32, mask: u32, scope: Scope, _: Semantics) {
        if self.races != Races::Off {
            block.clocks.fence(warp, mask, scope > Scope::Cta);
        }
    }

    fn findings(&self, block: &mut Block) -> Vec<Found> {
        std::mem::take(&mut block.found)
    }
}
