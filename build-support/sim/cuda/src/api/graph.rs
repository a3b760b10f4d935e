//! Graphs as wholes.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::boundary::{Out, exported};
use crate::capture::refuse_captured;
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::event::{Recorded, Stamp};
use crate::graph::memory::GraphMemory;
use crate::graph::{Body, Exec, Graph};
use crate::refusal::Answer;
use crate::work::Op;

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct InstantiateParams {
    flags: u64,
    upload_stream: usize,
    error_node: usize,
    result: u32,
}

/// `CUgraphExecUpdateResultInfo`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct UpdateInfo {
    result: u32,
    error_node: usize,
    error_from_node: usize,
}

/// `CU_GRAPH_EXEC_UPDATE_SUCCESS` and `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`.
const UPDATED: u32 = 0;
const TOPOLOGY_CHANGED: u32 = 2;

pub(super) fn find(graph: usize) -> Answer<Arc<Graph>> {
    let found = driver()?.graphs.get_or(graph, Code::INVALID_VALUE)?;
    Ok(Arc::clone(&found))
}

fn find_exec(exec: usize) -> Answer<Arc<Exec>> {
    driver()?.execs.get_or(exec, Code::INVALID_VALUE)
}

impl Driver {
    /// Memory for a graph.
    pub(crate) fn graph_memory(&self, base: u64, bytes: u64) -> Arc<GraphMemory> {
        Arc::new(GraphMemory::new(&self.device, base, bytes))
    }

    /// Takes a graph's handle away, and those of its nodes.
    pub(crate) fn drop_graph(&self, handle: usize) -> bool {
        let Some(graph) = self.graphs.remove(handle) else {
            return false;
        };
        self.drop_nodes(&graph);
        true
    }

    fn drop_nodes(&self, graph: &Graph) {
        for node in graph.list() {
            self.nodes.remove(node.handle);
            if let Body::Child(child) = &*node.body() {
                self.drop_nodes(child);
            }
        }
    }
}

fn instantiate(place: Out<usize>, graph: usize, flags: u64, may_upload: bool) -> Answer {
    place.check()?;
    let driver = driver()?;
    let exec = Exec::new(&find(graph)?, flags, may_upload)?;
    let mut made = 0;
    driver.execs.insert(|handle| {
        made = handle;
        exec
    });
    place.put(made)
}

fn launch(exec: usize, stream: usize) -> Answer {
    let driver = driver()?;
    let exec = find_exec(exec)?;
    let stream = driver.stream(stream)?;
    refuse_captured(&stream)?;
    if stream.is_legacy() {
        driver.captures.permit_legacy(&stream.context)?;
    }
    let (mut ops, left) = exec.launch()?;
    let mut recorded = Vec::new();
    for (index, op) in ops.iter_mut().enumerate() {
        if let Op::Record(event) = op {
            let stamp = Stamp::default();
            recorded.push((index, Arc::clone(event), Arc::clone(&stamp)));
            *op = Op::Stamp(stamp);
        }
    }
    for memory in left {
        // The program may use it from now on, in the stream's order.
        memory.set_live(true);
    }
    let tickets = stream.push_all(&driver.queue, ops);
    for (index, event, stamp) in recorded {
        let after = tickets.get(index).copied().into_iter().collect();
        let stamp = event.is_timed().then_some(stamp);
        *event.recorded() = Recorded::Work { after, stamp };
    }
    Ok(())
}

fn update(exec: usize, graph: usize) -> Answer<bool> {
    find_exec(exec)?.update(&*find(graph)?)
}

