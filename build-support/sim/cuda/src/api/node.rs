//! Nodes of graphs.

use std::sync::Arc;

use super::copy::{Volume, volume};
use super::graph::find;
use super::launch::Given;
use crate::boundary::{In, Out, exported};
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::event::Event;
use crate::graph::params::{HostParams, KernelParams, KernelParams2, MemsetParams};
use crate::graph::{Body, Node, NodeKind};
use crate::launch::Shape;
use crate::refusal::Answer;
use crate::work::Op;

/// Where a graph's new node comes after.
struct Place {
    node: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
}

fn add(place: &Place, body: Body) -> Answer {
    place.node.check()?;
    let after = place.after.list(place.count)?;
    let node = find(place.graph)?.add(driver()?, body, &after)?;
    place.node.put(node.handle)
}

fn node(handle: usize) -> Answer<Arc<Node>> {
    driver()?.nodes.get_or(handle, Code::INVALID_VALUE)
}

/// A launch, as a node's parameters have it.
fn kernel_op(driver: &Driver, params: &KernelParams, kernel: usize) -> Answer<Op> {
    let handle = if params.function == 0 {
        kernel
    } else {
        params.function
    };
    let function = driver.callable(handle)?;
    let shape = Shape {
        grid: params.grid,
        block: params.block,
        shared: params.shared,
        cluster: None,
        cooperative: false,
    };
    let given = Given {
        params: params.params,
        extra: params.extra,
    };
    let bytes = given.read(&function)?;
    Ok(Op::Kernel(Arc::new(function.plan(
        &shape,
        bytes,
        &driver.profile,
    )?)))
}

/// A copy, as a node's parameters have it.
fn copy_op(driver: &Driver, params: In<Volume>) -> Answer<Op> {
    let (from, to, shape) = volume(&params.get()?)?;
    let planned = driver.plan_copy(from, to, shape, true)?;
    Ok(planned.map_or(Op::Nothing, |planned| planned.op()))
}

fn fill_op(driver: &Driver, params: In<MemsetParams>) -> Answer<Op> {
    let fill = params.get()?.fill()?;
    Ok(driver.plan_fill(fill, true)?.unwrap_or(Op::Nothing))
}

/// Replaces what a node does.
fn set(handle: usize, kind: NodeKind, op: Op) -> Answer {
    let node = node(handle)?;
    let mut body = node.body();
    if body.kind() != kind {
        return Err(Code::INVALID_VALUE.because("the node is of another type"));
    }
    *body = Body::Op(op);
    Ok(())
}

fn kernel_params(handle: usize) -> Answer<KernelParams> {
    let node = node(handle)?;
    let kernel = match &*node.body() {
        Body::Op(Op::Kernel(kernel)) => Arc::clone(kernel),
        _ => return Err(Code::INVALID_VALUE.because("the node is no launch")),
    };
    let at = |offset: u32| kernel.launch.params.as_ptr().wrapping_add(offset as usize) as usize;
    let params = kernel.function.sim.params();
    let list = params.iter().map(|param| at(param.offset)).collect();
    Ok(KernelParams {
        function: kernel.function.handle,
        grid: kernel.launch.grid,
        block: kernel.launch.block,
        shared: kernel.launch.shared,
        params: In::new(node.keep_list(list)),
        extra: In::new(0),
    })
}

/// Gives a list, or how long it is: what there is room for, zeros behind it, and the number of items.
fn put_list<T: Copy + Default>(place: Out<T>, count: Out<usize>, list: &[T]) -> Answer {
    if place.is_null() {
        return count.put(list.len());
    }
    let room = count.get()?;
    let padded = list.iter().copied().chain(std::iter::repeat(T::default()));
    place.put_all(padded, room);
    count.put(list.len().min(room))
}

/// Says of so many edges that they have no data (`CUgraphEdgeData`).
fn put_data(place: Out<u64>, only_count: bool, count: usize) {
    if !place.is_null() && !only_count {
        place.put_all(std::iter::repeat_n(0, count), count);
    }
}

fn connect(graph: usize, from: In<usize>, to: In<usize>, count: usize, connected: bool) -> Answer {
    let pairs: Vec<_> = from.list(count)?.into_iter().zip(to.list(count)?).collect();
    find(graph)?.connect(&pairs, connected)
}

fn event(event: usize) -> Answer<Arc<Event>> {
    driver()?.event(event)
}

