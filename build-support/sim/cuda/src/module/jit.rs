//! Options of loading: the buffers for what the driver's compiler says (`CUjit_option`).

use std::ffi::c_void;

use crate::boundary::{In, Out};
use crate::code::Code;
use crate::refusal::Answer;

const INFO_LOG: u32 = 3;
const INFO_LOG_SIZE: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_SIZE: u32 = 6;
/// The first number that is no option.
const COUNT: u32 = 35;

#[derive(Debug, Clone, Copy, Default)]
struct Buffer {
    start: usize,
    size: usize,
    /// Where the size is given, and what was written is told.
    told: Option<usize>,
}

/// The options that mean something here.
#[derive(Debug, Default)]
pub(crate) struct JitOptions {
    values: Option<Out<usize>>,
    info: Buffer,
    error: Buffer,
}

impl JitOptions {
    /// Reads lists of options and their values.
    pub(crate) fn read(count: u32, options: In<u32>, values: Out<*mut c_void>) -> Answer<Self> {
        let count = count as usize;
        let mut read = Self::default();
        let options = options.list(count)?;
        if count == 0 {
            return Ok(read);
        }
        values.check()?;
        let values = values.cast::<usize>();
        read.values = Some(values);
        for (index, option) in options.into_iter().enumerate() {
            let value = values.at(index);
            match option {
                INFO_LOG => read.info.start = value,
                // A size is a 32-bit number, whatever else the word holds.
                INFO_LOG_SIZE => {
                    read.info.size = value & 0xffff_ffff;
                    read.info.told = Some(index);
                }
                ERROR_LOG => read.error.start = value,
                ERROR_LOG_SIZE => {
                    read.error.size = value & 0xffff_ffff;
                    read.error.told = Some(index);
                }
                COUNT.. => {
                    return Err(Code::INVALID_VALUE.because(format!("there is no option {option}")));
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// Gives the program what there is to say: nothing if all went well.
    pub(crate) fn tell(&self, error: &str) {
        self.fill(self.info, "");
        self.fill(self.error, error);
    }

    fn fill(&self, buffer: Buffer, text: &str) {
        let mut written = 0;
        if buffer.start != 0 && buffer.size > 0 {
            let text = text.as_bytes();
            let len = text.len().min(buffer.size - 1);
            let place = Out::<u8>::new(buffer.start);
            let ended = text[..len].iter().copied().chain([0]);
            place.put_all(ended, buffer.size);
            // The zero counts only where the text had to be cut.
            written = if len < text.len() { len + 1 } else { len };
        }
        if let (Some(values), Some(index)) = (self.values, buffer.told) {
            values.set_at(index, written);
        }
    }
}
