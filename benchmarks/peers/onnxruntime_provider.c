/*
 * An execution provider for ONNX Runtime, loaded as a plugin, that does as little as one can: it
 * takes every node as a subgraph of its own, adds the elements of two 2 x 2 inputs of float32, and
 * uses the memory of the host. What a run through it takes beyond a run on the built-in provider
 * is the cost of the interface.
 *
 * ONNX Runtime's headers are in no package of PyPI or Debian, so what is used of its interface is
 * declared here, as of its version 23: tables of functions only ever grow at their ends.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kVersion = 23, kMaxNodes = 64, kElements = 4, kProcessor = 0 };
static const int64_t kShape[] = {2, 2};

/* NULL for success. All objects of ONNX Runtime's are handles here. */
typedef void* Status;
typedef void (*Function)(void);

/* ---- ONNX Runtime's functions, by their indices in its tables ---- */

typedef struct {
  const Function* (*get_api)(uint32_t version);
  const char* (*get_version)(void);
} ApiBase;

enum {
  kCreateStatus = 0,
  kGetTensorMutableData = 51,
  kKernelContextGetInput = 90,
  kKernelContextGetOutput = 91,
  kHardwareDeviceType = 307,
  kGetEpApi = 317,
  kGraphGetNumNodes = 344,
  kGraphGetNodes = 345
};
/* In the table that GetEpApi gives. */
enum { kCreateEpDevice = 0, kAddNodesToFuse = 2 };

typedef Status (*CreateStatus)(int code, const char* message);
typedef Status (*GetData)(const void* value, void** data);
typedef Status (*GetInput)(const void* context, size_t index, const void** value);
typedef Status (*GetOutput)(void* context, size_t index, const int64_t* shape, size_t ndim,
                            void** value);
typedef int (*GetDeviceType)(const void* device);
typedef const Function* (*GetEpApi)(void);
typedef Status (*GetNumNodes)(const void* graph, size_t* count);
typedef Status (*GetNodes)(const void* graph, const void** nodes, size_t count);
typedef Status (*CreateEpDevice)(void* factory, const void* device, const void* metadata,
                                 const void* options, void** out);
typedef Status (*AddNodesToFuse)(void* support, const void* const* nodes, size_t count,
                                 const void* options);

static const Function* api;
static const Function* ep_api;
static GetInput get_input;
static GetOutput get_output;
static GetData get_data;

/* ---- the compiled node ---- */

typedef struct {
  uint32_t version;
  Status (*create_state)(void* self, void* context, void** state);
  Status (*compute)(void* self, void* state, void* context);
  void (*release_state)(void* self, void* state);
} NodeCompute;

static Status CreateState(void* self, void* context, void** state) {
  (void)self, (void)context;
  *state = NULL;
  return NULL;
}

static Status Compute(void* self, void* state, void* context) {
  const void* values[2];
  void* output;
  void* data[3];
  Status status;
  (void)self, (void)state;
  for (size_t i = 0; i < 2; ++i) {
    if ((status = get_input(context, i, &values[i])) != NULL) return status;
    if ((status = get_data(values[i], &data[i])) != NULL) return status;
  }
  if ((status = get_output(context, 0, kShape, 2, &output)) != NULL) return status;
  if ((status = get_data(output, &data[2])) != NULL) return status;
  for (size_t i = 0; i < kElements; ++i) {
    ((float*)data[2])[i] = ((const float*)data[0])[i] + ((const float*)data[1])[i];
  }
  return NULL;
}

static void ReleaseState(void* self, void* state) { (void)self, (void)state; }

static NodeCompute node_compute = {kVersion, CreateState, Compute, ReleaseState};

/* ---- the provider; the functions that it does without are NULL ---- */

typedef struct {
  uint32_t version;
  const char* (*get_name)(const void* self);
  Status (*get_capability)(void* self, const void* graph, void* support);
  Status (*compile)(void* self, const void** graphs, const void** fused, size_t count,
                    NodeCompute** out, void** context_nodes);
  void (*release)(void* self, NodeCompute** infos, size_t count);
  Function layout, convert, set_options, on_run_start, on_run_end, create_allocator, create_stream,
      compatibility;
} Provider;

static const char* GetName(const void* self) {
  (void)self;
  return "MinimalProvider";
}

