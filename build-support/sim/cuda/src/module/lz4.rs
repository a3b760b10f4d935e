//! Decompressing LZ4 blocks, as fatbins have them (LZ4 block format).

/// The bytes of a block that are `len` when decompressed; `None` if it is no such block.
pub(crate) fn decompress(block: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(len);
    let mut at = 0;
    let next = |at: &mut usize| -> Option<u8> {
        let byte = *block.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let extended = |at: &mut usize, short: u8| -> Option<usize> {
        let mut len = usize::from(short);
        if short == 15 {
            loop {
                let byte = next(at)?;
                len += usize::from(byte);
                if byte != 255 {
                    break;
                }
            }
        }
        Some(len)
    };
    while at < block.len() {
        let token = next(&mut at)?;
        let literals = extended(&mut at, token >> 4)?;
        out.extend_from_slice(block.get(at..at.checked_add(literals)?)?);
        at += literals;
        if at == block.len() || out.len() >= len {
            break;
        }
        let offset = usize::from(u16::from_le_bytes([next(&mut at)?, next(&mut at)?]));
        let matched = extended(&mut at, token & 15)? + 4;
        let start = out.len().checked_sub(offset).filter(|_| offset > 0)?;
        if out.len() + matched > len {
            return None;
        }
        // Byte by byte: what is copied may reach into what is written.
        for index in start..start + matched {
            out.push(*out.get(index)?);
        }
    }
    (out.len() == len).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_decompressed() {
        // Five literals, then six bytes from three back; then one literal.
        let block = [0x52, b'a', b'b', b'c', b'd', b'e', 3, 0, 0x10, b'!'];
        assert_eq!(decompress(&block, 12).unwrap(), b"abcdecdecde!");
        assert_eq!(decompress(&block, 11), None);
        assert_eq!(decompress(&block[..6], 12), None);
        assert_eq!(decompress(&[0x04, 1, 0], 8), None);
        let long = [&[0xf0, 3][..], &[b'x'; 18]].concat();
        assert_eq!(decompress(&long, 18).unwrap(), [b'x'; 18]);
        assert_eq!(decompress(&[0xff; 40], usize::MAX >> 40), None);
    }
}
