/* A library of operators in plain C: counts the values of an array in bins of equal width. */
#include <mxnet/runtime/c_runtime_api.h>
#include <string.h>

static int Fail(const char* kind, const char* message) {
  MXNetErrorInfo error;
  memset(&error, 0, sizeof(error));
  error.struct_size = sizeof(error);
  error.kind = kind;
  error.message.data = message;
  error.message.size = strlen(message);
  return MXNetSetLastError(&error);
}

static int IsContiguousFloat64(const DLTensor* x) {
  int64_t expected = 1;
  if (x->dtype.code != kDLFloat || x->dtype.bits != 64 || x->dtype.lanes != 1) return 0;
  for (int i = x->ndim - 1; i >= 0 && x->strides != NULL; --i) {
    if (x->shape[i] != 1 && x->strides[i] != expected) return 0;
    expected *= x->shape[i];
  }
  return 1;
}

/* histogram.count(x, low, high, bins): the runtime has filled defaults in and checked the count. */
static int Count(void* resource, const MXNetValue* args, const int* type_codes, int num_args,
                 MXNetValue* ret, int* ret_type_code) {
  (void)resource, (void)num_args;
  const int is_borrowed = type_codes[0] == kMXNetBorrowedArray ||
                          type_codes[0] == kMXNetArrayHandle ||
                          type_codes[0] == kMXNetReadOnlyArray;
  if (!is_borrowed && type_codes[0] != kMXNetNDArrayHandle) {
    return Fail("TypeError", "histogram.count: argument 0 ('x') expected an array");
  }
  const DLTensor* x = is_borrowed ? (const DLTensor*)args[0].v_handle
                                  : &((const MXNetNDArrayObject*)args[0].v_handle)->tensor;
  if (!IsContiguousFloat64(x)) {
    return Fail("TypeError", "histogram.count: argument 0 ('x') expected contiguous float64");
  }
  double bounds[2];
  for (int i = 0; i < 2; ++i) {
    if (type_codes[1 + i] == kMXNetFloat) {
      bounds[i] = args[1 + i].v_float64;
    } else if (type_codes[1 + i] == kMXNetInt) {
      bounds[i] = (double)args[1 + i].v_int64;
    } else {
      return Fail("TypeError", "histogram.count: 'low' and 'high' expected float");
    }
  }
  if (type_codes[3] != kMXNetInt || args[3].v_int64 < 1 || !(bounds[0] < bounds[1])) {
    return Fail("ValueError", "histogram.count: 'bins' must be positive, 'low' below 'high'");
  }

  const int64_t bins = args[3].v_int64;
  const DLDataType int64 = {kDLInt, 64, 1};
  const DLDevice cpu = {kDLCPU, 0};
  MXNetNDArrayHandle result;
  if (MXNetNDArrayCreate(&bins, 1, int64, cpu, kMXNetCreateZeroed, &result) != 0) return -1;
  int64_t* counts = (int64_t*)((MXNetNDArrayObject*)result)->tensor.data;
  const double* values = (const double*)((const char*)x->data + x->byte_offset);
  int64_t size = 1;
  for (int i = 0; i < x->ndim; ++i) size *= x->shape[i];
  for (int64_t i = 0; i < size; ++i) {
    if (values[i] < bounds[0] || !(values[i] < bounds[1])) continue;
    ++counts[(int64_t)((values[i] - bounds[0]) / (bounds[1] - bounds[0]) * (double)bins)];
  }
  ret->v_handle = result; /* the reference passes to the caller */
  *ret_type_code = kMXNetNDArrayHandle;
  return 0;
}

static MXNetParamInfo Param(const char* name, const char* type, const char* doc) {
  MXNetParamInfo param;
  memset(&param, 0, sizeof(param));
  param.name = name;
  param.type = type;
  param.doc = doc;
  param.default_value.type_code = kMXNetNull;
  return param;
}

/* Called by ffi.load_library. */
int MXNetLibraryInit(void) {
  MXNetParamInfo params[] = {
      Param("x", "ArrayLike", "Values, contiguous float64 of any shape."),
      Param("low", "float", "Where the first bin begins; what is below is not counted."),
      Param("high", "float", "Where the last bin ends; what is there or above is not counted."),
      Param("bins", "int", "How many bins."),
  };
  params[3].flags = kMXNetParamOptional;
  params[3].default_value.type_code = kMXNetInt;
  params[3].default_value.value.v_int64 = 10;

  MXNetFuncInfo info;
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
  info.abi_minor = MXNET_RUNTIME_ABI_MINOR;
  info.name = "histogram.count";
  info.doc = "How many values of an array fall into each of some bins of equal width.";
  info.returns = "NDArray";
  info.file = __FILE__;
  info.line = __LINE__;
  info.described = 1;
  info.params = params;
  info.num_params = sizeof(params) / sizeof(params[0]);
  info.release_lock_bytes = 1 << 16;

  MXNetFunctionHandle count;
  if (MXNetFuncCreateFromCFunc(&Count, NULL, NULL, &count) != 0) return -1;
  int status = MXNetFuncSetInfo(count, &info);
  if (status == 0) status = MXNetFuncRegisterGlobal(info.name, count, 0);
  MXNetFuncFree(count);
  return status;
}
