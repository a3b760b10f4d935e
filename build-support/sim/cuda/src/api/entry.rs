//! Finding functions by name and version, as CUDA's run time and newer programs do.

use std::ffi::c_void;

use crate::boundary::{In, Out, Text, exported};
use crate::code::Code;
use crate::log::{self, Level};
use crate::refusal::Answer;

/// `CU_GET_PROC_ADDRESS_SUCCESS` and what else can be.
const FOUND: u32 = 0;
const NOT_FOUND: u32 = 1;
const TOO_OLD: u32 = 2;
/// Default, legacy stream, per-thread stream. Work is done in one order here, so the last two are the same.
const FLAGS: u64 = 3;

/// A function: its name without a suffix, the version of CUDA that its parameters are of, and where it is.
struct Entry {
    name: &'static str,
    version: i32,
    address: *const c_void,
}

// SAFETY: functions are the same for all threads.
unsafe impl Sync for Entry {}

macro_rules! entries {
    ($($name:ident $version:literal $module:ident::$symbol:ident;)*) => {
        &[$(Entry {
            name: stringify!($name),
            version: $version,
            address: super::$module::$symbol as *const c_void,
        },)*]
    };
}

/// By name, then by version, as cudaTypedefs.h of CUDA 13.0 has them.
#[rustfmt::skip]
static ENTRIES: &[Entry] = entries! {
    cuCtxCreate 3020 context::cuCtxCreate_v2;
    cuCtxCreate 11040 context::cuCtxCreate_v3;
    cuCtxCreate 12050 context::cuCtxCreate_v4;
    cuCtxDestroy 4000 context::cuCtxDestroy_v2;
    cuCtxDisablePeerAccess 4000 context::cuCtxDisablePeerAccess;
    cuCtxEnablePeerAccess 4000 context::cuCtxEnablePeerAccess;
    cuCtxGetApiVersion 3020 context::cuCtxGetApiVersion;
    cuCtxGetCacheConfig 3020 context::cuCtxGetCacheConfig;
    cuCtxGetCurrent 4000 context::cuCtxGetCurrent;
    cuCtxGetDevice 2000 context::cuCtxGetDevice;
    cuCtxGetDevice 13000 context::cuCtxGetDevice_v2;
    cuCtxGetFlags 7000 context::cuCtxGetFlags;
    cuCtxGetId 12000 context::cuCtxGetId;
    cuCtxGetLimit 3010 context::cuCtxGetLimit;
    cuCtxGetSharedMemConfig 4020 context::cuCtxGetSharedMemConfig;
    cuCtxGetStreamPriorityRange 5050 context::cuCtxGetStreamPriorityRange;
    cuCtxPopCurrent 4000 context::cuCtxPopCurrent_v2;
    cuCtxPushCurrent 4000 context::cuCtxPushCurrent_v2;
    cuCtxResetPersistingL2Cache 11000 context::cuCtxResetPersistingL2Cache;
    cuCtxSetCacheConfig 3020 context::cuCtxSetCacheConfig;
    cuCtxSetCurrent 4000 context::cuCtxSetCurrent;
    cuCtxSetFlags 12010 context::cuCtxSetFlags;
    cuCtxSetLimit 3010 context::cuCtxSetLimit;
    cuCtxSetSharedMemConfig 4020 context::cuCtxSetSharedMemConfig;
    cuCtxSynchronize 2000 context::cuCtxSynchronize;
    cuCtxSynchronize 13000 context::cuCtxSynchronize_v2;
    cuDeviceCanAccessPeer 4000 device::cuDeviceCanAccessPeer;
    cuDeviceComputeCapability 2000 device::cuDeviceComputeCapability;
    cuDeviceGet 2000 device::cuDeviceGet;
    cuDeviceGetAttribute 2000 device::cuDeviceGetAttribute;
    cuDeviceGetByPCIBusId 4010 device::cuDeviceGetByPCIBusId;
    cuDeviceGetCount 2000 device::cuDeviceGetCount;
    cuDeviceGetDefaultMemPool 11020 device::cuDeviceGetDefaultMemPool;
    cuDeviceGetExecAffinitySupport 11040 device::cuDeviceGetExecAffinitySupport;
    cuDeviceGetGraphMemAttribute 11040 graph::cuDeviceGetGraphMemAttribute;
    cuDeviceGetMemPool 11020 device::cuDeviceGetMemPool;
    cuDeviceGetName 2000 device::cuDeviceGetName;
    cuDeviceGetP2PAttribute 8000 device::cuDeviceGetP2PAttribute;
    cuDeviceGetPCIBusId 4010 device::cuDeviceGetPCIBusId;
    cuDeviceGetUuid 9020 device::cuDeviceGetUuid;
    cuDeviceGetUuid 11040 device::cuDeviceGetUuid_v2;
    cuDeviceGraphMemTrim 11040 graph::cuDeviceGraphMemTrim;
    cuDevicePrimaryCtxGetState 7000 context::cuDevicePrimaryCtxGetState;
    cuDevicePrimaryCtxRelease 11000 context::cuDevicePrimaryCtxRelease_v2;
    cuDevicePrimaryCtxReset 11000 context::cuDevicePrimaryCtxReset_v2;
    cuDevicePrimaryCtxRetain 7000 context::cuDevicePrimaryCtxRetain;
    cuDevicePrimaryCtxSetFlags 11000 context::cuDevicePrimaryCtxSetFlags_v2;
    cuDeviceSetMemPool 11020 device::cuDeviceSetMemPool;
    cuDeviceTotalMem 3020 device::cuDeviceTotalMem_v2;
    cuDriverGetVersion 2020 init::cuDriverGetVersion;
    cuEventCreate 2000 event::cuEventCreate;
    cuEventDestroy 4000 event::cuEventDestroy_v2;
    cuEventElapsedTime 2000 event::cuEventElapsedTime;
    cuEventElapsedTime 12080 event::cuEventElapsedTime_v2;
    cuEventQuery 2000 event::cuEventQuery;
    cuEventRecord 2000 event::cuEventRecord;
    cuEventRecordWithFlags 11010 event::cuEventRecordWithFlags;
    cuEventSynchronize 2000 event::cuEventSynchronize;
    cuFuncGetAttribute 2020 function::cuFuncGetAttribute;
    cuFuncGetModule 11000 module::cuFuncGetModule;
    cuFuncGetName 12030 module::cuFuncGetName;
    cuFuncGetParamInfo 12040 function::cuFuncGetParamInfo;
    cuFuncIsLoaded 12040 function::cuFuncIsLoaded;
    cuFuncLoad 12040 function::cuFuncLoad;
    cuFuncSetAttribute 9000 function::cuFuncSetAttribute;
    cuFuncSetCacheConfig 3000 function::cuFuncSetCacheConfig;
    cuFuncSetSharedMemConfig 4020 function::cuFuncSetSharedMemConfig;
    cuGetErrorName 6000 init::cuGetErrorName;
    cuGetErrorString 6000 init::cuGetErrorString;
    cuGetExportTable 3000 entry::cuGetExportTable;
    cuGetProcAddress 11030 entry::cuGetProcAddress;
    cuGetProcAddress 12000 entry::cuGetProcAddress_v2;
    cuGraphAddChildGraphNode 10000 node::cuGraphAddChildGraphNode;
    cuGraphAddDependencies 10000 node::cuGraphAddDependencies;
    cuGraphAddDependencies 12030 node::cuGraphAddDependencies_v2;
    cuGraphAddEmptyNode 10000 node::cuGraphAddEmptyNode;
    cuGraphAddEventRecordNode 11010 node::cuGraphAddEventRecordNode;
    cuGraphAddEventWaitNode 11010 node::cuGraphAddEventWaitNode;
    cuGraphAddHostNode 10000 node::cuGraphAddHostNode;
    cuGraphAddKernelNode 10000 node::cuGraphAddKernelNode;
    cuGraphAddKernelNode 12000 node::cuGraphAddKernelNode_v2;
    cuGraphAddMemcpyNode 10000 node::cuGraphAddMemcpyNode;
    cuGraphAddMemsetNode 10000 node::cuGraphAddMemsetNode;
    cuGraphClone 10000 graph::cuGraphClone;
    cuGraphCreate 10000 graph::cuGraphCreate;
    cuGraphDestroy 10000 graph::cuGraphDestroy;
    cuGraphDestroyNode 10000 node::cuGraphDestroyNode;
    cuGraphExecDestroy 10000 graph::cuGraphExecDestroy;
    cuGraphExecGetFlags 12000 graph::cuGraphExecGetFlags;
    cuGraphExecKernelNodeSetParams 10010 node::cuGraphExecKernelNodeSetParams;
    cuGraphExecKernelNodeSetParams 12000 node::cuGraphExecKernelNodeSetParams_v2;
    cuGraphExecMemcpyNodeSetParams 10020 node::cuGraphExecMemcpyNodeSetParams;
    cuGraphExecMemsetNodeSetParams 10020 node::cuGraphExecMemsetNodeSetParams;
    cuGraphExecUpdate 10020 graph::cuGraphExecUpdate;
    cuGraphExecUpdate 12000 graph::cuGraphExecUpdate_v2;
    cuGraphGetEdges 10000 node::cuGraphGetEdges;
    cuGraphGetEdges 12030 node::cuGraphGetEdges_v2;
    cuGraphGetNodes 10000 node::cuGraphGetNodes;
    cuGraphGetRootNodes 10000 node::cuGraphGetRootNodes;
    cuGraphInstantiate 10000 graph::cuGraphInstantiate;
    cuGraphInstantiate 11000 graph::cuGraphInstantiate_v2;
    cuGraphInstantiate 12000 graph::cuGraphInstantiateWithFlags;
    cuGraphInstantiateWithFlags 11040 graph::cuGraphInstantiateWithFlags;
    cuGraphInstantiateWithParams 12000 graph::cuGraphInstantiateWithParams;
    cuGraphKernelNodeGetParams 10000 node::cuGraphKernelNodeGetParams;
    cuGraphKernelNodeGetParams 12000 node::cuGraphKernelNodeGetParams_v2;
    cuGraphKernelNodeSetParams 10000 node::cuGraphKernelNodeSetParams;
    cuGraphKernelNodeSetParams 12000 node::cuGraphKernelNodeSetParams_v2;
    cuGraphLaunch 10000 graph::cuGraphLaunch;
    cuGraphNodeGetDependencies 10000 node::cuGraphNodeGetDependencies;
    cuGraphNodeGetDependencies 12030 node::cuGraphNodeGetDependencies_v2;
    cuGraphNodeGetDependentNodes 10000 node::cuGraphNodeGetDependentNodes;
    cuGraphNodeGetDependentNodes 12030 node::cuGraphNodeGetDependentNodes_v2;
    cuGraphNodeGetType 10000 node::cuGraphNodeGetType;
    cuGraphRemoveDependencies 10000 node::cuGraphRemoveDependencies;
    cuGraphRemoveDependencies 12030 node::cuGraphRemoveDependencies_v2;
    cuGraphUpload 11010 graph::cuGraphUpload;
    cuInit 2000 init::cuInit;
    cuKernelGetAttribute 12000 library::cuKernelGetAttribute;
    cuKernelGetFunction 12000 library::cuKernelGetFunction;
    cuKernelGetLibrary 12050 library::cuKernelGetLibrary;
    cuKernelGetName 12030 library::cuKernelGetName;
    cuKernelGetParamInfo 12040 library::cuKernelGetParamInfo;
    cuKernelSetAttribute 12000 library::cuKernelSetAttribute;
    cuKernelSetCacheConfig 12000 library::cuKernelSetCacheConfig;
    cuLaunchCooperativeKernel 9000 launch::cuLaunchCooperativeKernel;
    cuLaunchHostFunc 10000 stream::cuLaunchHostFunc;
    cuLaunchKernel 4000 launch::cuLaunchKernel;
    cuLaunchKernelEx 11060 launch::cuLaunchKernelEx;
    cuLibraryEnumerateKernels 12040 library::cuLibraryEnumerateKernels;
    cuLibraryGetGlobal 12000 library::cuLibraryGetGlobal;
    cuLibraryGetKernel 12000 library::cuLibraryGetKernel;
    cuLibraryGetKernelCount 12040 library::cuLibraryGetKernelCount;
    cuLibraryGetManaged 12000 library::cuLibraryGetManaged;
    cuLibraryGetModule 12000 library::cuLibraryGetModule;
    cuLibraryLoadData 12000 library::cuLibraryLoadData;
    cuLibraryLoadFromFile 12000 library::cuLibraryLoadFromFile;
    cuLibraryUnload 12000 library::cuLibraryUnload;
    cuMemAdvise 8000 unified::cuMemAdvise;
    cuMemAdvise 12020 unified::cuMemAdvise_v2;
    cuMemAlloc 3020 memory::cuMemAlloc_v2;
    cuMemAllocAsync 11020 pool::cuMemAllocAsync;
    cuMemAllocFromPoolAsync 11020 pool::cuMemAllocFromPoolAsync;
    cuMemAllocHost 3020 host::cuMemAllocHost_v2;
    cuMemAllocManaged 6000 unified::cuMemAllocManaged;
    cuMemAllocPitch 3020 memory::cuMemAllocPitch_v2;
    cuMemFree 3020 memory::cuMemFree_v2;
    cuMemFreeAsync 11020 pool::cuMemFreeAsync;
    cuMemFreeHost 2000 host::cuMemFreeHost;
    cuMemGetAddressRange 3020 memory::cuMemGetAddressRange_v2;
    cuMemGetInfo 3020 memory::cuMemGetInfo_v2;
    cuMemHostAlloc 2020 host::cuMemHostAlloc;
    cuMemHostGetDevicePointer 3020 host::cuMemHostGetDevicePointer_v2;
    cuMemHostGetFlags 2030 host::cuMemHostGetFlags;
    cuMemHostRegister 6050 host::cuMemHostRegister_v2;
    cuMemHostUnregister 4000 host::cuMemHostUnregister;
    cuMemPoolCreate 11020 pool::cuMemPoolCreate;
    cuMemPoolDestroy 11020 pool::cuMemPoolDestroy;
    cuMemPoolGetAccess 11020 pool::cuMemPoolGetAccess;
    cuMemPoolGetAttribute 11020 pool::cuMemPoolGetAttribute;
    cuMemPoolSetAccess 11020 pool::cuMemPoolSetAccess;
    cuMemPoolSetAttribute 11020 pool::cuMemPoolSetAttribute;
    cuMemPoolTrimTo 11020 pool::cuMemPoolTrimTo;
    cuMemPrefetchAsync 8000 unified::cuMemPrefetchAsync;
    cuMemPrefetchAsync 12020 unified::cuMemPrefetchAsync_v2;
    cuMemcpy 4000 copy::cuMemcpy;
    cuMemcpy2D 3020 copy::cuMemcpy2D_v2;
    cuMemcpy2DAsync 3020 copy::cuMemcpy2DAsync_v2;
    cuMemcpy2DUnaligned 3020 copy::cuMemcpy2DUnaligned_v2;
    cuMemcpy3D 3020 copy::cuMemcpy3D_v2;
    cuMemcpy3DAsync 3020 copy::cuMemcpy3DAsync_v2;
    cuMemcpyAsync 4000 copy::cuMemcpyAsync;
    cuMemcpyDtoD 3020 copy::cuMemcpyDtoD_v2;
    cuMemcpyDtoDAsync 3020 copy::cuMemcpyDtoDAsync_v2;
    cuMemcpyDtoH 3020 copy::cuMemcpyDtoH_v2;
    cuMemcpyDtoHAsync 3020 copy::cuMemcpyDtoHAsync_v2;
    cuMemcpyHtoD 3020 copy::cuMemcpyHtoD_v2;
    cuMemcpyHtoDAsync 3020 copy::cuMemcpyHtoDAsync_v2;
    cuMemcpyPeer 4000 copy::cuMemcpyPeer;
    cuMemcpyPeerAsync 4000 copy::cuMemcpyPeerAsync;
    cuMemsetD16 3020 set::cuMemsetD16_v2;
    cuMemsetD16Async 3020 set::cuMemsetD16Async;
    cuMemsetD2D16 3020 set::cuMemsetD2D16_v2;
    cuMemsetD2D16Async 3020 set::cuMemsetD2D16Async;
    cuMemsetD2D32 3020 set::cuMemsetD2D32_v2;
    cuMemsetD2D32Async 3020 set::cuMemsetD2D32Async;
    cuMemsetD2D8 3020 set::cuMemsetD2D8_v2;
    cuMemsetD2D8Async 3020 set::cuMemsetD2D8Async;
    cuMemsetD32 3020 set::cuMemsetD32_v2;
    cuMemsetD32Async 3020 set::cuMemsetD32Async;
    cuMemsetD8 3020 set::cuMemsetD8_v2;
    cuMemsetD8Async 3020 set::cuMemsetD8Async;
    cuModuleEnumerateFunctions 12040 module::cuModuleEnumerateFunctions;
    cuModuleGetFunction 2000 module::cuModuleGetFunction;
    cuModuleGetFunctionCount 12040 module::cuModuleGetFunctionCount;
    cuModuleGetGlobal 3020 module::cuModuleGetGlobal_v2;
    cuModuleGetLoadingMode 11070 module::cuModuleGetLoadingMode;
    cuModuleLoad 2000 module::cuModuleLoad;
    cuModuleLoadData 2000 module::cuModuleLoadData;
    cuModuleLoadDataEx 2010 module::cuModuleLoadDataEx;
    cuModuleLoadFatBinary 2000 module::cuModuleLoadFatBinary;
    cuModuleUnload 2000 module::cuModuleUnload;
    cuOccupancyAvailableDynamicSMemPerBlock 10020 occupancy::cuOccupancyAvailableDynamicSMemPerBlock;
    cuOccupancyMaxActiveBlocksPerMultiprocessor 6050 occupancy::cuOccupancyMaxActiveBlocksPerMultiprocessor;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags 7000 occupancy::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags;
    cuOccupancyMaxActiveClusters 11070 occupancy::cuOccupancyMaxActiveClusters;
    cuOccupancyMaxPotentialBlockSize 6050 occupancy::cuOccupancyMaxPotentialBlockSize;
    cuOccupancyMaxPotentialBlockSizeWithFlags 7000 occupancy::cuOccupancyMaxPotentialBlockSizeWithFlags;
    cuOccupancyMaxPotentialClusterSize 11070 occupancy::cuOccupancyMaxPotentialClusterSize;
    cuPointerGetAttribute 4000 pointer::cuPointerGetAttribute;
    cuPointerGetAttributes 7000 pointer::cuPointerGetAttributes;
    cuPointerSetAttribute 6000 pointer::cuPointerSetAttribute;
    cuProfilerStart 4000 init::cuProfilerStart;
    cuProfilerStop 4000 init::cuProfilerStop;
    cuStreamAddCallback 5000 stream::cuStreamAddCallback;
    cuStreamAttachMemAsync 6000 unified::cuStreamAttachMemAsync;
    cuStreamBeginCapture 10000 capture::cuStreamBeginCapture;
    cuStreamBeginCapture 10010 capture::cuStreamBeginCapture_v2;
    cuStreamCopyAttributes 11000 stream::cuStreamCopyAttributes;
    cuStreamCreate 2000 stream::cuStreamCreate;
    cuStreamCreateWithPriority 5050 stream::cuStreamCreateWithPriority;
    cuStreamDestroy 4000 stream::cuStreamDestroy_v2;
    cuStreamEndCapture 10000 capture::cuStreamEndCapture;
    cuStreamGetAttribute 11000 stream::cuStreamGetAttribute;
    cuStreamGetCaptureInfo 10010 capture::cuStreamGetCaptureInfo;
    cuStreamGetCaptureInfo 11030 capture::cuStreamGetCaptureInfo_v2;
    cuStreamGetCaptureInfo 12030 capture::cuStreamGetCaptureInfo_v3;
    cuStreamGetCtx 9020 stream::cuStreamGetCtx;
    cuStreamGetCtx 12050 stream::cuStreamGetCtx_v2;
    cuStreamGetDevice 12080 stream::cuStreamGetDevice;
    cuStreamGetFlags 5050 stream::cuStreamGetFlags;
    cuStreamGetId 12000 stream::cuStreamGetId;
    cuStreamGetPriority 5050 stream::cuStreamGetPriority;
    cuStreamIsCapturing 10000 capture::cuStreamIsCapturing;
    cuStreamQuery 2000 stream::cuStreamQuery;
    cuStreamSetAttribute 11000 stream::cuStreamSetAttribute;
    cuStreamSynchronize 2000 stream::cuStreamSynchronize;
    cuStreamWaitEvent 3020 stream::cuStreamWaitEvent;
    cuThreadExchangeStreamCaptureMode 10010 capture::cuThreadExchangeStreamCaptureMode;
};

