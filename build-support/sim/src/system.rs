//! The functions that the system brings: `vprintf`, `__assertfail`, `malloc`, `free`.

mod print;

use crate::context::{Cx, Stop};
use crate::family::call::{Actual, Call, System, target};
use crate::fault::Fault;
use crate::finding::Kind as Wrong;
use crate::memory::{Kind, window};
use crate::register::{LANES, lanes_of};
use crate::shadow::Shadow;

/// Calls a function for the lanes in the mask, one after the other.
pub(crate) fn call<S: Shadow>(system: System, call: &Call, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    let mut results = [0; LANES];
    for lane in lanes_of(cx.mask) {
        let arg = |cx: &Cx<'_, S>, at: usize| argument(cx, call, at, lane);
        results[lane] = match system {
            System::Vprintf => {
                let format = string(cx, arg(cx, 0), lane);
                let list = arg(cx, 1);
                let (text, count) = print::format(cx, &format, list, lane);
                cx.block.printed.push_str(&text);
                count as u64
            }
            System::AssertFail => {
                return Err(Box::new(Fault::Assert {
                    message: string(cx, arg(cx, 0), lane),
                    file: string(cx, arg(cx, 1), lane),
                    line: arg(cx, 2) as u32,
                    function: string(cx, arg(cx, 3), lane),
                    site: cx.site(lane),
                }));
            }
            System::Malloc => malloc(cx, arg(cx, 0)),
            System::Free => {
                let pointer = arg(cx, 0);
                free(cx, pointer, lane)?;
                0
            }
        };
    }
    if let Some(first) = call.returns.first() {
        give(cx, *first, &results, system == System::Malloc);
    }
    Ok(())
}

/// An argument of a lane; zero if there is none.
fn argument<S: Shadow>(cx: &Cx<'_, S>, call: &Call, at: usize, lane: usize) -> u64 {
    match call.args.get(at) {
        Some(Actual::Param(offset)) => {
            let address = u64::from(cx.frame + offset);
            cx.local.load(&[address; LANES], 8, 1 << lane)[lane]
        }
        Some(Actual::R32(row)) => cx.file.get::<u32>(*row)[lane].into(),
        Some(Actual::R64(row)) => cx.file.get::<u64>(*row)[lane],
        Some(Actual::Predicate(_)) | None => 0,
    }
}

fn give<S: Shadow>(cx: &mut Cx<'_, S>, to: Actual, values: &[u64; LANES], wide: bool) {
    match to {
        Actual::Param(offset) => {
            let address = u64::from(cx.frame + offset);
            let bytes = if wide { 8 } else { 4 };
            (cx.local).store(&[address; LANES], bytes, values, cx.mask);
        }
        Actual::R32(row) => {
            let narrow = values.map(|value| value as u32);
            cx.file.put(target(row), &narrow, cx.mask);
        }
        Actual::R64(row) => cx.file.put(target(row), values, cx.mask),
        Actual::Predicate(_) => {}
    }
}

/// Reads bytes at a lane's generic address. `None` where nothing is.
pub(crate) fn read<S: Shadow>(
    cx: &Cx<'_, S>,
    address: u64,
    out: &mut [u8],
    lane: usize,
) -> Option<()> {
    let shared = address.wrapping_sub(window::SHARED);
    let local = address.wrapping_sub(window::LOCAL);
    if shared < window::SIZE {
        return cx.shared.get(cx.block.rank as usize)?.read(shared, out);
    }
    if local < window::SIZE {
        for (at, byte) in out.iter_mut().enumerate() {
            *byte = cx.local.byte(local + at as u64, lane);
        }
        return Some(());
    }
    cx.grid.memory.read(address, out).ok()
}

/// The text at a lane's generic address, up to its zero.
pub(crate) fn string<S: Shadow>(cx: &Cx<'_, S>, address: u64, lane: usize) -> String {
    const LONGEST: u64 = 1 << 16;
    let mut bytes = Vec::new();
    for at in 0..LONGEST {
        let mut byte = [0];
        if read(cx, address.wrapping_add(at), &mut byte, lane).is_none() || byte == [0] {
            break;
        }
        bytes.push(byte[0]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Memory of the device's heap; null if the heap has no more.
fn malloc<S: Shadow>(cx: &mut Cx<'_, S>, bytes: u64) -> u64 {
    if bytes == 0 || !cx.grid.memory.take_heap(bytes, cx.grid.options().heap) {
        return 0;
    }
    cx.worker.stale = true;
    let taken = cx.grid.memory.alloc(bytes, Kind::Heap);
    taken.unwrap_or_else(|_| {
        cx.grid.memory.give_heap(bytes);
        0
    })
}

fn free<S: Shadow>(cx: &mut Cx<'_, S>, pointer: u64, lane: usize) -> Result<(), Stop> {
    if pointer == 0 {
        return Ok(());
    }
    let info = cx.grid.memory.allocation(pointer);
    let known = info.filter(|info| info.address == pointer && info.kind == Kind::Heap);
    let freed = known.and_then(|info| cx.grid.memory.free(pointer).ok().map(|()| info));
    match freed {
        Some(info) => {
            cx.grid.memory.give_heap(info.bytes);
            cx.worker.stale = true;
            Ok(())
        }
        None => {
            let text = format!("`free` of {pointer:#x}, which `malloc` did not give");
            Err(cx.stop(Wrong::BadFree, lane, text))
        }
    }
}
