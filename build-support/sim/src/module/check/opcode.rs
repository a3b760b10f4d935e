//! The instructions of the PTX ISA: how many operands each takes, and since when it is there.

/// The version up to which the table is complete. What a later one brings is not unknown, only not supported.
pub(super) const COMPLETE: (u32, u32) = (9, 0);

/// An opcode, without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opcode {
    name: &'static str,
    /// The fewest and the most operands of any of its forms.
    pub(super) operands: (usize, usize),
    /// The PTX ISA version that all its forms need at least.
    pub(super) version: (u32, u32),
    /// The target that all its forms need at least.
    pub(super) target: u32,
}

/// In every version and for every target.
const fn always(name: &'static str, least: usize, most: usize) -> Opcode {
    since(name, least, most, (1, 0), 0)
}

const fn since(
    name: &'static str,
    least: usize,
    most: usize,
    version: (u32, u32),
    target: u32,
) -> Opcode {
    Opcode {
        name,
        operands: (least, most),
        version,
        target,
    }
}

/// The opcode of that name.
pub(super) fn find(name: &str) -> Option<&'static Opcode> {
    let at = OPCODES.binary_search_by_key(&name, |opcode| opcode.name);
    at.ok().and_then(|at| OPCODES.get(at))
}

/// PTX ISA 9.7, "Instruction set". A cache policy, a membership mask and the like count as operands.
#[rustfmt::skip]
const OPCODES: &[Opcode] = &[
    always("abs", 2, 2),
    since("activemask", 1, 1, (6, 2), 0),
    always("add", 3, 3),
    always("addc", 3, 3),
    since("alloca", 2, 3, (7, 3), 52),
    always("and", 3, 3),
    since("applypriority", 2, 2, (7, 4), 80),
    always("atom", 3, 5),
    always("bar", 1, 4),
    since("barrier", 0, 4, (6, 0), 0),
    always("bfe", 4, 4),
    always("bfi", 5, 5),
    always("bfind", 2, 2),
    since("bmsk", 3, 3, (7, 6), 70),
    always("bra", 1, 1),
    always("brev", 2, 2),
    always("brkpt", 0, 0),
    always("brx", 2, 2),
    // Its operands are kept apart.
    always("call", 0, 0),
    since("clusterlaunchcontrol", 2, 5, (8, 6), 100),
    always("clz", 2, 2),
    always("cnot", 2, 2),
    always("copysign", 3, 3),
    always("cos", 2, 2),
    since("cp", 0, 8, (7, 0), 80),
    since("createpolicy", 1, 4, (7, 4), 80),
    always("cvt", 2, 5),
    always("cvta", 2, 2),
    since("discard", 2, 2, (7, 4), 80),
    always("div", 3, 3),
    since("dp2a", 4, 4, (5, 0), 61),
    since("dp4a", 4, 4, (5, 0), 61),
    since("elect", 2, 2, (8, 0), 90),
    always("ex2", 2, 2),
    always("exit", 0, 0),
    since("fence", 0, 3, (6, 0), 70),
    always("fma", 4, 4),
    since("fns", 4, 4, (6, 0), 0),
    since("getctarank", 2, 2, (7, 8), 90),
    since("griddepcontrol", 0, 0, (7, 8), 90),
    always("isspacep", 2, 2),
    always("istypep", 2, 2),
    always("ld", 2, 3),
    since("ldmatrix", 2, 2, (6, 5), 75),
    always("ldu", 2, 2),
    always("lg2", 2, 2),
    since("lop3", 5, 6, (4, 3), 50),
    always("mad", 4, 4),
    always("mad24", 4, 4),
    always("madc", 4, 4),
    since("mapa", 3, 3, (7, 8), 90),
    since("match", 3, 3, (6, 0), 70),
    always("max", 3, 4),
    since("mbarrier", 1, 5, (7, 0), 80),
    always("membar", 0, 0),
    always("min", 3, 4),
    since("mma", 4, 12, (6, 4), 70),
    always("mov", 2, 2),
    since("movmatrix", 2, 2, (7, 8), 75),
    always("mul", 3, 3),
    always("mul24", 3, 3),
    since("multimem", 2, 4, (8, 1), 90),
    since("nanosleep", 1, 1, (6, 2), 70),
    always("neg", 2, 2),
    always("not", 2, 2),
    always("or", 3, 3),
    always("pmevent", 1, 1),
    always("popc", 2, 2),
    always("prefetch", 1, 1),
    always("prefetchu", 1, 1),
    always("prmt", 4, 4),
    always("rcp", 2, 2),
    always("red", 2, 4),
    since("redux", 3, 3, (7, 0), 80),
    always("rem", 3, 3),
    always("ret", 0, 0),
    always("rsqrt", 2, 2),
    always("sad", 4, 4),
    always("selp", 4, 4),
    always("set", 3, 4),
    since("setmaxnreg", 1, 1, (8, 0), 90),
    always("setp", 3, 4),
    always("shf", 4, 4),
    always("shfl", 4, 5),
    always("shl", 3, 3),
    always("shr", 3, 3),
    always("sin", 2, 2),
    always("slct", 4, 4),
    always("sqrt", 2, 2),
    always("st", 2, 4),
    since("stackrestore", 1, 1, (7, 3), 52),
    since("stacksave", 1, 1, (7, 3), 52),
    since("stmatrix", 2, 2, (7, 8), 90),
    always("sub", 3, 3),
    always("subc", 3, 3),
    always("suld", 2, 2),
    always("suq", 2, 2),
    always("sured", 2, 2),
    always("sust", 2, 2),
    since("szext", 3, 3, (7, 6), 70),
    since("tanh", 2, 2, (7, 0), 75),
    since("tcgen05", 0, 12, (8, 6), 100),
    since("tensormap", 2, 5, (8, 3), 90),
    always("testp", 2, 2),
    always("tex", 2, 5),
    always("tld4", 2, 5),
    always("trap", 0, 0),
    always("txq", 2, 3),
    always("vabsdiff", 3, 4),
    always("vabsdiff2", 4, 4),
    always("vabsdiff4", 4, 4),
    always("vadd", 3, 4),
    always("vadd2", 4, 4),
    always("vadd4", 4, 4),
    always("vavrg2", 4, 4),
    always("vavrg4", 4, 4),
    always("vmad", 4, 4),
    always("vmax", 3, 4),
    always("vmax2", 4, 4),
    always("vmax4", 4, 4),
    always("vmin", 3, 4),
    always("vmin2", 4, 4),
    always("vmin4", 4, 4),
    always("vote", 2, 3),
    always("vset", 3, 4),
    always("vset2", 4, 4),
    always("vset4", 4, 4),
    always("vshl", 3, 4),
    always("vshr", 3, 4),
    always("vsub", 3, 4),
    always("vsub2", 4, 4),
    always("vsub4", 4, 4),
    since("wgmma", 0, 12, (8, 0), 90),
    since("wmma", 2, 4, (6, 0), 70),
    always("xor", 3, 3),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_sorted() {
        assert!(OPCODES.is_sorted_by_key(|opcode| opcode.name));
        assert_eq!(find("bfind").unwrap().operands, (2, 2));
        assert_eq!(find("frobnicate"), None);
    }
}
