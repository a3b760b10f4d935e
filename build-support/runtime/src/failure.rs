//! A failed check, as the program sees it.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;

use cudarc::driver::CudaContext;

use crate::call;
use crate::category::Category;
use crate::driver::DriverError;
use crate::kernel::KernelInfo;
use crate::launched::Found;
use crate::site::{Call, Site};
use crate::slot::Record;
use crate::value::Value;

/// The first check that failed in a launch: that of the lowest block, in it of the lowest thread, in it the
/// first executed. The same launch with the same data gives the same one.
///
/// The parts are the fields of [`Failure`]: `failed.message`, `failed.block`.
#[derive(Clone, PartialEq)]
pub struct FailedCheck(Box<Failure>);

/// What a [`FailedCheck`] says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// The kernel launched.
    pub kernel: &'static str,
    /// What failed, with the captured values.
    pub message: String,
    /// What kind of check it was.
    pub category: Category,
    /// The check's [`Site::id`], to count failures by: the same in every build whose source says the same there. 0
    /// where no check is known.
    pub site: u64,
    /// The condition that did not hold, as the source writes it.
    pub condition: &'static str,
    /// The file of the check.
    pub file: &'static str,
    /// Its line.
    pub line: u32,
    /// The device function it stands in; empty where that is the kernel itself.
    pub function: &'static str,
    /// The calls that it was inlined through, the nearest first; empty where the kernels have no line information.
    pub calls: &'static [Call],
    /// `blockIdx` of the failing thread.
    pub block: [u32; 3],
    /// `threadIdx` of the failing thread.
    pub thread: [u32; 3],
    /// The captured values.
    pub values: Vec<Value>,
    /// How many threads of this launch failed. Each counts once, also if it went on and failed again. 0 if that is not
    /// known.
    pub failed_threads: u64,
    /// The call that launched the kernel.
    pub launched_at: &'static Location<'static>,
    /// Which launch of its scope it was, counted from 0; `None` outside of scopes.
    pub launch: Option<u32>,
    /// The device's number.
    pub device: usize,
    /// The device's name.
    pub device_name: String,
    /// The stream's number, as NVIDIA's tools show it; its handle if the driver does not tell.
    pub stream: u64,
    /// What the driver says, if the launch did not end as launches do.
    pub fault: Option<DriverError>,
}

/// Where a record comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) info: &'static KernelInfo,
    pub(crate) sites: &'static [Site],
    pub(crate) launched_at: &'static Location<'static>,
    /// Its number in the scope.
    pub(crate) launch: Option<u32>,
}

/// Where a launch ran.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    device: usize,
    device_name: String,
    stream: u64,
}

impl Place {
    pub(crate) fn new(context: &CudaContext, stream: u64) -> Self {
        Self {
            device: context.ordinal(),
            device_name: call::device_name(context).unwrap_or_default(),
            stream,
        }
    }
}

impl FailedCheck {
    /// What a slot says; `any` is one of the launches that have it.
    pub(crate) fn found(
        found: &Found,
        any: &Origin,
        place: Place,
        fault: Option<DriverError>,
    ) -> Self {
        match &found.origin {
            Some(origin) => Self::new(origin, place, &found.record, found.count, fault),
            None => {
                let message = "a check failed, but it is not known in which launch of the scope";
                let message = match fault {
                    Some(error) => format!("{error}; {message}"),
                    None => message.to_owned(),
                };
                Self::without_check(any, place, message, fault)
            }
        }
    }

    /// A check that failed `failed_threads` times.
    fn new(
        origin: &Origin,
        place: Place,
        record: &Record,
        failed_threads: u64,
        fault: Option<DriverError>,
    ) -> Self {
        let site = usize::try_from(record.site)
            .ok()
            .and_then(|site| origin.sites.get(site));
        let Some(site) = site else {
            let message = format!(
                "a check failed, but the record names number {} of {}: the image and its table do not belong together",
                record.site,
                origin.sites.len()
            );
            return Self::without_check(origin, place, message, fault);
        };
        let values = site.values(&record.values);
        Self(Box::new(Failure {
            message: site.message(&values),
            category: site.kind.into(),
            site: site.id(),
            condition: site.condition,
            file: site.file,
            line: site.line,
            function: site.function,
            calls: site.calls,
            block: record.block,
            thread: record.thread,
            values,
            failed_threads,
            ..Failure::blank(origin, place, fault)
        }))
    }