static Status GetCapability(void* self, const void* graph, void* support) {
  const void* nodes[kMaxNodes];
  size_t count;
  Status status = ((GetNumNodes)api[kGraphGetNumNodes])(graph, &count);
  (void)self;
  if (status != NULL || count > kMaxNodes) return status;
  status = ((GetNodes)api[kGraphGetNodes])(graph, nodes, count);
  for (size_t i = 0; i < count && status == NULL; ++i) {
    status = ((AddNodesToFuse)ep_api[kAddNodesToFuse])(support, &nodes[i], 1, NULL);
  }
  return status;
}

static Status Compile(void* self, const void** graphs, const void** fused, size_t count,
                      NodeCompute** out, void** context_nodes) {
  (void)self, (void)graphs, (void)fused, (void)context_nodes;
  for (size_t i = 0; i < count; ++i) out[i] = &node_compute;
  return NULL;
}

static void Release(void* self, NodeCompute** infos, size_t count) {
  (void)self, (void)infos, (void)count;
}

static Provider provider = {.version = kVersion,
                            .get_name = GetName,
                            .get_capability = GetCapability,
                            .compile = Compile,
                            .release = Release};

/* ---- what makes providers ---- */

typedef struct {
  uint32_t version;
  const char* (*get_name)(const void* self);
  const char* (*get_vendor)(const void* self);
  Status (*get_devices)(void* self, const void* const* devices, size_t count, void** out,
                        size_t room, size_t* found);
  Status (*create)(void* self, const void* const* devices, const void* const* metadata,
                   size_t count, const void* options, const void* logger, Provider** out);
  void (*release)(void* self, Provider* made);
  uint32_t (*get_vendor_id)(const void* self);
  const char* (*get_version)(const void* self);
  Function validate, create_allocator, release_allocator;
  Status (*create_data_transfer)(void* self, void** out);
  bool (*is_stream_aware)(const void* self);
  Function create_stream;
} Factory;

static const char* GetVendor(const void* self) {
  (void)self;
  return "benchmarks";
}

static Status GetDevices(void* self, const void* const* devices, size_t count, void** out,
                         size_t room, size_t* found) {
  Status status = NULL;
  *found = 0;
  for (size_t i = 0; i < count && *found < room && status == NULL; ++i) {
    if (((GetDeviceType)api[kHardwareDeviceType])(devices[i]) != kProcessor) continue;
    status = ((CreateEpDevice)ep_api[kCreateEpDevice])(self, devices[i], NULL, NULL, &out[*found]);
    if (status == NULL) ++*found;
  }
  return status;
}

static Status Create(void* self, const void* const* devices, const void* const* metadata,
                     size_t count, const void* options, const void* logger, Provider** out) {
  (void)self, (void)devices, (void)metadata, (void)count, (void)options, (void)logger;
  *out = &provider;
  return NULL;
}

static void ReleaseProvider(void* self, Provider* made) { (void)self, (void)made; }

static uint32_t GetVendorId(const void* self) {
  (void)self;
  return 0;
}

static const char* GetVersion(const void* self) {
  (void)self;
  return "1.0.0";
}

static Status CreateDataTransfer(void* self, void** out) {
  (void)self;
  *out = NULL;
  return NULL;
}

static bool IsStreamAware(const void* self) {
  (void)self;
  return false;
}

static Factory factory = {.version = kVersion,
                          .get_name = GetName,
                          .get_vendor = GetVendor,
                          .get_devices = GetDevices,
                          .create = Create,
                          .release = ReleaseProvider,
                          .get_vendor_id = GetVendorId,
                          .get_version = GetVersion,
                          .create_data_transfer = CreateDataTransfer,
                          .is_stream_aware = IsStreamAware};

#define EXPORT __attribute__((visibility("default")))
EXPORT Status CreateEpFactories(const char* name, const ApiBase* base, const void* logger,
                                Factory** factories, size_t room, size_t* count);
EXPORT Status ReleaseEpFactory(Factory* made);

Status CreateEpFactories(const char* name, const ApiBase* base, const void* logger,
                         Factory** factories, size_t room, size_t* count) {
  (void)name, (void)logger;
  *count = 0;
  api = base->get_api(kVersion);
  if (api == NULL) {
    const Function* first = base->get_api(1);
    const int failed = 1;
    return ((CreateStatus)first[kCreateStatus])(failed, "this release has no version 23");
  }
  ep_api = ((GetEpApi)api[kGetEpApi])();
  get_input = (GetInput)api[kKernelContextGetInput];
  get_output = (GetOutput)api[kKernelContextGetOutput];
  get_data = (GetData)api[kGetTensorMutableData];
  if (room == 0) return NULL;
  factories[0] = &factory;
  *count = 1;
  return NULL;
}

Status ReleaseEpFactory(Factory* made) {
  (void)made;
  return NULL;
}
