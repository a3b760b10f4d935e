//! What the threads of a block know of each other: up to which time another thread's accesses lie before one's own.
//!
//! A block has a time of its own, which passes when threads synchronise. Whoever synchronises comes to know what
//! the others did up to then. Nearly always all threads of a block do, or all lanes of a warp, so there is one floor
//! for the block and one for each warp; what single threads know beyond these is kept apart.

use std::sync::Arc;

use super::order::Foreign;
use crate::register::{ALL, LANES, lanes_of};

/// Up to when accesses of the threads of a block are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Of every thread.
    floor: u32,
    /// Of threads of which more is known, by rising number.
    more: Vec<(u32, u32)>,
}

impl Known {
    /// Of a thread.
    pub(super) fn of(&self, thread: u32) -> u32 {
        let found = self
            .more
            .binary_search_by_key(&thread, |(thread, _)| *thread);
        found.map_or(self.floor, |at| self.more[at].1.max(self.floor))
    }

    /// Of the thread of which most is known.
    pub(super) fn latest(&self) -> u32 {
        self.more
            .iter()
            .fold(self.floor, |all, (_, one)| all.max(*one))
    }

    /// What two know together.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let floor = self.floor.max(other.floor);
        let threads = self
            .more
            .iter()
            .chain(&other.more)
            .map(|(thread, _)| *thread);
        let mut threads: Vec<u32> = threads.collect();
        threads.sort_unstable();
        threads.dedup();
        let times = threads
            .into_iter()
            .map(|thread| (thread, self.of(thread).max(other.of(thread))));
        Self {
            floor,
            more: times.filter(|(_, time)| *time > floor).collect(),
        }
    }

    /// What is known of each thread.
    fn new(times: &[u32]) -> Self {
        let floor = times.iter().copied().min().unwrap_or(0);
        let more = (0_u32..).zip(times.iter().copied());
        Self {
            floor,
            more: more.filter(|(_, time)| *time > floor).collect(),
        }
    }

    fn add_to(&self, times: &mut [u32]) {
        for time in &mut *times {
            *time = (*time).max(self.floor);
        }
        for (thread, known) in &self.more {
            if let Some(time) = times.get_mut(*thread as usize) {
                *time = (*time).max(*known);
            }
        }
    }
}

/// What a fence lets later writes of flags tell others.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) known: Arc<Known>,
    pub(super) foreign: Option<Arc<Foreign>>,
}

/// What a thread knows beyond its warp and its block.
#[derive(Debug, Clone, Default)]
struct Thread {
    own: Option<Arc<Known>>,
    foreign: Option<Arc<Foreign>>,
    /// By its last fence, for the block and for others.
    released: [Option<Arc<Release>>; 2],
}

impl Thread {
    fn is_same(&self, other: &Self) -> bool {
        fn same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
            a.map(Arc::as_ptr) == b.map(Arc::as_ptr)
        }
        same(self.own.as_ref(), other.own.as_ref())
            && same(self.foreign.as_ref(), other.foreign.as_ref())
            && same(self.released[0].as_ref(), other.released[0].as_ref())
            && same(self.released[1].as_ref(), other.released[1].as_ref())
    }
}

/// Lanes that came to a barrier of the block and did not wait.
#[derive(Debug)]
struct Arrival {
    number: u32,
    warp: u32,
    lanes: u32,
    brought: Thread,
}

/// The times of a block.
#[derive(Debug)]
pub(super) struct Clocks {
    time: u32,
    /// Whether there were accesses since the time last passed.
    used: bool,
    /// Up to when all threads know of all.
    floor: u32,
    /// Up to when the lanes of a warp know of each other.
    warps: Vec<u32>,
    threads: usize,
    /// Empty as long as nobody knows more.
    more: Vec<Thread>,
    arrivals: Vec<Arrival>,
    /// When each thread came to the cluster's barrier.
    arrived: Vec<u32>,
}

impl Clocks {
    pub(super) fn new(threads: u32) -> Self {
        Self {
            time: 1,
            used: false,
            floor: 0,
            warps: vec![0; (threads as usize).div_ceil(LANES)],
            threads: threads as usize,
            more: Vec::new(),
            arrivals: Vec::new(),
            arrived: Vec::new(),
        }
    }

    /// The time of an access that is made now.
    #[inline(always)]
    pub(super) const fn stamp(&mut self) -> u32 {
        self.used = true;
        self.time
    }

    /// Up to when all threads of the block know of all.
    #[inline(always)]
    pub(super) const fn floor(&self) -> u32 {
        self.floor
    }

    /// Up to when the lanes of a warp know of each other.
    #[inline(always)]
    pub(super) fn warp_floor(&self, warp: u32) -> u32 {
        let own = self.warps.get(warp as usize).copied().unwrap_or(0);
        own.max(self.floor)
    }

    /// Ends a time; what was done up to it was done before what follows.
    const fn tick(&mut self) -> u32 {
        if self.used {
            self.used = false;
            self.time += 1;
        }
        self.time - 1
    }

