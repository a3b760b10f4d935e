//! Stream capture.

use crate::boundary::{Out, exported};
use crate::capture::{Joined, Mode, exchange_thread_mode};
use crate::code::Code;
use crate::driver::driver;
use crate::graph::Graph;
use crate::refusal::Answer;

/// `CUstreamCaptureStatus`.
mod status {
    pub(super) const NONE: u32 = 0;
    pub(super) const ACTIVE: u32 = 1;
    pub(super) const INVALIDATED: u32 = 2;
}

fn begin(stream: usize, mode: u32) -> Answer {
    let driver = driver()?;
    let stream = driver.stream(stream)?;
    if stream.is_legacy() {
        return Err(Code::STREAM_CAPTURE_UNSUPPORTED
            .because("the legacy default stream cannot be captured"));
    }
    let mode = Mode::new(mode)
        .ok_or_else(|| Code::INVALID_VALUE.because(format!("there is no mode {mode}")))?;
    let graph = driver.graphs.insert(Graph::new);
    let begun = driver.captures.begin(&stream, mode, (*graph).clone());
    if begun.is_err() {
        driver.graphs.remove(graph.handle);
    }
    begun
}

/// Where a program asks for what is known of a capture.
#[derive(Default)]
struct Asked {
    id: Option<Out<u64>>,
    graph: Option<Out<usize>>,
    after: Option<Out<*const usize>>,
    edges: Option<Out<usize>>,
    count: Option<Out<usize>>,
}

fn information(stream: usize, place: Out<u32>, asked: &Asked) -> Answer {
    place.check()?;
    let driver = driver()?;
    let stream = driver.stream(stream)?;
    let joined = stream.capture().clone();
    if stream.is_legacy() {
        driver.captures.permit_legacy(&stream.context)?;
    }
    let Some(Joined { capture, after }) = joined else {
        return place.put(status::NONE);
    };
    if capture.is_invalid() {
        return place.put(status::INVALIDATED);
    }
    place.put(status::ACTIVE)?;
    if let Some(id) = asked.id {
        id.put_if_any(capture.id);
    }
    if let Some(graph) = asked.graph {
        graph.put_if_any(capture.graph.handle);
    }
    if let Some(count) = asked.count {
        count.put_if_any(after.len());
    }
    if let Some(edges) = asked.edges {
        edges.put_if_any(0);
    }
    if let Some(list) = asked.after {
        list.put_if_any(stream.keep_list(after.iter().map(|node| node.handle).collect()));
    }
    Ok(())
}

exported! {
    /// Begins to put a stream's work into a graph instead of doing it.
    fn cuStreamBeginCapture_v2(stream: usize, mode: u32) {
        begin(stream, mode)
    }

    /// As `cuStreamBeginCapture_v2`, in the mode that forbids most.
    fn cuStreamBeginCapture(stream: usize) {
        begin(stream, 0)
    }

    /// Ends that, and gives the graph.
    fn cuStreamEndCapture(stream: usize, graph: Out<usize>) {
        let driver = driver()?;
        graph.put_if_any(0);
        let stream = driver.stream(stream)?;
        let joined = stream.capture().clone();
        let captured = driver.captures.end(&stream);
        match captured {
            Ok(captured) => {
                graph.put_if_any(captured.handle);
                Ok(())
            }
            Err(refusal) => {
                if let Some(joined) = joined.filter(|joined| !driver.captures.is_under_way(&joined.capture)) {
                    driver.drop_graph(joined.capture.graph.handle);
                }
                Err(refusal)
            }
        }
    }

    /// Whether a stream is being captured.
    fn cuStreamIsCapturing(stream: usize, place: Out<u32>) {
        information(stream, place, &Asked::default())
    }

    /// What is known of a stream's capture.
    fn cuStreamGetCaptureInfo(stream: usize, place: Out<u32>, id: Out<u64>) {
        information(stream, place, &Asked { id: Some(id), ..Asked::default() })
    }

    /// What is known of a stream's capture, and its graph.
    fn cuStreamGetCaptureInfo_v2(
        stream: usize,
        place: Out<u32>,
        id: Out<u64>,
        graph: Out<usize>,
        after: Out<*const usize>,
        count: Out<usize>,
    ) {
        let asked = Asked { id: Some(id), graph: Some(graph), after: Some(after), edges: None, count: Some(count) };
        information(stream, place, &asked)
    }

    /// As `cuStreamGetCaptureInfo_v2`. Edges have no data.
    fn cuStreamGetCaptureInfo_v3(
        stream: usize,
        place: Out<u32>,
        id: Out<u64>,
        graph: Out<usize>,
        after: Out<*const usize>,
        edges: Out<usize>,
        count: Out<usize>,
    ) {
        let asked = Asked { id: Some(id), graph: Some(graph), after: Some(after), edges: Some(edges), count: Some(count) };
        information(stream, place, &asked)
    }

    /// Sets what the thread lets itself do while something is captured, and gives what it was.
    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        driver()?;
        let new = mode.get()?;
        mode.put(exchange_thread_mode(new))
    }
}
