//! The machine's own registers (PTX ISA 10).

use crate::context::Cx;
use crate::register::{Dst, LANES};
use crate::shadow::Shadow;

/// A special register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NWarpId,
    WarpSize,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    Envreg(u8),
    TotalSmemSize,
    AggrSmemSize,
    DynamicSmemSize,
    ReservedSmem(u8),
    CurrentGraphExec,
    IsExplicitCluster,
    ClusterId(u8),
    NClusterId(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
}

impl Register {
    /// Reads a name with its percent sign.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let axis = |name: &str| {
            Some(match name {
                "x" => 0,
                "y" => 1,
                "z" => 2,
                _ => return None,
            })
        };
        let name = name.strip_prefix('%')?;
        if let Some((name, part)) = name.split_once('.') {
            let axis = axis(part)?;
            return Some(match name {
                "tid" => Self::Tid(axis),
                "ntid" => Self::Ntid(axis),
                "ctaid" => Self::Ctaid(axis),
                "nctaid" => Self::Nctaid(axis),
                "clusterid" => Self::ClusterId(axis),
                "nclusterid" => Self::NClusterId(axis),
                "cluster_ctaid" => Self::ClusterCtaid(axis),
                "cluster_nctaid" => Self::ClusterNctaid(axis),
                _ => return None,
            });
        }
        if let Some(number) = name.strip_prefix("envreg") {
            let number = number.parse().ok().filter(|number| *number < 32)?;
            return Some(Self::Envreg(number));
        }
        Some(match name {
            "laneid" => Self::LaneId,
            "warpid" => Self::WarpId,
            "nwarpid" => Self::NWarpId,
            "WARP_SZ" => Self::WarpSize,
            "smid" => Self::SmId,
            "nsmid" => Self::NSmId,
            "gridid" => Self::GridId,
            "lanemask_eq" => Self::LaneMaskEq,
            "lanemask_le" => Self::LaneMaskLe,
            "lanemask_lt" => Self::LaneMaskLt,
            "lanemask_ge" => Self::LaneMaskGe,
            "lanemask_gt" => Self::LaneMaskGt,
            "clock" => Self::Clock,
            "clock_hi" => Self::ClockHi,
            "clock64" => Self::Clock64,
            "globaltimer" => Self::GlobalTimer,
            "globaltimer_lo" => Self::GlobalTimerLo,
            "globaltimer_hi" => Self::GlobalTimerHi,
            "total_smem_size" => Self::TotalSmemSize,
            "aggr_smem_size" => Self::AggrSmemSize,
            "dynamic_smem_size" => Self::DynamicSmemSize,
            "reserved_smem_offset_begin" => Self::ReservedSmem(0),
            "reserved_smem_offset_end" => Self::ReservedSmem(1),
            "reserved_smem_offset_cap" => Self::ReservedSmem(2),
            "current_graph_exec" => Self::CurrentGraphExec,
            "is_explicit_cluster" => Self::IsExplicitCluster,
            "cluster_ctarank" => Self::ClusterCtarank,
            "cluster_nctarank" => Self::ClusterNctarank,
            _ => return None,
        })
    }

    /// Whether it has 64 bits.
    pub(crate) const fn is_wide(self) -> bool {
        matches!(
            self,
            Self::GridId | Self::Clock64 | Self::GlobalTimer | Self::CurrentGraphExec
        )
    }
}

/// Reads a special register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Op {
    pub(crate) register: Register,
    pub(crate) d: Dst,
}

pub(crate) fn execute<S: Shadow>(op: &Op, cx: &mut Cx<'_, S>) {
    let mask = cx.mask;
    if op.register.is_wide() {
        let value = match op.register {
            Register::Clock64 => cx.worker.clock(),
            Register::GlobalTimer => cx.grid.nanoseconds(),
            Register::GridId => cx.grid.number,
            _ => 0,
        };
        cx.file.put(op.d, &[value; LANES], mask);
        return;
    }
    let of_lane = |f: fn(u32) -> u32| {
        let mut row = [0; LANES];
        for lane in 0..LANES {
            row[lane] = f(lane as u32);
        }
        row
    };
    let launch = cx.grid.launch;
    let block = &cx.block;
    let cluster = launch.cluster;
    let row = match op.register {
        Register::Tid(axis) => cx.worker.tid(cx.warp, axis, launch.block),
        Register::LaneId => of_lane(|lane| lane),
        Register::LaneMaskEq => of_lane(|lane| 1 << lane),
        Register::LaneMaskLe => of_lane(|lane| u32::MAX >> (31 - lane)),
        Register::LaneMaskLt => of_lane(|lane| (1 << lane) - 1),
        Register::LaneMaskGe => of_lane(|lane| u32::MAX << lane),
        Register::LaneMaskGt => of_lane(|lane| u32::MAX << lane << 1),
        register => {
            let value = match register {
                Register::Ntid(axis) => launch.block[axis as usize],
                Register::Ctaid(axis) => block.index[axis as usize],
                Register::Nctaid(axis) => launch.grid[axis as usize],
                Register::WarpId => cx.warp,
                Register::NWarpId => cx.grid.warps,
                Register::WarpSize => 32,
                Register::SmId => (block.linear % u64::from(cx.grid.multiprocessors())) as u32,
                Register::NSmId => cx.grid.multiprocessors(),
                Register::Clock => cx.worker.clock() as u32,
                Register::ClockHi => (cx.worker.clock() >> 32) as u32,
                Register::GlobalTimerLo => cx.grid.nanoseconds() as u32,
                Register::GlobalTimerHi => (cx.grid.nanoseconds() >> 32) as u32,
                Register::Envreg(number) => cx.grid.envreg(number),
                Register::TotalSmemSize | Register::AggrSmemSize => cx.grid.shared_bytes,
                Register::DynamicSmemSize => launch.shared,
                Register::IsExplicitCluster => u32::from(cluster != [1, 1, 1]),
                Register::ClusterId(axis) => {
                    block.index[axis as usize] / cluster[axis as usize].max(1)
                }
                Register::NClusterId(axis) => {
                    launch.grid[axis as usize] / cluster[axis as usize].max(1)
                }
                Register::ClusterCtaid(axis) => {
                    block.index[axis as usize] % cluster[axis as usize].max(1)
                }
                Register::ClusterNctaid(axis) => cluster[axis as usize].max(1),
                Register::ClusterCtarank => block.rank,
                Register::ClusterNctarank => cluster.iter().map(|size| size.max(&1)).product(),
                _ => 0,
            };
            [value; LANES]
        }
    };
    cx.file.put(op.d, &row, mask);
}
