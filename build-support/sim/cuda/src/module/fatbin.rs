//! Fatbins: images of one module for several devices. The PTX among them is what runs here.
//!
//! The format is not documented. What is read is what `fatbinary` of CUDA 12 and 13 writes: a header with magic,
//! version, its own size and the size of what follows; then entries, each with a header that has kind, own size,
//! size of the image, its compressed size, compute capability, flags and decompressed size.

use std::borrow::Cow;
use std::io::Read;

use crate::module::lz4;

/// The header's first bytes, as a number.
pub(crate) const MAGIC: u32 = 0xba55_ed50;
/// That of the structure that compilers put into programs, which points to a fatbin.
pub(crate) const WRAPPER: u32 = 0x4662_43b1;
/// Bytes of the header.
pub(crate) const HEADER: usize = 16;
/// No fatbin is larger; a larger size is damage.
const MOST: u64 = 1 << 32;

/// No PTX is larger: read, it takes some thirty times as much.
pub(crate) const MOST_TEXT: u64 = 128 << 20;
/// A byte of LZ4 gives no more bytes than this.
const LZ4_RATIO: u64 = 255;

const PTX: u16 = 1;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(eight.try_into().ok()?))
}

/// Bytes of the whole fatbin, by its header.
pub(crate) fn size(header: &[u8]) -> Option<usize> {
    let own = u64::from(u16_at(header, 6)?);
    let rest = u64_at(header, 8)?;
    let is_sound = u32_at(header, 0)? == MAGIC && own >= HEADER as u64 && rest <= MOST;
    usize::try_from(own + rest).ok().filter(|_| is_sound)
}

/// What is in a fatbin for a device.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The PTX of the highest target that the device has.
    Ptx(String),
    /// Machine code, or PTX for later devices.
    Nothing,
    /// It is no fatbin, or its PTX cannot be decompressed.
    Damaged(&'static str),
}

/// Looks for the PTX for a device of that compute capability (10 times major, and minor).
pub(crate) fn find(fatbin: &[u8], capability: u32) -> Found {
    let Some(mut at) = size(fatbin)
        .filter(|size| *size <= fatbin.len())
        .and_then(|_| u16_at(fatbin, 6))
        .map(usize::from)
    else {
        return Found::Damaged("the header of the fatbin is damaged");
    };
    let mut best: Option<(u32, &[u8], usize)> = None;
    while at < fatbin.len() {
        let Some((entry, next)) = entry(fatbin, at) else {
            return Found::Damaged("an entry of the fatbin is damaged");
        };
        at = next;
        let kind = u16_at(entry, 0);
        let (Some(PTX), Some(arch), Some(header)) = (kind, u32_at(entry, 28), u32_at(entry, 4))
        else {
            continue;
        };
        if arch <= capability && best.is_none_or(|(known, ..)| known < arch) {
            best = Some((arch, entry, header as usize));
        }
    }
    let Some((_, entry, header)) = best else {
        return Found::Nothing;
    };
    match image(entry, header) {
        Some(image) => {
            let text = image.split(|byte| *byte == 0).next().unwrap_or_default();
            Found::Ptx(String::from_utf8_lossy(text).into_owned())
        }
        None => Found::Damaged("the PTX in the fatbin cannot be decompressed"),
    }
}

/// The entry at an offset, and the offset of the next.
fn entry(fatbin: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let header = usize::try_from(u32_at(fatbin, at + 4)?).ok()?;
    let size = usize::try_from(u64_at(fatbin, at + 8)?).ok()?;
    let next = at.checked_add(header)?.checked_add(size)?;
    (header >= 64).then_some(())?;
    Some((fatbin.get(at..next)?, next))
}

/// The bytes of an entry, decompressed.
fn image(entry: &[u8], header: usize) -> Option<Cow<'_, [u8]>> {
    let flags = u64_at(entry, 40)?;
    let body = entry.get(header..)?;
    if flags & (LZ4 | ZSTD) == 0 {
        return Some(Cow::Borrowed(body));
    }
    let compressed = usize::try_from(u32_at(entry, 16)?).ok()?;
    let body = body.get(..compressed)?;
    let size = u64_at(entry, 56).filter(|size| *size <= MOST_TEXT)?;
    let len = usize::try_from(size).ok()?;
    if flags & LZ4 != 0 {
        (size <= LZ4_RATIO * body.len() as u64).then_some(())?;
        return lz4::decompress(body, len).map(Cow::Owned);
    }
    let mut out = Vec::new();
    let decoder = ruzstd::decoding::StreamingDecoder::new(body).ok()?;
    decoder.take(size).read_to_end(&mut out).ok()?;
    (out.len() == len).then_some(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = include_bytes!("../../tests/conduct/images/plain.fatbin");

    #[test]
    fn ptx_is_found_however_it_is_compressed() {
        let Found::Ptx(plain) = find(PLAIN, 90) else {
            panic!("no PTX");
        };
        assert!(plain.contains(".entry store("), "{plain}");
        let zstd = include_bytes!("../../tests/conduct/images/zstd.fatbin");
        assert_eq!(find(zstd, 90), Found::Ptx(plain.clone()));
        let lz4 = include_bytes!("../../tests/conduct/images/lz4.fatbin");
        assert_eq!(find(lz4, 75), Found::Ptx(plain));
        assert_eq!(find(lz4, 70), Found::Nothing);
        let machine = include_bytes!("../../tests/conduct/images/sm_80.fatbin");
        assert_eq!(find(machine, 90), Found::Nothing);
    }

    #[test]
    fn damage_is_found() {
        let zstd = include_bytes!("../../tests/conduct/images/zstd.fatbin");
        for len in [0, 15, 16, 100, zstd.len() - 1] {
            assert!(matches!(find(&zstd[..len], 90), Found::Damaged(_)), "{len}");
        }
        // More than what is there can give is not even made room for.
        let mut entry = vec![0_u8; 64];
        entry[40..48].copy_from_slice(&LZ4.to_le_bytes());
        entry[16..20].copy_from_slice(&4_u32.to_le_bytes());
        entry[56..64].copy_from_slice(&MOST_TEXT.to_le_bytes());
        entry.extend([0xff; 4]);
        assert_eq!(image(&entry, 64), None);
        entry[40..48].copy_from_slice(&ZSTD.to_le_bytes());
        entry[56..64].copy_from_slice(&(MOST_TEXT + 1).to_le_bytes());
        assert_eq!(image(&entry, 64), None);
        for at in 0..zstd.len() {
            let mut damaged = zstd.to_vec();
            damaged[at] ^= 0xff;
            // Whatever comes of it, it ends.
            let _ = find(&damaged, 90);
        }
    }
}
