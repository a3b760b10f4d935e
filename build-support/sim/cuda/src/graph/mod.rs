//! Graphs of work.
//!
//! - here: graphs and their nodes
//! - `exec`: what is launched
//! - `memory`: allocations that a graph makes
//! - `params`: nodes' parameters as programs give them

pub(crate) mod exec;
pub(crate) mod memory;
pub(crate) mod params;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub(crate) use self::exec::Exec;
use crate::code::Code;
use crate::driver::Driver;
use crate::refusal::Answer;
use crate::work::Op;

/// `CUgraphNodeType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Kernel = 0,
    Memcpy = 1,
    Memset = 2,
    Host = 3,
    Graph = 4,
    Empty = 5,
    WaitEvent = 6,
    EventRecord = 7,
    MemAlloc = 10,
    MemFree = 11,
}

/// What a node does.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Op(Op),
    /// Another graph, the node's own copy.
    Child(Arc<Graph>),
}

impl Body {
    pub(crate) const fn kind(&self) -> NodeKind {
        match self {
            Self::Child(_) => NodeKind::Graph,
            Self::Op(op) => match op {
                Op::Kernel(_) => NodeKind::Kernel,
                Op::Copy(_) => NodeKind::Memcpy,
                Op::Fill(_) => NodeKind::Memset,
                Op::Host(_) | Op::Callback(_) => NodeKind::Host,
                Op::Record(_) => NodeKind::EventRecord,
                Op::Wait => NodeKind::WaitEvent,
                Op::Allocate(_) => NodeKind::MemAlloc,
                Op::Release(_) => NodeKind::MemFree,
                Op::Nothing | Op::Free(_) | Op::Stamp(_) => NodeKind::Empty,
            },
        }
    }
}

/// A node of a graph.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) handle: usize,
    graph: Weak<Graph>,
    body: Mutex<Body>,
    /// What the program was pointed to last, when it asked for parameters.
    list: Mutex<Vec<usize>>,
}

impl Node {
    pub(crate) fn body(&self) -> MutexGuard<'_, Body> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a list for the program to read, and gives its address.
    pub(crate) fn keep_list(&self, list: Vec<usize>) -> usize {
        let mut kept = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = list;
        kept.as_ptr().expose_provenance()
    }

    /// The graph that it is in.
    pub(crate) fn graph(&self) -> Answer<Arc<Graph>> {
        let graph = self.graph.upgrade();
        graph.ok_or_else(|| Code::INVALID_VALUE.because("the node's graph was destroyed"))
    }
}

/// Nodes by handle, which rises in the order in which they were made, and what each depends on.
#[derive(Debug, Default, Clone)]
struct Nodes {
    nodes: BTreeMap<usize, Arc<Node>>,
    after: BTreeMap<usize, BTreeSet<usize>>,
}

/// A graph.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) handle: usize,
    me: Weak<Graph>,
    nodes: Mutex<Nodes>,
    /// Whether there is an executable graph of it that has its memory.
    pub(crate) in_use: AtomicBool,
}

