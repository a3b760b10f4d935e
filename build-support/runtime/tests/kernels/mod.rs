//! What `gpuk-build` would generate for `kernels.cu`, written by hand.

const _: () = ::gpuk::__abi::<4>();

/// The kernels of `kernels.cu`.
pub struct Kernels {
    gather: ::gpuk::Function,
    spin: ::gpuk::Function,
    shared_bytes: ::gpuk::Function,
    is_null: ::gpuk::Function,
}

impl Kernels {
    pub const GATHER: ::gpuk::KernelInfo = ::gpuk::KernelInfo {
        name: "gather",
        entry: "gather",
        source: "kernels.cu:4",
        checked: true,
        max_threads: None,
        exact_block: None,
        min_blocks: None,
        cluster: None,
        grid_of_clusters: false,
        params: &[
            param("src", 8),
            param("idx", 8),
            param("dst", 8),
            param("n", 4),
            param("rows", 4),
        ],
    };

    pub const SPIN: ::gpuk::KernelInfo = ::gpuk::KernelInfo {
        name: "spin",
        entry: "spin",
        source: "kernels.cu:12",
        params: &[param("cycles", 8), param("fail", 1)],
        ..Self::GATHER
    };

    pub const SHARED_BYTES: ::gpuk::KernelInfo = ::gpuk::KernelInfo {
        name: "shared_bytes",
        entry: "shared_bytes",
        source: "kernels.cu:19",
        checked: false,
        params: &[param("bytes", 8)],
        ..Self::GATHER
    };

    pub const IS_NULL: ::gpuk::KernelInfo = ::gpuk::KernelInfo {
        name: "is_null",
        entry: "is_null",
        source: "kernels.cu:25",
        checked: false,
        params: &[param("pointer", 8), param("answer", 8)],
        ..Self::GATHER
    };

    pub fn images(&self) -> &'static [::gpuk::Image] {
        &IMAGES
    }

    pub fn load(
        context: &::std::sync::Arc<::gpuk::CudaContext>,
    ) -> ::std::result::Result<Self, ::gpuk::LoadError> {
        let module = ::gpuk::Module::load(context, &IMAGES)?;
        Ok(Self {
            gather: module.function(&Self::GATHER)?,
            spin: module.function(&Self::SPIN)?,
            shared_bytes: module.function(&Self::SHARED_BYTES)?,
            is_null: module.function(&Self::IS_NULL)?,
        })
    }

    /// # Safety
    ///
    /// `idx` and `dst` have `n` items, `src` has `rows`.
    #[track_caller]
    #[expect(clippy::too_many_arguments, reason = "the kernel has as many")]
    pub unsafe fn gather<On: ::gpuk::On, Dst: ::gpuk::Write<Item = f32>>(
        &self,
        on: On,
        launch: impl Into<::gpuk::Launch>,
        src: impl ::gpuk::Read<Item = f32>,
        idx: impl ::gpuk::Read<Item = i32>,
        mut dst: Dst,
        n: i32,
        rows: i32,
    ) -> ::std::result::Result<On::Returned<Dst>, ::gpuk::LaunchError> {
        let target = ::gpuk::On::target(&on);
        // SAFETY: the arguments are those of the entry; the rest is the caller's promise.
        let payload = unsafe {
            ::gpuk::Function::launch(
                &self.gather,
                target,
                launch.into(),
                [
                    ::gpuk::Pass::buffer("src", &src.argument(target.stream)),
                    ::gpuk::Pass::buffer("idx", &idx.argument(target.stream)),
                    ::gpuk::Pass::buffer("dst", &dst.argument_mut(target.stream)),
                    ::gpuk::Pass::value(&n),
                    ::gpuk::Pass::value(&rows),
                    ::gpuk::Pass::hidden(),
                ],
            )?
        };
        ::gpuk::On::returned(&on, payload, dst)
    }

    /// # Safety
    ///
    /// None to speak of.
    #[track_caller]
    pub unsafe fn spin<On: ::gpuk::On>(
        &self,
        on: On,
        launch: impl Into<::gpuk::Launch>,
        cycles: u64,
        fail: bool,
    ) -> ::std::result::Result<On::Returned<()>, ::gpuk::LaunchError> {
        let target = ::gpuk::On::target(&on);
        // SAFETY: the arguments are those of the entry; the rest is the caller's promise.
        let payload = unsafe {
            ::gpuk::Function::launch(
                &self.spin,
                target,
                launch.into(),
                [
                    ::gpuk::Pass::value(&cycles),
                    ::gpuk::Pass::value(&fail),
                    ::gpuk::Pass::hidden(),
                ],
            )?
        };
        ::gpuk::On::returned(&on, payload, ())
    }

    /// # Safety
    ///
    /// `bytes` has an item, the launch a byte of dynamic shared memory for each thread.
    #[track_caller]
    pub unsafe fn shared_bytes<On: ::gpuk::On, Bytes: ::gpuk::Write<Item = u32>>(
        &self,
        on: On,
        launch: impl Into<::gpuk::Launch>,
        mut bytes: Bytes,
    ) -> ::std::result::Result<On::Returned<Bytes>, ::gpuk::LaunchError> {
        let target = ::gpuk::On::target(&on);
        // SAFETY: the arguments are those of the entry; the rest is the caller's promise.
        let payload = unsafe {
            ::gpuk::Function::launch(
                &self.shared_bytes,
                target,
                launch.into(),
                [::gpuk::Pass::buffer(
                    "bytes",
                    &bytes.argument_mut(target.stream),
                )],
            )?
        };
        ::gpuk::On::returned(&on, payload, bytes)
    }

    /// # Safety
    ///
    /// `answer` has an item.
    #[track_caller]
    pub unsafe fn is_null<On: ::gpuk::On, Answer: ::gpuk::Write<Item = bool>>(
        &self,
        on: On,
        launch: impl Into<::gpuk::Launch>,
        pointer: impl ::gpuk::Read<Item = u64>,
        mut answer: Answer,
    ) -> ::std::result::Result<On::Returned<Answer>, ::gpuk::LaunchError> {
        let target = ::gpuk::On::target(&on);
        // SAFETY: the arguments are those of the entry; the rest is the caller's promise.
        let payload = unsafe {
            ::gpuk::Function::launch(
                &self.is_null,
                target,
                launch.into(),
                [
                    ::gpuk::Pass::buffer("pointer", &pointer.argument(target.stream)),
                    ::gpuk::Pass::buffer("answer", &answer.argument_mut(target.stream)),
                ],
            )?
        };
        ::gpuk::On::returned(&on, payload, answer)
    }
}

const fn param(name: &'static str, size: usize) -> ::gpuk::ParamInfo {
    ::gpuk::ParamInfo {
        name,
        size,
        align: size,
    }
}

static IMAGES: [::gpuk::Image; 1] = [::gpuk::Image::Ptx {
    arch: "sm_80",
    version: (9, 0),
    bytes: include_bytes!("kernels.ptx"),
    sites: &SITES_0,
}];

static SITES_0: [::gpuk::Site; 2] = [
    ::gpuk::Site {
        kind: ::gpuk::SiteKind::Check,
        function: "gather",
        file: "kernels.cu",
        line: 8,
        calls: &[],
        condition: "k >= 0 && k < rows",
        format: Some("row {} of {}"),
        types: &[::gpuk::ValueType::I32, ::gpuk::ValueType::I32],
    },
    ::gpuk::Site {
        kind: ::gpuk::SiteKind::Expect,
        function: "spin",
        file: "kernels.cu",
        line: 16,
        calls: &[],
        condition: "!fail",
        format: None,
        types: &[],
    },
];
