//! What is known of an address.

use std::ffi::c_void;

use crate::boundary::{In, Out, exported};
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::memory::{Allocation, How, describe};
use crate::refusal::Answer;

/// The value of an attribute, as wide as the API has it.
enum Value {
    /// A 32-bit number.
    Number(u32),
    /// A flag of a byte.
    Flag(bool),
    /// A pointer, a handle, a size or an id.
    Word(u64),
    /// Two words.
    Words([u64; 2]),
}

impl Value {
    fn put(self, place: Out<c_void>) -> Answer {
        match self {
            Self::Number(value) => place.cast().put(value),
            Self::Flag(value) => place.cast().put(value),
            Self::Word(value) => place.cast().put(value),
            Self::Words(value) => place.cast().put(value),
        }
    }
}

/// `CU_MEMORYTYPE_HOST` and `_DEVICE`.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
/// What memory is shared in, between processes.
const CHUNK: u64 = 2 << 20;
const POOL_CHUNK: u64 = 32 << 20;

fn value(attribute: u32, address: u64, of: &Allocation) -> Option<Value> {
    let is_managed = matches!(of.how, How::Managed);
    let is_pooled = matches!(of.how, How::Pooled(_));
    Some(match attribute {
        // CONTEXT, MEMORY_TYPE
        1 => Value::Word(if is_pooled { 0 } else { of.context as u64 }),
        2 => Value::Number(if of.how.is_pinned() { HOST } else { DEVICE }),
        // DEVICE_POINTER, HOST_POINTER
        3 => Value::Word(address),
        4 if of.how.is_host() => Value::Word(address),
        // SYNC_MEMOPS, BUFFER_ID
        6 => Value::Flag(is_managed),
        7 => Value::Word(of.number),
        8 => Value::Flag(is_managed),
        // DEVICE_ORDINAL, IS_LEGACY_CUDA_IPC_CAPABLE
        9 => Value::Number(0),
        10 => Value::Flag(false),
        // RANGE_START_ADDR, RANGE_SIZE, MAPPED
        11 => Value::Word(of.base),
        12 => Value::Word(of.bytes),
        13 => Value::Flag(true),
        // ALLOWED_HANDLE_TYPES, IS_GPU_DIRECT_RDMA_CAPABLE
        14 => Value::Word(0),
        15 => Value::Flag(false),
        // ACCESS_FLAGS: read and write.
        16 => Value::Number(3),
        // MEMPOOL_HANDLE
        17 => Value::Word(match &of.how {
            How::Pooled(pool) => pool.handle as u64,
            _ => 0,
        }),
        // MAPPING_SIZE, MAPPING_BASE_ADDR
        18 => Value::Word(
            of.bytes
                .next_multiple_of(if is_pooled { POOL_CHUNK } else { CHUNK }),
        ),
        19 => Value::Word(of.base),
        // MEMORY_BLOCK_ID
        20 => Value::Word(of.number),
        // P2P_TOKENS
        5 => Value::Words([0; 2]),
        _ => return None,
    })
}

fn find(driver: &Driver, address: u64) -> Answer<Allocation> {
    driver.allocations.find(address).ok_or_else(|| {
        Code::INVALID_VALUE.because(describe(
            &driver.allocations,
            driver.device.memory(),
            address,
        ))
    })
}

exported! {
    /// An attribute of an address.
    fn cuPointerGetAttribute(place: Out<c_void>, attribute: u32, address: u64) {
        let driver = driver()?;
        place.check()?;
        let found = match driver.allocations.find(address) {
            Some(found) => found,
            // Programs ask it of any pointer, to learn whose it is.
            None => return Err(Code::INVALID_VALUE.into()),
        };
        match value(attribute, address, &found) {
            Some(value) => value.put(place),
            None => Err(Code::INVALID_VALUE
                .because(format!("{address:#x} has no attribute {attribute}"))),
        }
    }

    /// Attributes of an address; zeros for an address that is not the driver's.
    fn cuPointerGetAttributes(
        count: u32,
        attributes: In<u32>,
        places: In<Out<c_void>>,
        address: u64,
    ) {
        let driver = driver()?;
        let count = count as usize;
        let found = driver.allocations.find(address);
        for (attribute, place) in attributes.list(count)?.into_iter().zip(places.list(count)?) {
            let known = found.as_ref().and_then(|found| value(attribute, address, found));
            match known {
                Some(value) => value.put(place)?,
                None => match attribute {
                    2 | 9 | 16 => Value::Number(0).put(place)?,
                    6 | 8 | 10 | 13 | 15 => Value::Flag(false).put(place)?,
                    _ => Value::Word(0).put(place)?,
                },
            }
        }
        Ok(())
    }

    /// Sets an attribute: whether operations on the memory are synchronous.
    fn cuPointerSetAttribute(value: In<c_void>, attribute: u32, address: u64) {
        let driver = driver()?;
        find(driver, address)?;
        if value.is_null() || attribute != 6 {
            return Err(Code::INVALID_VALUE.because(format!("attribute {attribute} cannot be set")));
        }
        Ok(())
    }
}
