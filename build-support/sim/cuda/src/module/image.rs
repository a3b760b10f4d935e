//! What programs give to be loaded.

#![expect(unsafe_code, reason = "images come as pointers without a length")]

use std::ffi::c_void;

use crate::boundary::text_bytes;
use crate::code::Code;
use crate::module::assembler;
use crate::module::fatbin::{self, Found};
use crate::refusal::{Answer, Refusal};

/// The PTX in an image, for a device of that compute capability (10 times major, and minor).
///
/// # Safety
///
/// `image` is null, a text that ends with a zero, a fatbin, or machine code, as `cuModuleLoadData` asks for.
pub(crate) unsafe fn ptx(image: *const c_void, capability: u32) -> Answer<String> {
    if image.is_null() {
        return Err(Code::INVALID_VALUE.because("the image is null"));
    }
    // SAFETY: the caller's promise; a text has as many bytes before its zero as are looked at, or it ends sooner.
    let starts_with = |bytes: &[u8]| unsafe { starts_with(image.cast(), bytes) };
    if starts_with(b"\x7fELF") {
        return Err(machine_code());
    }
    if starts_with(&fatbin::WRAPPER.to_le_bytes()) {
        // SAFETY: such a structure holds two numbers of four bytes and then the pointer.
        let inner = unsafe {
            image
                .cast::<u8>()
                .add(8)
                .cast::<*const c_void>()
                .read_unaligned()
        };
        if inner == image {
            return Err(not_an_image());
        }
        // SAFETY: it points to what this one may be.
        return unsafe { ptx(inner, capability) };
    }
    if starts_with(&fatbin::MAGIC.to_le_bytes()) {
        // SAFETY: a fatbin has a header, and behind it as many bytes as that says.
        let bytes = unsafe {
            let header = std::slice::from_raw_parts(image.cast::<u8>(), fatbin::HEADER);
            let size = fatbin::size(header)
                .ok_or_else(|| Code::INVALID_IMAGE.because("the fatbin's header is damaged"))?;
            std::slice::from_raw_parts(image.cast::<u8>(), size)
        };
        return from_fatbin(bytes, capability);
    }
    // SAFETY: it is a text.
    from_text(unsafe { text_bytes(image) })
}

/// As [`ptx`], of the bytes of a file.
pub(crate) fn ptx_of_file(bytes: &[u8], capability: u32) -> Answer<String> {
    if bytes.starts_with(b"\x7fELF") {
        return Err(machine_code());
    }
    if bytes.starts_with(&fatbin::MAGIC.to_le_bytes()) {
        return from_fatbin(bytes, capability);
    }
    from_text(bytes.split(|byte| *byte == 0).next().unwrap_or_default())
}

fn machine_code() -> Refusal {
    Code::NO_BINARY_FOR_GPU.because(
        "the image is machine code (a cubin), which the simulator does not run; it runs PTX",
    )
}

fn not_an_image() -> Refusal {
    Code::INVALID_IMAGE.because("the image is neither PTX nor a fatbin nor machine code")
}

fn from_fatbin(bytes: &[u8], capability: u32) -> Answer<String> {
    match fatbin::find(bytes, capability) {
        Found::Ptx(text) => Ok(text),
        Found::Nothing => Err(Code::NO_BINARY_FOR_GPU.because(format!(
            "the fatbin has no PTX for compute capability {}.{} or lower; the simulator does not run machine code",
            capability / 10,
            capability % 10
        ))),
        Found::Damaged(what) => Err(Code::INVALID_IMAGE.because(what)),
    }
}

/// A text is PTX if its first directive is the one that PTX begins with (PTX ISA 11.1.1).
fn from_text(bytes: &[u8]) -> Answer<String> {
    if bytes.len() as u64 > fatbin::MOST_TEXT {
        return Err(Code::OUT_OF_MEMORY.because(format!(
            "PTX of {} bytes; the simulator reads up to {}",
            bytes.len(),
            fatbin::MOST_TEXT
        )));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| not_an_image())?;
    let rest = assembler::skip_blank(text).ok_or_else(not_an_image)?;
    if rest.starts_with(".version") {
        Ok(text.to_owned())
    } else {
        Err(not_an_image())
    }
}

/// # Safety
///
/// `start` points to so many bytes, or to fewer of which one is different.
unsafe fn starts_with(start: *const u8, bytes: &[u8]) -> bool {
    bytes
        .iter()
        .enumerate()
        // SAFETY: the caller's promise: the first different byte ends it.
        .all(|(index, byte)| unsafe { start.add(index).read() } == *byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(image: &[u8]) -> Code {
        // SAFETY: they end with a zero or are complete.
        unsafe { ptx(image.as_ptr().cast(), 90) }.map_or_else(|refusal| refusal.code, |_| Code(0))
    }

    #[test]
    fn images_are_told_apart() {
        assert_eq!(code(b"// by hand\n/* and */ .version 8.0\n\0"), Code(0));
        assert_eq!(code(b"\0"), Code::INVALID_IMAGE);
        assert_eq!(code(b"// nothing\0"), Code::INVALID_IMAGE);
        assert_eq!(code(b"\x7fELF\0"), Code::NO_BINARY_FOR_GPU);
        assert_eq!(code(b"\x7f\0"), Code::INVALID_IMAGE);
        assert_eq!(code(b"\xff\xfe\0"), Code::INVALID_IMAGE);
        let huge = [&b".version 8.0\n"[..], &vec![b' '; 128 << 20], b"\0"].concat();
        assert_eq!(code(&huge), Code::OUT_OF_MEMORY);
        let plain = include_bytes!("../../tests/conduct/images/plain.fatbin");
        assert_eq!(code(plain), Code(0));
        let machine = include_bytes!("../../tests/conduct/images/sm_80.fatbin");
        assert_eq!(code(machine), Code::NO_BINARY_FOR_GPU);
        let mut wrapper = Vec::from(fatbin::WRAPPER.to_le_bytes());
        wrapper.extend(1_u32.to_le_bytes());
        wrapper.extend((plain.as_ptr() as usize).to_le_bytes());
        assert_eq!(code(&wrapper), Code(0));
    }
}