/// The function of a name that fits the version best, and what to say.
fn find(name: &str, version: i32) -> (*const c_void, u32) {
    let mut of_name = ENTRIES.iter().filter(|entry| entry.name == name);
    if of_name.clone().next().is_none() {
        return (std::ptr::null(), NOT_FOUND);
    }
    match of_name.rfind(|entry| entry.version <= version) {
        Some(entry) => (entry.address, FOUND),
        None => (std::ptr::null(), TOO_OLD),
    }
}

fn get(
    name: Text,
    place: Out<*const c_void>,
    version: i32,
    flags: u64,
    status: Option<Out<u32>>,
) -> Answer {
    place.check()?;
    let name = name.get()?;
    if flags > FLAGS - 1 || version > super::init::version()? {
        return Err(Code::INVALID_VALUE
            .because(format!("`{name}` of CUDA version {version}, flags {flags}")));
    }
    let (address, found) = find(&name, version);
    place.put(address)?;
    if found != FOUND {
        log::line(
            Level::Info,
            &format!("there is no function `{name}` of CUDA version {version} or older"),
        );
    }
    match status.filter(|status| !status.is_null()) {
        Some(status) => status.put(found),
        None if found == FOUND => Ok(()),
        None => Err(Code::NOT_FOUND.into()),
    }
}

