//! Devices, of which there is one.

use std::ffi::c_char;
use std::sync::PoisonError;

use crate::boundary::{Out, Text, exported};
use crate::code::Code;
use crate::device::PCI_BUS_ID;
use crate::driver::driver;
use crate::refusal::Answer;

exported! {
    /// The device of that ordinal.
    fn cuDeviceGet(device: Out<i32>, ordinal: i32) {
        device.check()?;
        driver()?.check_device(ordinal)?;
        device.put(ordinal)
    }

    /// How many devices there are.
    fn cuDeviceGetCount(count: Out<i32>) {
        driver()?;
        count.put(1)
    }

    /// The device's name, cut to the room there is.
    fn cuDeviceGetName(name: Out<c_char>, len: i32, device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        put_text(name, len, &driver.profile.name)
    }

    /// The device's number for ever.
    fn cuDeviceGetUuid(uuid: Out<[u8; 16]>, device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        uuid.put(driver.profile.uuid())
    }

    /// As `cuDeviceGetUuid`.
    fn cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        uuid.put(driver.profile.uuid())
    }

    /// Bytes of device memory.
    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        bytes.put(usize::try_from(driver.profile.memory).unwrap_or(usize::MAX))
    }

    /// An attribute of the device.
    fn cuDeviceGetAttribute(value: Out<i32>, attribute: u32, device: i32) {
        value.check()?;
        let driver = driver()?;
        let known = driver.profile.attribute(attribute);
        let known = known.ok_or_else(|| {
            Code::INVALID_VALUE.because(format!("devices have no attribute {attribute}"))
        })?;
        driver.check_device(device)?;
        value.put(known)
    }

    /// The compute capability.
    fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        let capability = driver.profile.capability.cast_signed();
        major.put(capability / 10)?;
        minor.put(capability % 10)
    }

    /// Where on the bus the device is.
    fn cuDeviceGetPCIBusId(id: Out<c_char>, len: i32, device: i32) {
        driver()?.check_device(device)?;
        if usize::try_from(len).is_ok_and(|len| len <= PCI_BUS_ID.len()) {
            return Err(Code::INVALID_VALUE.because(format!("room for {len} characters is too little")));
        }
        put_text(id, len, PCI_BUS_ID)
    }

    /// The device at that place on the bus.
    fn cuDeviceGetByPCIBusId(device: Out<i32>, id: Text) {
        driver()?;
        let id = id.get()?;
        if !id.contains(':') {
            return Err(Code::INVALID_VALUE.because(format!("`{id}` is no place on a bus")));
        }
        if !PCI_BUS_ID.ends_with(id.trim_end_matches(".0")) && id != PCI_BUS_ID {
            return Err(Code::INVALID_DEVICE.because(format!("there is no device at {id}")));
        }
        device.put(0)
    }

    /// Whether a device reaches another's memory.
    fn cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        driver.check_device(peer)?;
        can.put(0)
    }

    /// What two devices have in common; there are no two.
    fn cuDeviceGetP2PAttribute(value: Out<i32>, attribute: u32, device: i32, peer: i32) {
        let _ = (value, attribute);
        driver()?;
        Err(Code::INVALID_DEVICE.because(format!("devices {device} and {peer} are no two devices")))
    }

    /// The pool that a device's stream-ordered allocations come from at first.
    fn cuDeviceGetDefaultMemPool(pool: Out<usize>, device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        pool.put(driver.default_pool.handle)
    }

    /// The pool that they come from now.
    fn cuDeviceGetMemPool(pool: Out<usize>, device: i32) {
        let driver = driver()?;
        driver.check_device(device)?;
        pool.put(*driver.current_pool.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets it.
    fn cuDeviceSetMemPool(device: i32, pool: usize) {
        let driver = driver()?;
        driver.check_device(device)?;
        let pool = driver.pools.get_or(pool, Code::INVALID_VALUE)?;
        *driver.current_pool.lock().unwrap_or_else(PoisonError::into_inner) = pool.handle;
        Ok(())
    }

    /// Whether contexts can be bound to some of the multiprocessors: not here.
    fn cuDeviceGetExecAffinitySupport(supported: Out<i32>, kind: u32, device: i32) {
        let _ = kind;
        driver()?.check_device(device)?;
        supported.put(0)
    }
}

/// Writes a text and its zero into room for `len` characters.
fn put_text(place: Out<c_char>, len: i32, text: &str) -> Answer {
    place.check()?;
    let room = usize::try_from(len).ok().filter(|len| *len > 0);
    let room = room.ok_or_else(|| Code::INVALID_VALUE.because("there is no room"))?;
    let text = text.bytes().take(room - 1).map(|byte| byte as c_char);
    place.put_all(text.chain([0]), room);
    Ok(())
}
