/*
 * The library of an accelerator with one device, whose memory is the host's, and one operator.
 * mxnet_acc.h has the contract of each member of the table; those that are NULL are not done here.
 */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <mxnet_acc.h>
#include <stdlib.h>
#include <string.h>

static const char kName[] = "plainacc";

static const MXAccError kUnsupported = {sizeof(MXAccError), kMXAccUnsupported,
                                        "only negative of dense float32 is done here", 0, 0};
static const MXAccError kNoMemory = {sizeof(MXAccError), kMXAccOutOfMemory, "malloc has no more", 0,
                                     0};
static const MXAccError kLongName = {sizeof(MXAccError), kMXAccBadArgument, "no room for it", 0, 0};

static MXAccStatus GetAccName(void* self, char* name, size_t size) {
  (void)self;
  if (size < sizeof(kName)) return &kLongName;
  memcpy(name, kName, sizeof(kName));
  return NULL;
}

static MXAccStatus GetNumAcc(void* self, int32_t* count) {
  (void)self;
  *count = 1;
  return NULL;
}

static MXAccStatus Alloc(void* self, int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                         void** out) {
  (void)self, (void)dev_id, (void)memory;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  return posix_memalign(out, alignment, size) == 0 ? NULL : &kNoMemory;
}

static void Free(void* self, int32_t dev_id, void* data) {
  (void)self, (void)dev_id;
  free(data);
}

static void* FirstElement(const MXTensor* tensor) {
  return (char*)tensor->tensor.data + tensor->tensor.byte_offset;
}

static size_t NumElements(const MXTensor* tensor) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor->tensor.ndim; ++i) count *= (size_t)tensor->tensor.shape[i];
  return count;
}

static MXAccStatus Copy(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                        int32_t count, MXAccStream stream) {
  (void)self, (void)dev_id, (void)stream;
  for (int32_t i = 0; i < count; ++i) {
    const size_t bytes = NumElements(&sources[i]) * (sources[i].tensor.dtype.bits / 8u);
    if (bytes != 0) memcpy(FirstElement(&targets[i]), FirstElement(&sources[i]), bytes);
  }
  return NULL;
}

static MXAccStatus RunNegative(void* state, const MXTensor* inputs, int32_t num_in,
                               MXTensor* outputs, int32_t num_out, const MXTensor* workspace,
                               MXAccStream stream) {
  const float* x = FirstElement(&inputs[0]);
  float* out = FirstElement(&outputs[0]);
  (void)state, (void)num_in, (void)num_out, (void)workspace, (void)stream;
  for (size_t i = 0, n = NumElements(&outputs[0]); i < n; ++i) out[i] = -x[i];
  return NULL;
}

static MXAccStatus SupportsImperative(void* self, int32_t* yes) {
  (void)self;
  *yes = 1;
  return NULL;
}

/* Without kMXAccStrides among the flags of the device MXNet passes dense tensors only. */
static MXAccStatus GetExecutor(void* self, const MXAccOperator* op, MXAccExecutor* out) {
  (void)self;
  if (strcmp(op->name, "negative") != 0 || op->num_in != 1 || op->num_out != 1) {
    return &kUnsupported;
  }
  const MXAccDLTensor* x = &op->inputs[0].tensor;
  if (op->inputs[0].storage != kMXAccDense || x->dtype.code != kMXAccFloat || x->dtype.bits != 32 ||
      x->dtype.lanes != 1) {
    return &kUnsupported;
  }
  out->run = RunNegative;
  out->flags = kMXAccConcurrent | kMXAccInPlace;
  return NULL;
}

static const MXAccApi kTable = {
    .struct_size = sizeof(MXAccApi),
    .abi_major = MXACC_ABI_MAJOR,
    .abi_minor = MXACC_ABI_MINOR,
    .release = "1.0",
    .getAccName = GetAccName,
    .getNumAcc = GetNumAcc,
    .mx_alloc = Alloc,
    .mx_free = Free,
    .copyToAcc = Copy,
    .copyFromAcc = Copy,
    .copyWithinAcc = Copy,
    .supportsImperative = SupportsImperative,
    .accGetExecutor = GetExecutor,
};

__attribute__((visibility("default"))) MXAccStatus mxacc_get_api(const MXAccRuntime* runtime,
                                                                 MXAccApi* api) {
  const size_t size = api->struct_size < sizeof(kTable) ? api->struct_size : sizeof(kTable);
  (void)runtime;
  memcpy(api, &kTable, size);
  api->struct_size = size;
  return NULL;
}