exported! {
    /// Adds a launch.
    fn cuGraphAddKernelNode(place: Out<usize>, graph: usize, after: In<usize>, count: usize, params: In<KernelParams>) {
        let op = kernel_op(driver()?, &params.get()?, 0)?;
        add(&Place { node: place, graph, after, count }, Body::Op(op))
    }

    /// Adds a launch.
    fn cuGraphAddKernelNode_v2(place: Out<usize>, graph: usize, after: In<usize>, count: usize, params: In<KernelParams2>) {
        let params = params.get()?;
        let op = kernel_op(driver()?, &params.first, params.kernel)?;
        add(&Place { node: place, graph, after, count }, Body::Op(op))
    }

    /// What a launch is.
    fn cuGraphKernelNodeGetParams(of: usize, params: Out<KernelParams>) {
        params.put(kernel_params(of)?)
    }

    /// What a launch is.
    fn cuGraphKernelNodeGetParams_v2(of: usize, params: Out<KernelParams2>) {
        params.put(KernelParams2 { first: kernel_params(of)?, kernel: 0, context: 0 })
    }

    /// Sets what a launch is.
    fn cuGraphKernelNodeSetParams(of: usize, params: In<KernelParams>) {
        let op = kernel_op(driver()?, &params.get()?, 0)?;
        set(of, NodeKind::Kernel, op)
    }

    /// Sets what a launch is.
    fn cuGraphKernelNodeSetParams_v2(of: usize, params: In<KernelParams2>) {
        let params = params.get()?;
        set(of, NodeKind::Kernel, kernel_op(driver()?, &params.first, params.kernel)?)
    }

    /// Sets what a launch of an executable graph is.
    fn cuGraphExecKernelNodeSetParams(exec: usize, of: usize, params: In<KernelParams>) {
        let driver = driver()?;
        let op = kernel_op(driver, &params.get()?, 0)?;
        driver.execs.get_or(exec, Code::INVALID_VALUE)?.set(of, NodeKind::Kernel, op)
    }

    /// Sets what a launch of an executable graph is.
    fn cuGraphExecKernelNodeSetParams_v2(exec: usize, of: usize, params: In<KernelParams2>) {
        let driver = driver()?;
        let params = params.get()?;
        let op = kernel_op(driver, &params.first, params.kernel)?;
        driver.execs.get_or(exec, Code::INVALID_VALUE)?.set(of, NodeKind::Kernel, op)
    }

    /// Adds a copy.
    fn cuGraphAddMemcpyNode(
        place: Out<usize>,
        graph: usize,
        after: In<usize>,
        count: usize,
        params: In<Volume>,
        context: usize,
    ) {
        let driver = driver()?;
        driver.contexts.get_or(context, Code::INVALID_CONTEXT)?;
        let op = copy_op(driver, params)?;
        add(&Place { node: place, graph, after, count }, Body::Op(op))
    }

    /// Sets what a copy of an executable graph is.
    fn cuGraphExecMemcpyNodeSetParams(exec: usize, of: usize, params: In<Volume>, context: usize) {
        let driver = driver()?;
        driver.contexts.get_or(context, Code::INVALID_CONTEXT)?;
        let op = copy_op(driver, params)?;
        driver.execs.get_or(exec, Code::INVALID_VALUE)?.set(of, NodeKind::Memcpy, op)
    }

    /// Adds a memset.
    fn cuGraphAddMemsetNode(
        place: Out<usize>,
        graph: usize,
        after: In<usize>,
        count: usize,
        params: In<MemsetParams>,
        context: usize,
    ) {
        let driver = driver()?;
        driver.contexts.get_or(context, Code::INVALID_CONTEXT)?;
        let op = fill_op(driver, params)?;
        add(&Place { node: place, graph, after, count }, Body::Op(op))
    }

    /// Sets what a memset of an executable graph is.
    fn cuGraphExecMemsetNodeSetParams(exec: usize, of: usize, params: In<MemsetParams>, context: usize) {
        let driver = driver()?;
        driver.contexts.get_or(context, Code::INVALID_CONTEXT)?;
        let op = fill_op(driver, params)?;
        driver.execs.get_or(exec, Code::INVALID_VALUE)?.set(of, NodeKind::Memset, op)
    }

    /// Adds a call of the program's.
    fn cuGraphAddHostNode(place: Out<usize>, graph: usize, after: In<usize>, count: usize, params: In<HostParams>) {
        let op = Op::Host(params.get()?.host()?);
        add(&Place { node: place, graph, after, count }, Body::Op(op))
    }

    /// Adds another graph.
    fn cuGraphAddChildGraphNode(place: Out<usize>, graph: usize, after: In<usize>, count: usize, child: usize) {
        let copy = find(child)?.copy(driver()?, 0)?;
        add(&Place { node: place, graph, after, count }, Body::Child(copy))
    }

    /// Adds a node that only orders others.
    fn cuGraphAddEmptyNode(place: Out<usize>, graph: usize, after: In<usize>, count: usize) {
        add(&Place { node: place, graph, after, count }, Body::Op(Op::Nothing))
    }

    /// Adds a recording of an event.
    fn cuGraphAddEventRecordNode(place: Out<usize>, graph: usize, after: In<usize>, count: usize, of: usize) {
        let op = Op::Record(event(of)?);
        add(&Place { node: place, graph, after, count }, Body::Op(op))
    }

    /// Adds a wait for an event.
    fn cuGraphAddEventWaitNode(place: Out<usize>, graph: usize, after: In<usize>, count: usize, of: usize) {
        event(of)?;
        add(&Place { node: place, graph, after, count }, Body::Op(Op::Wait))
    }

    /// What a node is.
    fn cuGraphNodeGetType(of: usize, kind: Out<u32>) {
        let kind_of = node(of)?.body().kind();
        kind.put(kind_of as u32)
    }

    /// The graph's nodes.
    fn cuGraphGetNodes(graph: usize, nodes: Out<usize>, count: Out<usize>) {
        let all: Vec<_> = find(graph)?.list().iter().map(|node| node.handle).collect();
        put_list(nodes, count, &all)
    }

    /// Those that depend on none.
    fn cuGraphGetRootNodes(graph: usize, nodes: Out<usize>, count: Out<usize>) {
        put_list(nodes, count, &find(graph)?.roots())
    }

    /// Which node depends on which.
    fn cuGraphGetEdges(graph: usize, from: Out<usize>, to: Out<usize>, count: Out<usize>) {
        let (first, second): (Vec<_>, Vec<_>) = find(graph)?.edges().into_iter().unzip();
        let room = count.get()?;
        put_list(from, count, &first)?;
        if !to.is_null() {
            count.put(room)?;
            put_list(to, count, &second)?;
        }
        Ok(())
    }

    /// What a node depends on.
    fn cuGraphNodeGetDependencies(of: usize, nodes: Out<usize>, count: Out<usize>) {
        let edges = node(of)?.graph()?.edges();
        let all: Vec<_> = edges.iter().filter(|(_, to)| *to == of).map(|(from, _)| *from).collect();
        put_list(nodes, count, &all)
    }

    /// What depends on a node.
    fn cuGraphNodeGetDependentNodes(of: usize, nodes: Out<usize>, count: Out<usize>) {
        let edges = node(of)?.graph()?.edges();
        let all: Vec<_> = edges.iter().filter(|(from, _)| *from == of).map(|(_, to)| *to).collect();
        put_list(nodes, count, &all)
    }

    /// Lets nodes depend on others.
    fn cuGraphAddDependencies(graph: usize, from: In<usize>, to: In<usize>, count: usize) {
        connect(graph, from, to, count, true)
    }

    /// Lets nodes depend on others no more.
    fn cuGraphRemoveDependencies(graph: usize, from: In<usize>, to: In<usize>, count: usize) {
        connect(graph, from, to, count, false)
    }

    /// As `cuGraphGetEdges`. Edges have no data.
    fn cuGraphGetEdges_v2(graph: usize, from: Out<usize>, to: Out<usize>, data: Out<u64>, count: Out<usize>) {
        let (first, second): (Vec<_>, Vec<_>) = find(graph)?.edges().into_iter().unzip();
        let room = count.get()?;
        put_data(data, from.is_null(), room.min(first.len()));
        put_list(from, count, &first)?;
        if !to.is_null() {
            count.put(room)?;
            put_list(to, count, &second)?;
        }
        Ok(())
    }

    /// As `cuGraphNodeGetDependencies`. Edges have no data.
    fn cuGraphNodeGetDependencies_v2(of: usize, nodes: Out<usize>, data: Out<u64>, count: Out<usize>) {
        let edges = node(of)?.graph()?.edges();
        let all: Vec<_> = edges.iter().filter(|(_, to)| *to == of).map(|(from, _)| *from).collect();
        put_data(data, nodes.is_null(), count.get()?.min(all.len()));
        put_list(nodes, count, &all)
    }

    /// As `cuGraphNodeGetDependentNodes`. Edges have no data.
    fn cuGraphNodeGetDependentNodes_v2(of: usize, nodes: Out<usize>, data: Out<u64>, count: Out<usize>) {
        let edges = node(of)?.graph()?.edges();
        let all: Vec<_> = edges.iter().filter(|(from, _)| *from == of).map(|(_, to)| *to).collect();
        put_data(data, nodes.is_null(), count.get()?.min(all.len()));
        put_list(nodes, count, &all)
    }

    /// As `cuGraphAddDependencies`. Edges have no data.
    fn cuGraphAddDependencies_v2(graph: usize, from: In<usize>, to: In<usize>, data: In<u64>, count: usize) {
        if !data.is_null() && data.list(count)?.iter().any(|data| *data != 0) {
            return Err(Code::NOT_SUPPORTED.because("edges have no data"));
        }
        connect(graph, from, to, count, true)
    }

    /// As `cuGraphRemoveDependencies`.
    fn cuGraphRemoveDependencies_v2(graph: usize, from: In<usize>, to: In<usize>, data: In<u64>, count: usize) {
        let _ = data;
        connect(graph, from, to, count, false)
    }

    /// Takes a node out of its graph.
    fn cuGraphDestroyNode(of: usize) {
        let driver = driver()?;
        node(of)?.graph()?.remove(of);
        driver.nodes.remove(of);
        Ok(())
    }
}
