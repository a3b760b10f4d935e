//! Where the lanes of an access lie, and whether they may.
//!
//! Families move the bytes; here addresses are made, told apart by space and allocation, and checked. The
//! lanes that do not take part get the address of one that does, so that loops over all lanes need no mask.

use std::sync::Arc;

use crate::context::{Cx, Stop};
use crate::family::memory::Named;
use crate::fault::Fault;
use crate::finding::{Finding, Kind, Near};
use crate::memory::{Allocation, AllocationInfo, Buffer, Kind as MemoryKind, window};
use crate::options::OutOfBounds;
use crate::register::{ALL, LANES, Src, each, lanes_of};
use crate::seen::Does;
use crate::shadow::{Shadow, Space};

/// The address of an access before it is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// An offset in the kernel's parameters or the frame.
    Fixed(u32),
    /// A row, and bytes added.
    Row { row: Src, wide: bool, offset: i32 },
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Bytes of a lane.
    pub(crate) bytes: u32,
    /// Whether it writes.
    pub(crate) store: bool,
    /// Whether it is atomic.
    pub(crate) atomic: bool,
}

impl Wanted {
    /// What it does, for a shadow that is not told what is written.
    pub(crate) fn does(self) -> Does<'static> {
        match (self.atomic, self.store) {
            (true, _) => Does::Atomic,
            (false, true) => Does::Store(&|_, _| false),
            (false, false) => Does::Load,
        }
    }

    const fn verb(self) -> &'static str {
        match (self.atomic, self.store) {
            (true, _) => "atomic access",
            (false, true) => "write",
            (false, false) => "read",
        }
    }
}

/// A space, with the address of its first byte in the numbers of the instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    Global,
    Shared { start: u64 },
    Local { start: u64 },
    Param { start: u64 },
}

/// The address of every lane.
#[inline(always)]
pub(crate) fn addresses<S: Shadow>(cx: &Cx<'_, S>, base: Base) -> [u64; LANES] {
    let Base::Row { row, wide, offset } = base else {
        return [0; LANES];
    };
    let mut out = if wide {
        cx.file.get::<u64>(row)
    } else {
        each(&cx.file.get::<u32>(row), u64::from)
    };
    let offset = i64::from(offset);
    for address in &mut out {
        *address = address.wrapping_add_signed(offset);
    }
    fill(&mut out, cx.mask);
    out
}

/// Gives the lanes outside the mask what the lowest one inside has.
#[inline(always)]
pub(crate) fn fill<T: Copy>(row: &mut [T; LANES], mask: u32) {
    if mask == ALL {
        return;
    }
    let first = row[mask.trailing_zeros() as usize % LANES];
    for lane in 0..LANES {
        row[lane] = if mask >> lane & 1 == 0 {
            first
        } else {
            row[lane]
        };
    }
}

/// Finds a lane whose address is no multiple of the access's size.
#[inline(always)]
pub(crate) fn check_alignment<S: Shadow>(
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    bytes: u32,
) -> Result<(), Stop> {
    let bits = addresses.iter().fold(0, |bits, address| bits | address);
    if bits & u64::from(bytes - 1) == 0 {
        return Ok(());
    }
    Err(misaligned(cx, addresses, bytes))
}

#[cold]
fn misaligned<S: Shadow>(cx: &Cx<'_, S>, addresses: &[u64; LANES], bytes: u32) -> Stop {
    let mut lanes = lanes_of(cx.mask);
    let lane = lanes.find(|lane| addresses[*lane] & u64::from(bytes - 1) != 0);
    let lane = lane.unwrap_or_default();
    let address = addresses[lane];
    let text = format!("{bytes} bytes at {address:#x}, which is no multiple of {bytes}");
    Box::new(Fault::Finding(Box::new(Finding {
        address: Some(address),
        size: bytes,
        ..*cx.finding(Kind::Misaligned, lane, text)
    })))
}

/// The space of all lanes; `None` if a generic access has lanes in several.
#[inline(always)]
pub(crate) fn region(space: Named, addresses: &[u64; LANES], mask: u32) -> Option<Region> {
    Some(match space {
        Named::Global | Named::Const => Region::Global,
        Named::Shared => Region::Shared { start: 0 },
        Named::Local => Region::Local { start: 0 },
        Named::Param => Region::Param { start: 0 },
        Named::Generic => {
            let (region, part) = first_region(addresses, mask);
            (part == mask).then_some(region)?
        }
    })
}