exported! {
    /// Creates an empty graph.
    fn cuGraphCreate(graph: Out<usize>, flags: u32) {
        graph.check()?;
        let driver = driver()?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("the flags are not 0"));
        }
        graph.put(driver.graphs.insert(Graph::new).handle)
    }

    /// Copies a graph.
    fn cuGraphClone(clone: Out<usize>, graph: usize) {
        clone.check()?;
        let driver = driver()?;
        let graph = find(graph)?;
        let mut copied = Ok(());
        let made = driver.graphs.insert(|handle| {
            graph.copy(driver, handle).unwrap_or_else(|refusal| {
                copied = Err(refusal);
                Graph::new(handle)
            })
        });
        if copied.is_err() {
            driver.drop_graph(made.handle);
            return copied;
        }
        clone.put(made.handle)
    }

    /// Destroys a graph. What was made executable of it stays.
    fn cuGraphDestroy(graph: usize) {
        let driver = driver()?;
        find(graph)?;
        driver.drop_graph(graph);
        Ok(())
    }

    /// Makes a graph executable.
    fn cuGraphInstantiate(
        exec: Out<usize>,
        graph: usize,
        error_node: Out<usize>,
        log: Out<c_char>,
        room: usize,
    ) {
        error_node.put_if_any(0);
        if room > 0 {
            log.put_if_any(0);
        }
        instantiate(exec, graph, 0, false)
    }

    /// As `cuGraphInstantiate`.
    fn cuGraphInstantiate_v2(
        exec: Out<usize>,
        graph: usize,
        error_node: Out<usize>,
        log: Out<c_char>,
        room: usize,
    ) {
        error_node.put_if_any(0);
        if room > 0 {
            log.put_if_any(0);
        }
        instantiate(exec, graph, 0, false)
    }

    /// Makes a graph executable.
    fn cuGraphInstantiateWithFlags(exec: Out<usize>, graph: usize, flags: u64) {
        instantiate(exec, graph, flags, false)
    }

    /// Makes a graph executable, and says what became of it.
    fn cuGraphInstantiateWithParams(exec: Out<usize>, graph: usize, params: Out<InstantiateParams>) {
        let asked = params.get()?;
        let made = instantiate(exec, graph, asked.flags, true);
        params.put(InstantiateParams { error_node: 0, result: u32::from(made.is_err()), ..asked })?;
        made
    }

    /// How a graph was made executable.
    fn cuGraphExecGetFlags(exec: usize, flags: Out<u64>) {
        // Of all flags only this one is given back.
        flags.put(find_exec(exec)?.flags & crate::graph::exec::AUTO_FREE)
    }

    /// Destroys what was made executable of a graph. Launches of it that are under way end.
    fn cuGraphExecDestroy(exec: usize) {
        let driver = driver()?;
        find_exec(exec)?;
        driver.execs.remove(exec);
        Ok(())
    }

    /// Prepares a launch; there is nothing to prepare.
    fn cuGraphUpload(exec: usize, stream: usize) {
        find_exec(exec)?;
        let stream = driver()?.stream(stream)?;
        refuse_captured(&stream)
    }

    /// Launches a graph.
    fn cuGraphLaunch(exec: usize, stream: usize) {
        launch(exec, stream)
    }

    /// Takes over what another graph of the same form does.
    fn cuGraphExecUpdate_v2(exec: usize, graph: usize, info: Out<UpdateInfo>) {
        info.check()?;
        let done = update(exec, graph)?;
        let result = if done { UPDATED } else { TOPOLOGY_CHANGED };
        info.put(UpdateInfo { result, error_node: 0, error_from_node: 0 })?;
        if done {
            return Ok(());
        }
        Err(Code::GRAPH_EXEC_UPDATE_FAILURE.because("the graphs differ in more than what their nodes do"))
    }

    /// As `cuGraphExecUpdate_v2`.
    fn cuGraphExecUpdate(exec: usize, graph: usize, error_node: Out<usize>, result: Out<u32>) {
        result.check()?;
        error_node.put_if_any(0);
        let done = update(exec, graph)?;
        result.put(if done { UPDATED } else { TOPOLOGY_CHANGED })?;
        if done {
            return Ok(());
        }
        Err(Code::GRAPH_EXEC_UPDATE_FAILURE.because("the graphs differ in more than what their nodes do"))
    }

    /// Gives back the memory that graphs do not use; it is given back at once.
    fn cuDeviceGraphMemTrim(device: i32) {
        driver()?.check_device(device)
    }

    /// How much memory graphs have, which is not counted on its own.
    fn cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: Out<c_void>) {
        driver()?.check_device(device)?;
        if attribute > 3 {
            return Err(Code::INVALID_VALUE.because(format!("there is no attribute {attribute}")));
        }
        value.cast::<u64>().put(0)
    }
}
