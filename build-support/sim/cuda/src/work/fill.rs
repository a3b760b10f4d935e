//! Setting memory to a value.

use gpuk_sim::{AccessError, Memory};

/// Elements of a line, or of lines, set to one value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) address: u64,
    /// The element's bytes, low byte first; as many as `element` says count.
    pub(crate) value: u32,
    /// Bytes of an element: 1, 2 or 4.
    pub(crate) element: u32,
    /// Bytes from a line to the next.
    pub(crate) pitch: u64,
    /// Elements of a line.
    pub(crate) width: u64,
    /// Lines.
    pub(crate) height: u64,
}

impl Fill {
    /// From the first byte to behind the last.
    pub(crate) const fn extent(&self) -> u64 {
        if self.width == 0 || self.height == 0 {
            return 0;
        }
        let lines = self.pitch.saturating_mul(self.height - 1);
        let line = self.width.saturating_mul(self.element as u64);
        lines.saturating_add(line)
    }

    /// Does it.
    pub(crate) fn run(&self, memory: &Memory) -> Result<(), AccessError> {
        let bytes = self.value.to_le_bytes();
        let pattern = bytes.get(..self.element as usize).unwrap_or(&bytes);
        (0..self.height)
            .try_for_each(|line| memory.fill(self.address + line * self.pitch, pattern, self.width))
    }
}