/// The space of the lowest lane's generic address, and the lanes that share it.
#[inline(always)]
pub(crate) fn first_region(addresses: &[u64; LANES], mask: u32) -> (Region, u32) {
    let first = addresses[mask.trailing_zeros() as usize % LANES];
    let number = window_of(first);
    let mut part = 0;
    for lane in 0..LANES {
        part |= u32::from(window_of(addresses[lane]) == number) << lane;
    }
    let region = match number {
        0 => Region::Shared {
            start: window::SHARED,
        },
        1 => Region::Local {
            start: window::LOCAL,
        },
        2 => Region::Param {
            start: window::PARAM,
        },
        _ => Region::Global,
    };
    (region, part & mask)
}

/// 0, 1, 2 for the windows of shared, local and parameter memory, else 3.
#[inline(always)]
fn window_of(address: u64) -> u64 {
    (address.wrapping_sub(window::SHARED) / window::SIZE).min(3)
}

/// Lanes whose access lies in one allocation.
pub(crate) struct Part<'a> {
    holder: Holder<'a>,
    pub(crate) mask: u32,
    /// Each lane's offset in the allocation.
    pub(crate) offsets: [u64; LANES],
}

enum Holder<'a> {
    Seen(&'a Allocation),
    /// Made after the launch last looked.
    New(Arc<Allocation>),
}

impl Part<'_> {
    pub(crate) fn allocation(&self) -> &Allocation {
        match &self.holder {
            Holder::Seen(found) => found,
            Holder::New(found) => found,
        }
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.allocation().buffer
    }

    pub(crate) fn space(&self) -> Space {
        self.allocation().space()
    }
}

/// The lanes of `left` that lie in the same allocation as the lowest of them. `None` if that one lies in none
/// and the launch goes on.
#[inline(always)]
pub(crate) fn part<'a, S: Shadow>(
    cx: &mut Cx<'a, S>,
    addresses: &[u64; LANES],
    left: u32,
    wanted: Wanted,
) -> Result<Option<Part<'a>>, Stop> {
    let lane = left.trailing_zeros() as usize % LANES;
    let first = addresses[lane];
    let number = cx.number() as usize;
    let hint = cx.worker.hints.get(number).copied().unwrap_or(0);
    let seen = (cx.view.get(hint)).filter(|found| first.wrapping_sub(found.base) < found.bytes());
    let holder = match seen {
        Some(found) => Holder::Seen(found),
        None => match look_up(cx, first, number) {
            Some(holder) => holder,
            None => return outside(cx, lane, first, wanted).map(|()| None),
        },
    };
    let mut part = Part {
        holder,
        mask: 0,
        offsets: [0; LANES],
    };
    let (base, bytes) = (part.allocation().base, part.allocation().bytes());
    let last = bytes.checked_sub(u64::from(wanted.bytes));
    let Some(last) = last.filter(|last| first - base <= *last) else {
        return outside(cx, lane, first, wanted).map(|()| None);
    };
    let mut mask = 0;
    for lane in 0..LANES {
        let offset = addresses[lane].wrapping_sub(base);
        part.offsets[lane] = offset;
        mask |= u32::from(offset <= last) << lane;
    }
    part.mask = mask & left;
    if mask != u32::MAX {
        for lane in 0..LANES {
            if part.mask >> lane & 1 == 0 {
                part.offsets[lane] = first - base;
            }
        }
    }
    if wanted.store && part.allocation().kind == MemoryKind::Constant {
        return Err(read_only(cx, lane, first, wanted));
    }
    Ok(Some(part))
}

#[cold]
/// Whether the first of the lanes `left` lies in an allocation.
pub(crate) fn is_inside<S: Shadow>(
    cx: &mut Cx<'_, S>,
    addresses: &[u64; LANES],
    left: u32,
    wanted: Wanted,
) -> bool {
    let first = addresses[left.trailing_zeros() as usize % LANES];
    let number = cx.number() as usize;
    look_up(cx, first, number).is_some_and(|holder| {
        let allocation = match &holder {
            Holder::Seen(found) => found,
            Holder::New(found) => &**found,
        };
        let last = allocation.bytes().checked_sub(wanted.bytes.into());
        last.is_some_and(|last| first - allocation.base <= last)
    })
}