impl Graph {
    /// An empty graph. It is not in the driver's table: a node's copy of a graph never is.
    pub(crate) fn new(handle: usize) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            handle,
            me: Weak::clone(me),
            nodes: Mutex::default(),
            in_use: AtomicBool::new(false),
        })
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a node.
    pub(crate) fn add(&self, driver: &Driver, body: Body, after: &[usize]) -> Answer<Arc<Node>> {
        let mut nodes = self.nodes();
        for (index, handle) in after.iter().enumerate() {
            if !nodes.nodes.contains_key(handle) || after[..index].contains(handle) {
                return Err(Code::INVALID_VALUE.because(format!(
                    "dependency {handle:#x} is no other node of the graph, or named twice"
                )));
            }
        }
        let node = driver.nodes.insert(|handle| Node {
            handle,
            graph: Weak::clone(&self.me),
            body: Mutex::new(body),
            list: Mutex::default(),
        });
        nodes.nodes.insert(node.handle, Arc::clone(&node));
        nodes
            .after
            .insert(node.handle, after.iter().copied().collect());
        Ok(node)
    }

    /// The nodes, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Node>> {
        self.nodes().nodes.values().map(Arc::clone).collect()
    }

    /// Those that depend on none.
    pub(crate) fn roots(&self) -> Vec<usize> {
        let nodes = self.nodes();
        let roots = nodes.after.iter().filter(|(_, after)| after.is_empty());
        roots.map(|(handle, _)| *handle).collect()
    }

    /// Pairs of a node and one that depends on it.
    pub(crate) fn edges(&self) -> Vec<(usize, usize)> {
        let nodes = self.nodes();
        let of_node = |(to, after): (&usize, &BTreeSet<usize>)| {
            let to = *to;
            after
                .iter()
                .map(move |from| (*from, to))
                .collect::<Vec<_>>()
        };
        nodes.after.iter().flat_map(of_node).collect()
    }

    /// Lets the second of each pair depend on the first, or no more.
    pub(crate) fn connect(&self, pairs: &[(usize, usize)], connected: bool) -> Answer {
        let mut nodes = self.nodes();
        let mut changed = nodes.clone();
        for (from, to) in pairs {
            let known = changed.nodes.contains_key(from) && from != to;
            let after = changed.after.get_mut(to).filter(|_| known);
            let done = after.is_some_and(|after| {
                if connected {
                    after.insert(*from)
                } else {
                    after.remove(from)
                }
            });
            if !done {
                let what = if connected {
                    "be made"
                } else {
                    "be taken away"
                };
                return Err(Code::INVALID_VALUE.because(format!(
                    "the dependency of {to:#x} on {from:#x} cannot {what}"
                )));
            }
        }
        *nodes = changed;
        Ok(())
    }

    /// Takes a node out.
    pub(crate) fn remove(&self, handle: usize) {
        let mut nodes = self.nodes();
        nodes.nodes.remove(&handle);
        nodes.after.remove(&handle);
        for after in nodes.after.values_mut() {
            after.remove(&handle);
        }
    }

    /// Everything that these nodes depend on, with themselves.
    pub(crate) fn reached_from(&self, ends: &[usize]) -> BTreeSet<usize> {
        let nodes = self.nodes();
        let mut reached = BTreeSet::new();
        let mut open = ends.to_vec();
        while let Some(handle) = open.pop() {
            if reached.insert(handle) {
                open.extend(nodes.after.get(&handle).into_iter().flatten());
            }
        }
        reached
    }

    /// The nodes in an order in which they can run: always the oldest of those whose dependencies are done.
    pub(crate) fn order(&self) -> Answer<Vec<Arc<Node>>> {
        let Nodes { nodes, mut after } = self.nodes().clone();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(next) = after
            .iter()
            .find_map(|(handle, after)| after.is_empty().then_some(*handle))
        {
            after.remove(&next);
            for others in after.values_mut() {
                others.remove(&next);
            }
            order.extend(nodes.get(&next).map(Arc::clone));
        }
        if !after.is_empty() {
            return Err(Code::INVALID_VALUE.because("nodes of the graph depend on each other"));
        }
        Ok(order)
    }

    /// A graph with the same nodes, under `handle`.
    pub(crate) fn copy(&self, driver: &Driver, handle: usize) -> Answer<Arc<Self>> {
        let copy = Self::new(handle);
        let mut names = BTreeMap::new();
        let after_of = self.nodes().after.clone();
        for node in self.order()? {
            let body = match &*node.body() {
                Body::Op(Op::Allocate(_) | Op::Release(_)) => {
                    return Err(
                        Code::NOT_SUPPORTED.because("a graph that allocates memory has no copies")
                    );
                }
                Body::Op(op) => Body::Op(op.clone()),
                Body::Child(child) => Body::Child(child.copy(driver, 0)?),
            };
            let after = after_of.get(&node.handle).into_iter().flatten();
            let after: Vec<_> = after.filter_map(|from| names.get(from).copied()).collect();
            let new = copy.add(driver, body, &after)?;
            names.insert(node.handle, new.handle);
        }
        Ok(copy)
    }
}
