//! Launches.

use std::ffi::c_void;
use std::sync::Arc;

use crate::boundary::{In, exported};
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::launch::{Arguments, Shape, Source};
use crate::module::Function;
use crate::refusal::Answer;
use crate::stream::Stream;
use crate::work::Op;

/// The arguments' two forms, of which one is null.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    pub(super) params: In<*const c_void>,
    pub(super) extra: In<*const c_void>,
}

/// What an item of `extra` is followed by.
mod extra {
    pub(super) const END: usize = 0;
    pub(super) const BUFFER: usize = 1;
    pub(super) const SIZE: usize = 2;
}

/// `CUlaunchAttribute`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Attribute {
    id: u32,
    pad: u32,
    value: [u32; 16],
}

/// `CUlaunchAttributeID`.
mod attribute {
    pub(super) const IGNORE: u32 = 0;
    pub(super) const ACCESS_POLICY_WINDOW: u32 = 1;
    pub(super) const COOPERATIVE: u32 = 2;
    pub(super) const SYNCHRONIZATION_POLICY: u32 = 3;
    pub(super) const CLUSTER_DIMENSION: u32 = 4;
    pub(super) const COUNT: u32 = 18;
}

/// `CUlaunchConfig`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: usize,
    attributes: In<Attribute>,
    count: u32,
}

impl Config {
    /// The stream, and the shape that the attributes make of it.
    pub(super) fn read(&self) -> Answer<(usize, Shape)> {
        let mut shape = Shape {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            cluster: None,
            cooperative: false,
        };
        for Attribute { id, value, .. } in self.attributes.list(self.count as usize)? {
            match id {
                attribute::COOPERATIVE => shape.cooperative = value[0] != 0,
                attribute::CLUSTER_DIMENSION => {
                    shape.cluster = Some([value[0], value[1], value[2]])
                }
                attribute::SYNCHRONIZATION_POLICY | attribute::COUNT.. => {
                    return Err(
                        Code::INVALID_VALUE.because(format!("launches have no attribute {id}"))
                    );
                }
                // Of the cache and of order, which change no result here; or nothing at all.
                attribute::IGNORE | attribute::ACCESS_POLICY_WINDOW | 5.. => {}
            }
        }
        Ok((self.stream, shape))
    }
}

impl Driver {
    /// The function of a handle that is a function's, or a library's kernel's.
    pub(crate) fn callable(&self, handle: usize) -> Answer<Arc<Function>> {
        if let Some(function) = self.functions.find(handle) {
            self.check()?;
            return Ok(function);
        }
        if let Some(kernel) = self.kernels.find(handle) {
            return self.function_of(&kernel, &self.current()?);
        }
        Err(self.functions.stale(handle, Code::INVALID_HANDLE))
    }

    /// As [`callable`](Self::callable), in the context of a stream.
    fn callable_in(&self, handle: usize, stream: &Stream) -> Answer<Arc<Function>> {
        if let Some(kernel) = self.kernels.find(handle) {
            return self.function_of(&kernel, &stream.context);
        }
        let function = self.functions.get(handle)?;
        if !Arc::ptr_eq(&function.context, &stream.context) {
            return Err(Code::INVALID_HANDLE.because(format!(
                "kernel `{}` and the stream are of different contexts",
                function.sim.name()
            )));
        }
        Ok(function)
    }
}

impl Given {
    /// The arguments, as the function takes them.
    pub(super) fn read(self, function: &Function) -> Answer<Vec<u8>> {
        let invalid = |why: &'static str| {
            Code::INVALID_VALUE.because(format!("kernel `{}`: {why}", function.sim.name()))
        };
        if self.extra.is_null() {
            let count = function.params_count();
            if self.params.is_null() && count > 0 {
                return Err(invalid("it has parameters, and there are no arguments"));
            }
            let pointers = self.params.list(count)?;
            let pointers = pointers.into_iter().map(Source).collect();
            return function.arguments(Arguments::Pointers(pointers));
        }
        if !self.params.is_null() {
            return Err(invalid("its arguments are given in both ways"));
        }
        let words = self.extra.cast::<usize>();
        let (mut buffer, mut size) = (std::ptr::null(), None);
        for index in (0..).step_by(2) {
            match words.at(index) {
                extra::END => break,
                extra::BUFFER => buffer = self.extra.at(index + 1),
                extra::SIZE => {
                    let place: In<usize> = In::new(words.at(index + 1));
                    size = Some(place.get()?);
                }
                _ => return Err(invalid("there is an unknown item in `extra`")),
            }
        }
        match size {
            Some(size) if size > 0 || function.params_count() == 0 => {
                function.arguments(Arguments::Buffer {
                    buffer: Source(buffer),
                    size,
                })
            }
            _ if function.params_count() == 0 => Ok(Vec::new()),
            _ => Err(invalid("it has parameters, and there are no arguments")),
        }
    }
}

fn launch(function: usize, stream: usize, shape: &Shape, given: Given) -> Answer {
    let driver = driver()?;
    let stream = driver.stream(stream)?;
    let function = driver.callable_in(function, &stream)?;
    let planned = given
        .read(&function)
        .and_then(|params| function.plan(shape, params, &driver.profile));
    let planned = planned.inspect_err(|_| {
        // As driver 580 has it.
        if let Some(joined) = &*stream.capture() {
            joined.capture.invalidate();
        }
    })?;
    driver.submit(&stream, Op::Kernel(Arc::new(planned)))
}

exported! {
    /// Launches a kernel.
    fn cuLaunchKernel(
        function: usize,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: usize,
        params: In<*const c_void>,
        extra: In<*const c_void>,
    ) {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared,
            cluster: None,
            cooperative: false,
        };
        launch(function, stream, &shape, Given { params, extra })
    }

    /// Launches a kernel whose blocks can wait for each other.
    fn cuLaunchCooperativeKernel(
        function: usize,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: usize,
        params: In<*const c_void>,
    ) {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared,
            cluster: None,
            cooperative: true,
        };
        launch(function, stream, &shape, Given { params, extra: In::new(0) })
    }

    /// Launches a kernel with attributes.
    fn cuLaunchKernelEx(
        config: In<Config>,
        function: usize,
        params: In<*const c_void>,
        extra: In<*const c_void>,
    ) {
        let (stream, shape) = config.get()?.read()?;
        launch(function, stream, &shape, Given { params, extra })
    }
}