fn look_up<'a, S: Shadow>(cx: &mut Cx<'a, S>, address: u64, number: usize) -> Option<Holder<'a>> {
    if let Some(index) = cx.view.find(address) {
        if let Some(hint) = cx.worker.hints.get_mut(number) {
            *hint = index;
        }
        return cx.view.get(index).map(Holder::Seen);
    }
    let memory = cx.grid.memory;
    if memory.generation() == cx.view.generation {
        return None;
    }
    cx.worker.stale = true;
    memory.holder(address).map(Holder::New)
}

/// What is near an address, for a report.
fn near(info: AllocationInfo) -> Near {
    Near {
        address: info.address,
        bytes: info.bytes,
        name: info.name,
        freed: info.freed,
    }
}

#[cold]
fn outside<S: Shadow>(
    cx: &mut Cx<'_, S>,
    lane: usize,
    address: u64,
    wanted: Wanted,
) -> Result<(), Stop> {
    let info = cx.grid.memory.near(address);
    let (verb, bytes) = (wanted.verb(), wanted.bytes);
    let kind = match &info {
        Some(info) if info.freed => Kind::UseAfterFree,
        _ => Kind::OutOfBounds,
    };
    let text = match &info {
        Some(info) if info.freed => {
            format!("{verb} of {bytes} bytes at {address:#x}, which was freed")
        }
        Some(info) if address < info.address => format!(
            "{verb} of {bytes} bytes at {address:#x}, {} bytes before an allocation",
            info.address - address
        ),
        Some(info) if address - info.address < info.bytes => format!(
            "{verb} of {bytes} bytes at {address:#x}, of which {} are past the end of an allocation",
            address - info.address + u64::from(bytes) - info.bytes
        ),
        Some(info) if address == info.address + info.bytes => {
            format!("{verb} of {bytes} bytes at {address:#x}, right past the end of an allocation")
        }
        Some(info) => format!(
            "{verb} of {bytes} bytes at {address:#x}, {} bytes past the end of an allocation",
            address - info.address - info.bytes
        ),
        None if address < 4096 => {
            format!("{verb} of {bytes} bytes at {address:#x}, through a null pointer")
        }
        None => format!("{verb} of {bytes} bytes at {address:#x}, where nothing is allocated"),
    };
    let finding = Finding {
        address: Some(address),
        size: bytes,
        space: Some("global"),
        allocation: info.map(near),
        ..*cx.finding(kind, lane, text)
    };
    go_on(cx, finding)
}

/// Ends the launch, or notes the finding and lets the access give zero.
fn go_on<S: Shadow>(cx: &mut Cx<'_, S>, finding: Finding) -> Result<(), Stop> {
    match cx.grid.options().out_of_bounds {
        OutOfBounds::Error => Err(Box::new(Fault::Finding(Box::new(finding)))),
        OutOfBounds::Zero => {
            cx.block.note(cx.grid.options().findings, finding);
            Ok(())
        }
    }
}

#[cold]
fn read_only<S: Shadow>(cx: &Cx<'_, S>, lane: usize, address: u64, wanted: Wanted) -> Stop {
    let info = cx.grid.memory.near(address);
    let text = format!(
        "{} of {} bytes at {address:#x}, in constant memory",
        wanted.verb(),
        wanted.bytes
    );
    Box::new(Fault::Finding(Box::new(Finding {
        address: Some(address),
        size: wanted.bytes,
        space: Some("const"),
        allocation: info.map(near),
        ..*cx.finding(Kind::WriteToReadOnly, lane, text)
    })))
}

/// Lanes whose access lies in the shared memory of one block.
pub(crate) struct SharedPart<'a> {
    pub(crate) buffer: &'a Buffer,
    /// Whose it is, if it is another block's.
    pub(crate) owner: Option<u64>,
    pub(crate) mask: u32,
    pub(crate) offsets: [u64; LANES],
}