    /// Whether a thread knows what another one of the block did at a time, without what others' blocks told it.
    #[inline]
    pub(super) fn knows(&self, thread: u32, other: u32, time: u32) -> bool {
        thread == other
            || time <= self.floor
            || thread / 32 == other / 32 && time <= self.warp_floor(thread / 32)
            || (self.more.get(thread as usize))
                .and_then(|more| more.own.as_ref())
                .is_some_and(|own| time <= own.of(other))
    }

    /// What a thread knows of other blocks, and of its own by what is said in memory.
    pub(super) fn foreign(&self, thread: u32) -> Option<&Arc<Foreign>> {
        self.more.get(thread as usize)?.foreign.as_ref()
    }

    /// A thread comes to know more.
    pub(super) fn learn(&mut self, thread: u32, news: &Arc<Foreign>) {
        let more = self.more_of(thread);
        more.foreign = Foreign::join(more.foreign.take(), Some(news));
    }

    fn more_of(&mut self, thread: u32) -> &mut Thread {
        if self.more.is_empty() {
            self.more = vec![Thread::default(); self.threads.next_multiple_of(LANES)];
        }
        &mut self.more[thread as usize]
    }

    /// Adds what a thread knows, and what it did up to `now`.
    fn add(&self, thread: u32, now: u32, times: &mut [u32]) {
        let warp = (thread / 32) as usize;
        let first = warp * LANES;
        let end = (first + LANES).min(times.len());
        let floor = self.warp_floor(thread / 32);
        for time in &mut times[first..end] {
            *time = (*time).max(floor);
        }
        if let Some(own) = self
            .more
            .get(thread as usize)
            .and_then(|more| more.own.as_ref())
        {
            own.add_to(times);
        }
        let time = &mut times[thread as usize];
        *time = (*time).max(now);
    }

    /// What a thread can tell others now.
    fn view(&self, thread: u32, now: u32) -> Release {
        let own = self
            .more
            .get(thread as usize)
            .and_then(|more| more.own.as_ref());
        let known = if own.is_some() {
            let mut times = vec![self.floor; self.threads];
            self.add(thread, now, &mut times);
            Known::new(&times)
        } else {
            let floor = self.warp_floor(thread / 32);
            let first = thread / 32 * 32;
            let lanes = first..(first + 32).min(self.threads as u32);
            let times = lanes.map(|lane| (lane, if lane == thread { now } else { floor }));
            Known {
                floor: self.floor,
                more: times.filter(|(_, time)| *time > self.floor).collect(),
            }
        };
        Release {
            known: Arc::new(known),
            foreign: self.foreign(thread).cloned(),
        }
    }

    /// Lanes executed a fence; `wide` if for other blocks too.
    pub(super) fn fence(&mut self, warp: u32, mask: u32, wide: bool) {
        let now = self.tick();
        for lane in lanes_of(mask) {
            let thread = warp * 32 + lane as u32;
            let release = Arc::new(self.view(thread, now));
            let more = self.more_of(thread);
            if wide {
                more.released[1] = Some(Arc::clone(&release));
            }
            more.released[0] = Some(release);
        }
    }

    /// What a thread's fence let it tell; `wide` to other blocks.
    pub(super) fn released(&self, thread: u32, wide: bool) -> Option<&Arc<Release>> {
        self.more.get(thread as usize)?.released[usize::from(wide)].as_ref()
    }

    /// What a thread tells by a write that is a release itself.
    pub(super) fn release(&mut self, thread: u32) -> Arc<Release> {
        let now = self.tick();
        Arc::new(self.view(thread, now))
    }

    /// What threads know together, each of itself up to `now`.
    fn gather(&self, members: impl Iterator<Item = u32>, now: u32) -> Thread {
        let mut times = vec![self.floor; self.threads];
        let mut all = Gather::default();
        for thread in members {
            self.add(thread, now, &mut times);
            if let Some(more) = self.more.get(thread as usize) {
                all.add(more, self.threads);
            }
        }
        Thread {
            own: Some(Arc::new(Known::new(&times))),
            ..all.done()
        }
    }

    /// Lanes come to a barrier and do not wait.
    pub(super) fn arrive(&mut self, number: u32, warp: u32, lanes: u32) {
        let now = self.tick();
        let members = lanes_of(lanes).map(|lane| warp * 32 + lane as u32);
        let brought = self.gather(members, now);
        self.arrivals.push(Arrival {
            number,
            warp,
            lanes,
            brought,
        });
    }