    /// A launch whose checks are unknown.
    pub(crate) fn fault(origin: &Origin, place: Place, error: DriverError) -> Self {
        Self::without_check(origin, place, error.to_string(), Some(error))
    }

    fn without_check(
        origin: &Origin,
        place: Place,
        message: String,
        fault: Option<DriverError>,
    ) -> Self {
        Self(Box::new(Failure {
            message,
            ..Failure::blank(origin, place, fault)
        }))
    }
}

impl Failure {
    fn blank(origin: &Origin, place: Place, fault: Option<DriverError>) -> Self {
        Self {
            kernel: origin.info.name,
            message: String::new(),
            category: Category::Fault,
            site: 0,
            condition: "",
            file: "",
            line: 0,
            function: "",
            calls: &[],
            block: [0; 3],
            thread: [0; 3],
            values: Vec::new(),
            failed_threads: 0,
            launched_at: origin.launched_at,
            launch: origin.launch,
            device: place.device,
            device_name: place.device_name,
            stream: place.stream,
            fault,
        }
    }
}

impl Deref for FailedCheck {
    type Target = Failure;

    fn deref(&self) -> &Failure {
        &self.0
    }
}

impl std::error::Error for FailedCheck {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let fault = self.fault.as_ref()?;
        Some(fault)
    }
}

impl fmt::Display for FailedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure {
            kernel, message, ..
        } = &**self;
        let headline = self.category.headline();
        // Without a message of its own a check says its condition, and the headline is in it.
        match message.strip_prefix(headline) {
            Some(rest) => write!(f, "{headline} in kernel `{kernel}`{rest}")?,
            None => write!(f, "{headline} in kernel `{kernel}`: {message}")?,
        }
        if self.category != Category::Fault {
            let Failure {
                file,
                line,
                condition,
                function,
                calls,
                block: [bx, by, bz],
                thread: [tx, ty, tz],
                failed_threads,
                ..
            } = &**self;
            write!(f, "\n  --> {file}:{line}")?;
            if !function.is_empty() && function != kernel {
                write!(f, ", in `{function}`")?;
            }
            for call in *calls {
                write!(f, "\n   = called from {call}")?;
            }
            if !message.contains(condition) {
                write!(f, "\n   = condition: `{condition}`")?;
            }
            write!(
                f,
                "\n   = first in block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}); "
            )?;
            match failed_threads {
                0 => write!(f, "how many more is unknown")?,
                1 => write!(f, "the only failure")?,
                count => write!(f, "{count} failures")?,
            }
            if let Some(fault) = self.fault {
                write!(f, "\n   = and the launch did not end: {fault}")?;
            }
        }
        let Failure {
            launched_at,
            launch,
            device,
            device_name,
            stream,
            ..
        } = &**self;
        write!(f, "\n   = launched at {launched_at}")?;
        if let Some(launch) = launch {
            write!(f, ", launch {launch} of its scope")?;
        }
        write!(f, ", on device {device}")?;
        if !device_name.is_empty() {
            write!(f, " ({device_name})")?;
        }
        write!(f, ", stream {stream}")
    }
}

#[cfg(test)]
mod tests {
    use gpuk_device::abi::ValueType;
    use gpuk_device::record::MAX_VALUES;

    use cudarc::driver::sys::CUresult;

    use super::*;
    use crate::site::SiteKind;

    static INFO: KernelInfo = KernelInfo {
        name: "gather",
        entry: "gather",
        source: "kernels/gather.cu:12",
        checked: true,
        max_threads: None,
        exact_block: None,
        min_blocks: None,
        cluster: None,
        grid_of_clusters: false,
        params: &[],
    };

