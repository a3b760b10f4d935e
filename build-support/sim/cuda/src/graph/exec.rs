//! Executable graphs.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::code::Code;
use crate::graph::memory::GraphMemory;
use crate::graph::{Body, Graph, NodeKind};
use crate::refusal::Answer;
use crate::work::Op;

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`.
pub(crate) const AUTO_FREE: u64 = 1;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`.
const DEVICE_LAUNCH: u64 = 4;
/// Upload, device launch and node priority besides.
const KNOWN: u64 = 15;
/// The only one that `cuGraphInstantiateWithParams` takes.
const UPLOAD: u64 = 2;

/// A node of an executable graph.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Handle of the node that it was made from.
    pub(crate) node: usize,
    pub(crate) kind: NodeKind,
    /// One, or those of a child graph.
    pub(crate) ops: Vec<Op>,
}

/// A graph made ready for launches.
#[derive(Debug)]
pub(crate) struct Exec {
    pub(crate) flags: u64,
    steps: Mutex<Vec<Step>>,
    /// Of a graph with memory of its own, which is then in use.
    graph: Option<Arc<Graph>>,
}

fn steps(graph: &Graph) -> Answer<Vec<Step>> {
    let steps = graph.order()?.into_iter().map(|node| {
        let body = node.body();
        let ops = match &*body {
            Body::Op(op) => vec![op.clone()],
            Body::Child(child) => steps(child)?
                .into_iter()
                .flat_map(|step| step.ops)
                .collect(),
        };
        Ok(Step {
            node: node.handle,
            kind: body.kind(),
            ops,
        })
    });
    steps.collect()
}

impl Exec {
    /// Makes a graph ready.
    pub(crate) fn new(graph: &Arc<Graph>, flags: u64, may_upload: bool) -> Answer<Self> {
        let refused = if may_upload { 0 } else { UPLOAD };
        if flags & !(KNOWN ^ refused) != 0 || flags & (AUTO_FREE | DEVICE_LAUNCH) == 5 {
            return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
        }
        let steps = steps(graph)?;
        let allocates = steps.iter().any(|step| step.kind == NodeKind::MemAlloc);
        if allocates && graph.in_use.swap(true, Ordering::AcqRel) {
            return Err(Code::NOT_SUPPORTED
                .because("a graph that allocates memory can be instantiated once at a time"));
        }
        Ok(Self {
            flags,
            steps: Mutex::new(steps),
            graph: allocates.then(|| Arc::clone(graph)),
        })
    }

    pub(crate) fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory that a launch leaves behind.
    fn left_behind(&self) -> Vec<Arc<GraphMemory>> {
        let steps = self.steps();
        let ops = steps.iter().flat_map(|step| &step.ops);
        let left = ops.filter_map(|op| match op {
            Op::Allocate(memory) if !memory.freed_in_graph.load(Ordering::Acquire) => Some(memory),
            _ => None,
        });
        left.map(Arc::clone).collect()
    }

    /// What a launch does now, and the memory that will be there after it.
    pub(crate) fn launch(&self) -> Answer<(Vec<Op>, Vec<Arc<GraphMemory>>)> {
        let left = self.left_behind();
        if self.flags & AUTO_FREE == 0
            && let Some(memory) = left.iter().find(|memory| memory.is_live())
        {
            return Err(Code::INVALID_VALUE.because(format!(
                "{} bytes at {:#x} that an earlier launch of the graph allocated are not freed",
                memory.bytes, memory.address
            )));
        }
        let ops = self
            .steps()
            .iter()
            .flat_map(|step| step.ops.clone())
            .collect();
        Ok((ops, left))
    }

    /// Replaces what a node does.
    pub(crate) fn set(&self, node: usize, kind: NodeKind, op: Op) -> Answer {
        let mut steps = self.steps();
        let step = steps
            .iter_mut()
            .find(|step| step.node == node && step.kind == kind);
        let step = step.ok_or_else(|| {
            Code::INVALID_VALUE.because(format!(
                "{node:#x} is no node of that type in the executable graph"
            ))
        })?;
        step.ops = vec![op];
        Ok(())
    }

    /// Takes over what another graph of the same form does. Returns whether it could.
    pub(crate) fn update(&self, graph: &Graph) -> Answer<bool> {
        let new = steps(graph)?;
        let mut old = self.steps();
        let same = old.len() == new.len()
            && old
                .iter()
                .zip(&new)
                .all(|(old, new)| old.kind == new.kind && old.ops.len() == new.ops.len());
        if same {
            for (old, new) in old.iter_mut().zip(new) {
                old.ops = new.ops;
            }
        }
        Ok(same)
    }
}

impl Drop for Exec {
    fn drop(&mut self) {
        if let Some(graph) = &self.graph {
            graph.in_use.store(false, Ordering::Release);
        }
    }
}