    /// Threads met at a barrier of the block. Whether that were all, who now know everything of each other.
    pub(super) fn barrier(&mut self, number: u32, members: &[u32], live: &[u32]) -> bool {
        let now = self.tick();
        let mut arrivals = Vec::new();
        let mut at = 0;
        while let Some(arrival) = self.arrivals.get(at) {
            if arrival.number == number {
                arrivals.push(self.arrivals.swap_remove(at));
            } else {
                at += 1;
            }
        }
        let mut warps = members.iter().zip(live);
        let whole = arrivals.is_empty() && warps.all(|(members, live)| live & !members == 0);
        if whole {
            self.floor = now;
            if self.more.is_empty() {
                return true;
            }
        }
        let mut waiting = members.to_vec();
        if whole {
            // Those that have left have done what they did.
            waiting.fill(ALL);
        }
        for arrival in &arrivals {
            waiting[arrival.warp as usize] &= !arrival.lanes;
        }
        let waiting: Vec<u32> = (0..self.threads as u32)
            .filter(|thread| waiting[*thread as usize / LANES] >> (thread % 32) & 1 == 1)
            .collect();
        let mut times = vec![self.floor; self.threads];
        let mut all = Gather::default();
        // Who arrived brought what it knew then.
        for Arrival { brought, .. } in &arrivals {
            if let Some(own) = &brought.own {
                own.add_to(&mut times);
            }
            all.add(brought, self.threads);
        }
        for thread in &waiting {
            self.add(*thread, now, &mut times);
            if let Some(more) = self.more.get(*thread as usize) {
                all.add(more, self.threads);
            }
        }
        let all = Thread {
            own: (!whole).then(|| Arc::new(Known::new(&times))),
            ..all.done()
        };
        for thread in waiting {
            *self.more_of(thread) = all.clone();
        }
        whole
    }

    /// Lanes of a warp met.
    #[inline]
    pub(super) fn warp_sync(&mut self, warp: u32, members: u32, live: u32) {
        let whole = live & !members == 0;
        if whole && self.is_alike(warp) {
            self.warps[warp as usize] = self.tick();
            return;
        }
        self.warp_sync_apart(warp, members, whole);
    }

    /// Whether the lanes of a warp know the same of others.
    fn is_alike(&self, warp: u32) -> bool {
        let first = warp as usize * LANES;
        let Some(lanes) = self.more.get(first..first + LANES) else {
            return true;
        };
        lanes.iter().all(|lane| lane.is_same(&lanes[0]))
    }

    #[inline(never)]
    fn warp_sync_apart(&mut self, warp: u32, members: u32, whole: bool) {
        let now = self.tick();
        let last = self.threads as u32 - warp * 32;
        let present = if last >= 32 { ALL } else { ALL >> (32 - last) };
        let members = if whole { present } else { members & present };
        if whole {
            self.warps[warp as usize] = now;
        }
        let threads = || lanes_of(members).map(|lane| warp * 32 + lane as u32);
        let all = self.gather(threads(), now);
        for thread in threads() {
            *self.more_of(thread) = all.clone();
        }
    }

    /// Lanes came to the cluster's barrier.
    pub(super) fn cluster_arrive(&mut self, warp: u32, lanes: u32) {
        let now = self.tick();
        self.arrived.resize(self.threads, 0);
        for lane in lanes_of(lanes) {
            if let Some(time) = self.arrived.get_mut(warp as usize * LANES + lane) {
                *time = now;
            }
        }
    }

    /// What the threads of the block tell those of the others of a cluster.
    pub(super) fn cluster_release(&mut self) -> Release {
        let now = self.tick();
        let mut times = std::mem::take(&mut self.arrived);
        times.resize(self.threads, 0);
        for time in &mut times {
            // Who has left has done all it did.
            *time = if *time == 0 { now } else { *time };
        }
        let mut all = Gather::default();
        for more in &self.more {
            all.add(more, self.threads);
        }
        Release {
            known: Arc::new(Known::new(&times)),
            foreign: all.done().foreign,
        }
    }

    /// All threads of the block come to know what those of a cluster told.
    pub(super) fn cluster_learn(&mut self, news: &Arc<Foreign>) {
        for thread in 0..self.threads as u32 {
            self.learn(thread, news);
        }
    }
}

/// What several threads know together.
#[derive(Default)]
struct Gather {
    foreign: Option<Arc<Foreign>>,
    released: [Option<Arc<Release>>; 2],
}

impl Gather {
    fn add(&mut self, one: &Thread, threads: usize) {
        self.foreign = Foreign::join(self.foreign.take(), one.foreign.as_ref());
        for (all, one) in self.released.iter_mut().zip(&one.released) {
            let Some(one) = one else { continue };
            match all {
                None => *all = Some(Arc::clone(one)),
                Some(all) if Arc::ptr_eq(all, one) => {}
                Some(all) => {
                    let mut times = vec![0; threads];
                    all.known.add_to(&mut times);
                    one.known.add_to(&mut times);
                    *all = Arc::new(Release {
                        known: Arc::new(Known::new(&times)),
                        foreign: Foreign::join(all.foreign.clone(), one.foreign.as_ref()),
                    });
                }
            }
        }
    }

    fn done(self) -> Thread {
        Thread {
            own: None,
            foreign: self.foreign,
            released: self.released,
        }
    }
}