    static SITES: [Site; 3] = [
        Site {
            kind: SiteKind::Check,
            function: "gather",
            file: "kernels/gather.cu",
            line: 14,
            calls: &[],
            condition: "k >= 0 && k < rows",
            format: Some("row {} of {}"),
            types: &[ValueType::I32, ValueType::I32],
        },
        Site {
            kind: SiteKind::Assert,
            function: "row_of",
            file: "kernels/row.cuh",
            line: 5,
            calls: &[
                Call {
                    function: "outer",
                    file: "kernels/row.cuh",
                    lines: &[12],
                },
                Call {
                    function: "",
                    file: "kernels/gather.cu",
                    lines: &[33, 35],
                },
            ],
            condition: "k < rows",
            format: None,
            types: &[],
        },
        Site {
            kind: SiteKind::DebugExpect,
            function: "",
            file: "kernels/gather.cu",
            line: 20,
            calls: &[],
            condition: "x == x",
            format: None,
            types: &[],
        },
    ];

    fn failed(site: u32, count: u64, fault: Option<DriverError>) -> FailedCheck {
        let mut values = [0; MAX_VALUES];
        values[..2].copy_from_slice(&[-3_i64 as u64, 4]);
        let record = Record {
            site,
            launch: 0,
            block: [937, 0, 1],
            thread: [29, 3, 0],
            values,
        };
        let place = Place {
            device: 1,
            device_name: "NVIDIA H200".to_owned(),
            stream: 13,
        };
        FailedCheck::new(&origin(), place, &record, count, fault)
    }

    fn origin() -> Origin {
        Origin {
            info: &INFO,
            sites: &SITES,
            launched_at: LOCATION,
            launch: None,
        }
    }

    static LOCATION: &Location<'static> = Location::caller();

    /// The place of this file's own launch moves with every edit.
    fn text(failed: &FailedCheck) -> String {
        failed
            .to_string()
            .replace(&LOCATION.to_string(), "src/main.rs:42:19")
    }

    #[test]
    fn a_failure_says_what_where_and_who() {
        let failure = failed(0, 262_144, None);
        assert_eq!(failure.values, [Value::I32(-3), Value::I32(4)]);
        assert_eq!((failure.category, failure.line), (Category::Check, 14));
        insta::assert_snapshot!(text(&failure), @"
        check failed in kernel `gather`: row -3 of 4
          --> kernels/gather.cu:14
           = condition: `k >= 0 && k < rows`
           = first in block (937, 0, 1), thread (29, 3, 0); 262144 failures
           = launched at src/main.rs:42:19, on device 1 (NVIDIA H200), stream 13
        ");
    }

    #[test]
    fn other_kinds_of_failure_read_as_well() {
        let fault = DriverError::check(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS).unwrap_err();
        insta::assert_snapshot!(text(&failed(1, 1, None)), @"
        assertion failed in kernel `gather`: `k < rows`
          --> kernels/row.cuh:5, in `row_of`
           = called from kernels/row.cuh:12, in `outer`
           = called from kernels/gather.cu:33 or kernels/gather.cu:35
           = first in block (937, 0, 1), thread (29, 3, 0); the only failure
           = launched at src/main.rs:42:19, on device 1 (NVIDIA H200), stream 13
        ");
        insta::assert_snapshot!(text(&failed(2, 0, Some(fault))), @"
        debug expectation not met in kernel `gather`: `x == x`
          --> kernels/gather.cu:20
           = first in block (937, 0, 1), thread (29, 3, 0); how many more is unknown
           = and the launch did not end: CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel accessed memory that is not there; the context is lost
           = launched at src/main.rs:42:19, on device 1 (NVIDIA H200), stream 13
        ");
        insta::assert_snapshot!(text(&failed(3, 1, None)), @"
        launch failed in kernel `gather`: a check failed, but the record names number 3 of 3: the image and its table do not belong together
           = launched at src/main.rs:42:19, on device 1 (NVIDIA H200), stream 13
        ");
        let place = Place {
            device: 0,
            device_name: String::new(),
            stream: 7,
        };
        insta::assert_snapshot!(text(&FailedCheck::fault(&origin(), place, fault)), @"
        launch failed in kernel `gather`: CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel accessed memory that is not there; the context is lost
           = launched at src/main.rs:42:19, on device 0, stream 7
        ");
    }

    #[test]
    fn failures_cross_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<FailedCheck>();
    }
}