/// The lanes of `left` that lie in the same block's memory as the lowest of them. `None` if that one lies
/// outside and the launch goes on.
#[inline(always)]
pub(crate) fn shared_part<'a, S: Shadow>(
    cx: &mut Cx<'a, S>,
    addresses: &[u64; LANES],
    left: u32,
    wanted: Wanted,
) -> Result<Option<SharedPart<'a>>, Stop> {
    let lane = left.trailing_zeros() as usize % LANES;
    let first = addresses[lane];
    let field = first >> window::RANK_SHIFT;
    let (rank, base) = match field {
        0 => (cx.block.rank as usize, 0),
        field => ((field - 1) as usize, field << window::RANK_SHIFT),
    };
    let owner = (rank != cx.block.rank as usize).then_some(rank as u32);
    let owner = owner.map(|rank| cx.grid.peer(cx.block.index, rank));
    let Some(buffer) = cx.shared.get(rank) else {
        return outside_shared(cx, lane, first, wanted, 0).map(|()| None);
    };
    let last = (buffer.len() as u64).checked_sub(u64::from(wanted.bytes));
    let Some(last) = last.filter(|last| first - base <= *last) else {
        return outside_shared(cx, lane, first, wanted, buffer.len()).map(|()| None);
    };
    let mut part = SharedPart {
        buffer,
        owner,
        mask: 0,
        offsets: [0; LANES],
    };
    let mut mask = 0;
    for lane in 0..LANES {
        let offset = addresses[lane].wrapping_sub(base);
        part.offsets[lane] = offset;
        mask |= u32::from(offset <= last) << lane;
    }
    part.mask = mask & left;
    if mask != u32::MAX {
        for lane in 0..LANES {
            if part.mask >> lane & 1 == 0 {
                part.offsets[lane] = first - base;
            }
        }
    }
    Ok(Some(part))
}

#[cold]
fn outside_shared<S: Shadow>(
    cx: &mut Cx<'_, S>,
    lane: usize,
    address: u64,
    wanted: Wanted,
    len: usize,
) -> Result<(), Stop> {
    let text = format!(
        "{} of {} bytes at {address:#x} of shared memory, of which the block has {len} bytes",
        wanted.verb(),
        wanted.bytes
    );
    let finding = Finding {
        address: Some(address),
        size: wanted.bytes,
        space: Some("shared"),
        ..*cx.finding(Kind::OutOfBounds, lane, text)
    };
    go_on(cx, finding)
}

#[cold]
pub(crate) fn outside_local<S: Shadow>(
    cx: &mut Cx<'_, S>,
    lane: usize,
    address: u64,
    bytes: u32,
    store: bool,
) -> Result<(), Stop> {
    let verb = if store { "write" } else { "read" };
    let top = cx.top();
    let text = format!(
        "{verb} of {bytes} bytes at {address:#x} of local memory, of which the thread has {top} bytes"
    );
    let finding = Finding {
        address: Some(address),
        size: bytes,
        space: Some("local"),
        ..*cx.finding(Kind::OutOfBounds, lane, text)
    };
    go_on(cx, finding)
}

#[cold]
pub(crate) fn outside_param<S: Shadow>(
    cx: &Cx<'_, S>,
    lane: usize,
    address: u64,
    bytes: u32,
) -> Stop {
    let len = cx.grid.launch.params.len();
    let text = format!(
        "read of {bytes} bytes at {address:#x} of the parameters, of which there are {len} bytes"
    );
    Box::new(Fault::Finding(Box::new(Finding {
        address: Some(address),
        size: bytes,
        space: Some("param"),
        ..*cx.finding(Kind::OutOfBounds, lane, text)
    })))
}

#[cold]
pub(crate) fn stored_param<S: Shadow>(
    cx: &Cx<'_, S>,
    lane: usize,
    address: u64,
    bytes: u32,
) -> Stop {
    let text = format!("write of {bytes} bytes at {address:#x} of the kernel's parameters");
    Box::new(Fault::Finding(Box::new(Finding {
        address: Some(address),
        size: bytes,
        space: Some("param"),
        ..*cx.finding(Kind::WriteToReadOnly, lane, text)
    })))
}
