/*
 * The smallest accelerator library: one device whose memory is the host's, two operators.
 *
 * What to change first: kName, then the memory and the copies, then GetExecutor. A member of kTable
 * that is not set is NULL and says "not done here"; mxnet_acc.h has the contract of each.
 */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <mxnet_acc.h>
#include <stdlib.h>
#include <string.h>

static const char kName[] = "myacc";

/* Errors: constants here; with texts made up at run time there would be one for each thread. */
static const MXAccError kUnsupported = {sizeof(MXAccError), kMXAccUnsupported,
                                        "only add and negative of dense float32 are done here", 0,
                                        0};
static const MXAccError kNoMemory = {sizeof(MXAccError), kMXAccOutOfMemory, "malloc has no more", 0,
                                     0};
static const MXAccError kLongName = {sizeof(MXAccError), kMXAccBadArgument, "no room for it", 0, 0};

/* ---- the library, its device, memory ---- */

static MXAccStatus GetAccName(void* self, char* name, size_t size) {
  (void)self; /* of the table, which is NULL here */
  if (size < sizeof(kName)) return &kLongName;
  memcpy(name, kName, sizeof(kName));
  return NULL;
}

static MXAccStatus GetNumAcc(void* self, int32_t* count) {
  (void)self;
  *count = 1;
  return NULL;
}

static MXAccStatus GetDeviceInfo(void* self, int32_t dev_id, MXAccDeviceInfo* info) {
  const MXAccDeviceInfo mine = {
      .struct_size = info->struct_size, .flags = kMXAccHostVisible, .name = "memory of the host"};
  (void)self, (void)dev_id; /* below what getNumAcc says, here and everywhere */
  memcpy(info, &mine, info->struct_size < sizeof(mine) ? info->struct_size : sizeof(mine));
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

/* One function for all directions, as both sides are addresses here. Without kMXAccStrides among
 * the device's flags MXNet passes dense tensors only; without streams, stream is NULL. */
static MXAccStatus Copy(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                        int32_t count, MXAccStream stream) {
  (void)self, (void)dev_id, (void)stream;
  for (int32_t i = 0; i < count; ++i) {
    const size_t bytes = NumElements(&sources[i]) * (sources[i].tensor.dtype.bits / 8u);
    if (bytes != 0) memcpy(FirstElement(&targets[i]), FirstElement(&sources[i]), bytes);
  }
  return NULL;
}

/* ---- operators ---- */

static MXAccStatus RunAdd(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                          int32_t num_out, const MXTensor* workspace, MXAccStream stream) {
  const float* a = FirstElement(&inputs[0]);
  const float* b = FirstElement(&inputs[1]);
  float* out = FirstElement(&outputs[0]);
  (void)state, (void)num_in, (void)num_out, (void)workspace, (void)stream;
  for (size_t i = 0, n = NumElements(&outputs[0]); i < n; ++i) out[i] = a[i] + b[i];
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

/* Whether x is dense float32 of the shape of like. */
static int IsSimple(const MXTensor* x, const MXTensor* like) {
  const MXAccDLTensor* t = &x->tensor;
  int64_t step = 1;
  if (t->dtype.code != kMXAccFloat || t->dtype.bits != 32 || t->dtype.lanes != 1) return 0;
  if (x->storage != kMXAccDense || t->ndim != like->tensor.ndim) return 0;
  for (int32_t i = t->ndim - 1; i >= 0; --i) {
    if (t->shape[i] != like->tensor.shape[i]) return 0;
    if (t->shape[i] != 1 && t->strides[i] != step) return 0;
    step *= t->shape[i];
  }
  return 1;
}

static MXAccStatus SupportsImperative(void* self, int32_t* yes) {
  (void)self;
  *yes = 1;
  return NULL;
}

static MXAccStatus GetExecutor(void* self, const MXAccOperator* op, MXAccExecutor* out) {
  (void)self;
  if (op->num_out != 1 || !IsSimple(&op->outputs[0], &op->outputs[0])) return &kUnsupported;
  for (int32_t i = 0; i < op->num_in; ++i) {
    if (!IsSimple(&op->inputs[i], &op->outputs[0])) return &kUnsupported;
  }
  if (strcmp(op->name, "add") == 0 && op->num_in == 2) out->run = RunAdd;
  if (strcmp(op->name, "negative") == 0 && op->num_in == 1) out->run = RunNegative;
  if (out->run == NULL) return &kUnsupported;
  out->flags = kMXAccConcurrent | kMXAccInPlace;
  return NULL;
}

static const MXAccApi kTable = {
    .struct_size = sizeof(MXAccApi),
    .abi_major = MXACC_ABI_MAJOR,
    .abi_minor = MXACC_ABI_MINOR,
    .release = "0.1",
    .getAccName = GetAccName,
    .getNumAcc = GetNumAcc,
    .getDeviceInfo = GetDeviceInfo,
    .mx_alloc = Alloc,
    .mx_free = Free,
    .copyToAcc = Copy,
    .copyFromAcc = Copy,
    .copyWithinAcc = Copy,
    .supportsImperative = SupportsImperative,
    .accGetExecutor = GetExecutor,
};

MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {
  const size_t size = api->struct_size < sizeof(kTable) ? api->struct_size : sizeof(kTable);
  (void)runtime; /* what the library may ask of MXNet; keep the pointer to use it later */
  memcpy(api, &kTable, size);
  api->struct_size = size;
  return NULL;
}