exported! {
    /// A table of functions that are not documented, which there are none of. NVRTC asks for one, goes on if there is
    /// none, and does not go on if this function is missing.
    fn cuGetExportTable(table: Out<*const c_void>, id: In<[u8; 16]>) {
        table.put(std::ptr::null())?;
        let id = id.get()?.map(|byte| format!("{byte:02x}")).concat();
        log::line(Level::Info, &format!("there is no table {id}"));
        Err(Code::NOT_FOUND.into())
    }

    /// A function by its name.
    fn cuGetProcAddress(name: Text, place: Out<*const c_void>, version: i32, flags: u64) {
        get(name, place, version, flags, None)
    }

    /// A function by its name, and whether there is one.
    fn cuGetProcAddress_v2(name: Text, place: Out<*const c_void>, version: i32, flags: u64, status: Out<u32>) {
        get(name, place, version, flags, Some(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_the_caller_knows_is_found() {
        let address = |name, version| find(name, version).0;
        assert_eq!(
            address("cuCtxCreate", 4000),
            super::super::context::cuCtxCreate_v2 as *const c_void
        );
        assert_eq!(
            address("cuCtxCreate", 12_040),
            super::super::context::cuCtxCreate_v3 as *const c_void
        );
        assert_eq!(
            address("cuCtxCreate", 13_000),
            super::super::context::cuCtxCreate_v4 as *const c_void
        );
        assert_eq!(find("cuLaunchKernelEx", 11_000).1, TOO_OLD);
        assert_eq!(find("cuMemAlloc_v2", 13_000).1, NOT_FOUND);
    }

    #[test]
    fn every_function_is_listed() {
        let sources = [
            include_str!("capture.rs"),
            include_str!("context.rs"),
            include_str!("copy.rs"),
            include_str!("device.rs"),
            include_str!("entry.rs"),
            include_str!("event.rs"),
            include_str!("function.rs"),
            include_str!("graph.rs"),
            include_str!("host.rs"),
            include_str!("init.rs"),
            include_str!("launch.rs"),
            include_str!("library.rs"),
            include_str!("memory.rs"),
            include_str!("module.rs"),
            include_str!("node.rs"),
            include_str!("occupancy.rs"),
            include_str!("pointer.rs"),
            include_str!("pool.rs"),
            include_str!("set.rs"),
            include_str!("stream.rs"),
            include_str!("unified.rs"),
        ];
        let defined = sources
            .iter()
            .flat_map(|source| source.lines())
            .filter_map(|line| line.strip_prefix("    fn cu")?.split_once('('))
            .map(|(name, _)| format!("::cu{name};"));
        let listed = include_str!("entry.rs");
        let missing: Vec<_> = defined.filter(|name| !listed.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
