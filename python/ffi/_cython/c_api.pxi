# What these headers say: dlpack.h, c_runtime_api.h.
# Written by tools/write_mirrors.py; do not edit.

cdef extern from "mxnet/runtime/c_runtime_api.h" nogil:
    enum:
        DLPACK_MAJOR_VERSION
        DLPACK_MINOR_VERSION
        DLPACK_FLAG_BITMASK_READ_ONLY
        DLPACK_FLAG_BITMASK_IS_COPIED
        kDLInt
        kDLUInt
        kDLFloat
        kDLOpaqueHandle
        kDLBfloat
        kDLComplex
        kDLBool
        MXNET_RUNTIME_ABI_MAJOR
        MXNET_RUNTIME_ABI_MINOR
        kMXNetInt
        kMXNetUInt
        kMXNetFloat
        kMXNetHandle
        kMXNetNull
        kMXNetType
        kMXNetContext
        kMXNetArrayHandle
        kMXNetObjectHandle
        kMXNetModuleHandle
        kMXNetFuncHandle
        kMXNetStr
        kMXNetBytes
        kMXNetPyArg
        kMXNetNDArrayHandle
        kMXNetExtBegin
        kMXNetExtReserveEnd
        kMXNetBool
        kMXNetComplex
        kMXNetIntTuple
        kMXNetIntList
        kMXNetTuple
        kMXNetList
        kMXNetDict
        kMXNetReadOnlyArray
        kMXNetMissing
        kMXNetKeyword
        kMXNetEnum
        kMXNetBorrowedArray
        kMXNetExtEnd
        kMXNetObjectNone
        kMXNetObjectFunction
        kMXNetObjectNDArray
        kMXNetObjectString
        kMXNetObjectBytes
        kMXNetObjectShape
        kMXNetObjectTuple
        kMXNetObjectArray
        kMXNetObjectMap
        kMXNetObjectOpaque
        kMXNetObjectList
        kMXNetObjectDict
        kMXNetObjectDynamic
        kMXNetParamRequired
        kMXNetParamOptional
        kMXNetParamVariadic
        kMXNetParamFrontEnd
        kMXNetParamKeywordOnly
        kMXNetParamMutated
        kMXNetRoleAttribute
        kMXNetRoleArray
        kMXNetRoleArrays
        kMXNetRoleOut
        kMXNetRoleContext
        kMXNetRoleDType
        kMXNetRoleShape
        kMXNetRoleAxes
        kMXNetFuncOperator
        kMXNetFuncAnywhere
        kMXNetFuncFollowsInput
        kMXNetFuncMethod
        kMXNetMethodStatic
        kMXNetNDArrayReadOnly
        kMXNetNDArrayHasPeer
        kMXNetCreateUninitialized
        kMXNetCreateZeroed

    ctypedef enum DLDeviceType:
        kDLCPU
        kDLCUDA
        kDLCUDAHost
        kDLOpenCL
        kDLVulkan
        kDLMetal
        kDLVPI
        kDLROCM
        kDLROCMHost
        kDLExtDev
        kDLCUDAManaged
        kDLOneAPI
        kDLWebGPU
        kDLHexagon
        kDLMAIA

    ctypedef struct DLPackVersion:
        uint32_t major
        uint32_t minor

    ctypedef struct DLDevice:
        DLDeviceType device_type
        int32_t device_id

    ctypedef struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes

    ctypedef struct DLTensor:
        void* data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset

    ctypedef struct DLManagedTensor:
        DLTensor dl_tensor
        void* manager_ctx
        void (*deleter)(DLManagedTensor*) noexcept

    ctypedef struct DLManagedTensorVersioned:
        DLPackVersion version
        void* manager_ctx
        void (*deleter)(DLManagedTensorVersioned*) noexcept
        uint64_t flags
        DLTensor dl_tensor

    ctypedef struct MXNetByteArray:
        const char* data
        size_t size

    ctypedef struct MXNetIntArray:
        const int64_t* data
        size_t size

    ctypedef struct MXNetAnyArray:
        const MXNetAny* data
        size_t size

    ctypedef struct MXNetEnumMember:
        int64_t value
        uint64_t type_index

    ctypedef union MXNetValue:
        int64_t v_int64
        uint64_t v_uint64
        double v_float64
        double v_complex[2]
        void* v_handle
        DLDataType v_type
        DLDevice v_ctx
        MXNetByteArray v_str
        MXNetIntArray v_ints
        MXNetAnyArray v_seq
        MXNetEnumMember v_enum

    ctypedef struct MXNetAny:
        MXNetValue value
        int32_t type_code
        int32_t reserved

    ctypedef struct MXNetObject:
        int32_t ref_count
        uint32_t type_index
        void (*deleter)(MXNetObject*) noexcept
        void* peer

    ctypedef struct MXNetBytesObject:
        MXNetObject header
        MXNetByteArray bytes

    ctypedef struct MXNetShapeObject:
        MXNetObject header
        MXNetIntArray ints

    ctypedef struct MXNetSeqObject:
        MXNetObject header
        MXNetAnyArray items

    ctypedef struct MXNetMapObject:
        MXNetObject header
        MXNetAnyArray items
        const int64_t* index
        size_t index_capacity
        uint64_t seed

    ctypedef struct MXNetListObject:
        MXNetObject header
        MXNetAnyArray items
        size_t capacity

    ctypedef struct MXNetDictObject:
        MXNetMapObject map
        size_t capacity

    ctypedef struct MXNetOpaqueObject:
        MXNetObject header
        void* value
        void (*finalizer)(void*) noexcept

    ctypedef void* MXNetObjectHandle

    ctypedef struct MXNetErrorFrame:
        const char* file
        const char* function
        int32_t line

    ctypedef struct MXNetErrorInfo:
        size_t struct_size
        const char* kind
        MXNetByteArray message
        const MXNetErrorFrame* frames
        size_t num_frames
        MXNetObjectHandle payload

    ctypedef void* MXNetFunctionHandle

    ctypedef int (*MXNetPackedCFunc)(void*, const MXNetValue*, const int*, int, MXNetValue*, int*) noexcept

    ctypedef void (*MXNetPackedCFuncFinalizer)(void*) noexcept

    ctypedef struct MXNetParamInfo:
        const char* name
        const char* type
        const char* doc
        int32_t flags
        int32_t role
        MXNetAny default_value

    ctypedef struct MXNetFuncInfo:
        size_t struct_size
        int32_t abi_major
        int32_t abi_minor
        const char* name
        const char* doc
        const char* returns
        const char* file
        int32_t line
        int32_t described
        const MXNetParamInfo* params
        size_t num_params
        int64_t release_lock_bytes
        const MXNetFuncInfo* const* overloads
        size_t num_overloads
        uint64_t flags
        const void* op

    ctypedef struct MXNetParamSignature:
        const char* type
        const char* type_name
        int32_t flags
        int32_t role
        int (*takes)(const MXNetAny*) noexcept

    ctypedef int (*MXNetFieldGetter)(void*, MXNetObjectHandle, MXNetAny*) noexcept

    ctypedef int (*MXNetFieldSetter)(void*, MXNetObjectHandle, const MXNetAny*) noexcept

    ctypedef struct MXNetFieldInfo:
        const char* name
        const char* type
        const char* doc
        MXNetFieldGetter getter
        MXNetFieldSetter setter
        void* resource

    ctypedef struct MXNetMethodInfo:
        const char* name
        MXNetFunctionHandle func
        int32_t flags
        int32_t reserved

    ctypedef struct MXNetTypeInfo:
        size_t struct_size
        int32_t abi_major
        int32_t abi_minor
        const char* key
        const char* doc
        uint32_t type_index
        uint32_t base_index
        int64_t value_offset
        int64_t base_offset
        const MXNetFieldInfo* fields
        size_t num_fields
        const MXNetMethodInfo* methods
        size_t num_methods
        size_t value_size

    ctypedef void* MXNetNDArrayHandle

    ctypedef struct MXNetNDArrayObject:
        MXNetObject header
        DLTensor tensor
        uint64_t flags

    ctypedef struct MXNetOwnerFunctions:
        void (*retain)(void*) noexcept
        void (*release)(void*) noexcept

    ctypedef struct MXNetBorrowedTensor:
        DLTensor tensor
        uint64_t flags
        void* peer
        void* owner
        const MXNetOwnerFunctions* owner_functions

    int MXNetObjectRetain(MXNetObjectHandle obj) noexcept

    int MXNetObjectFree(MXNetObjectHandle obj) noexcept

    int MXNetObjectGetTypeIndex(MXNetObjectHandle obj, uint32_t* out_index) noexcept

    int MXNetObjectTypeKey2Index(const char* key, uint32_t* out_index) noexcept

    int MXNetObjectTypeIndex2Key(uint32_t index, const char** out_key) noexcept

    const MXNetErrorInfo* MXNetGetLastError() noexcept

    int MXNetSetLastError(const MXNetErrorInfo* info) noexcept

    int MXNetFuncCompleteParams(const char* function, MXNetParamInfo* params, size_t num_params, const MXNetParamSignature* signature, size_t num_signature) noexcept

    const uint32_t* MXNetCallObservers() noexcept

    int MXNetFuncCall(MXNetFunctionHandle func, const MXNetValue* arg_values, const int* type_codes, int num_args, MXNetValue* ret_val, int* ret_type_code) noexcept

    int MXNetFuncCreateFromCFunc(MXNetPackedCFunc func, void* resource, MXNetPackedCFuncFinalizer finalizer, MXNetFunctionHandle* out) noexcept

    int MXNetFuncFree(MXNetFunctionHandle func) noexcept

    int MXNetFuncFromCallable(MXNetPackedCFunc func, void* callable, MXNetPackedCFuncFinalizer finalizer, MXNetFunctionHandle* out) noexcept

    int MXNetFuncSetInfo(MXNetFunctionHandle func, const MXNetFuncInfo* info) noexcept

    int MXNetFuncGetInfo(MXNetFunctionHandle func, const MXNetFuncInfo** out) noexcept

    int MXNetFuncGetGlobal(const char* name, MXNetFunctionHandle* out) noexcept

    int MXNetFuncRegisterGlobal(const char* name, MXNetFunctionHandle func, int allow_override) noexcept

    int MXNetFuncRemoveGlobal(const char* name) noexcept

    int MXNetFuncListGlobalNames(int* out_size, const char*** out_names) noexcept

    int MXNetFuncRejectArgument(MXNetFunctionHandle func, int index, const char* expected, const MXNetAny* given, int out_of_range) noexcept

    int MXNetFuncRejectCount(MXNetFunctionHandle func, int expected, int at_least, int given) noexcept

    int MXNetObjectRegisterType(const MXNetTypeInfo* info, uint32_t* out_index) noexcept

    int MXNetObjectGetTypeInfo(uint32_t index, const MXNetTypeInfo** out) noexcept

    int MXNetObjectFindType(const char* key, size_t value_size, int64_t value_offset, uint32_t* index) noexcept

    int MXNetNDArrayCreate(const int64_t* shape, int ndim, DLDataType dtype, DLDevice ctx, int options, MXNetNDArrayHandle* out) noexcept

    int MXNetNDArrayView(MXNetNDArrayHandle base, void* data, const int64_t* shape, const int64_t* strides, int ndim, DLDataType dtype, MXNetNDArrayHandle* out) noexcept

    int MXNetNDArrayViewBorrowed(MXNetNDArrayHandle base, void* data, const int64_t* shape, const int64_t* strides, int ndim, DLDataType dtype, MXNetNDArrayHandle* out) noexcept

    int MXNetNDArrayKeepBase(MXNetNDArrayHandle view) noexcept

    int MXNetNDArrayFromDLPack(DLManagedTensorVersioned* tensor, MXNetNDArrayHandle* out) noexcept

    int MXNetNDArrayFromDLPackLegacy(DLManagedTensor* tensor, MXNetNDArrayHandle* out) noexcept

    int MXNetNDArrayFromBorrowed(const MXNetBorrowedTensor* borrowed, MXNetNDArrayHandle* out) noexcept

    int MXNetNDArrayToDLPack(MXNetNDArrayHandle array, DLManagedTensorVersioned** out) noexcept

    int MXNetNDArrayToDLPackLegacy(MXNetNDArrayHandle array, DLManagedTensor** out) noexcept

    int MXNetLibraryInit() noexcept

    int MXNetGetVersion(int* out_abi_major, int* out_abi_minor, const char** out_release) noexcept
