/*
 * The smallest accelerator library for whole graphs: it runs chains of Relu on float32, as one
 * model.
 *
 * It has no memory of its own, so that MXNet passes tensors of the host. MXAccGraph::onnx has the
 * same graph as json for those who read that; a real library parses one of them. This one counts
 * the nodes that are "Relu", which is all that it needs to know: a chain of them is one of them.
 */
#include <mxnet_acc.h>
#include <stdlib.h>
#include <string.h>

static const char kName[] = "mymodel";

static const MXAccError kUnsupported = {sizeof(MXAccError), kMXAccUnsupported,
                                        "only graphs of Relu with one input are done here", 0, 0};
static const MXAccError kNewer = {sizeof(MXAccError), kMXAccUnsupported,
                                  "a version of graphs that is not known here", 0, 0};
static const MXAccError kNoOptions = {sizeof(MXAccError), kMXAccBadArgument,
                                      "models take no options here", 0, 0};
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

/* The next "operator": "..." of the JSON behind at, or NULL; is_relu says whether it is Relu. */
static const char* NextOperator(const char* at, int* is_relu) {
  static const char kKey[] = "\"operator\"";
  at = strstr(at, kKey);
  if (at == NULL) return NULL;
  at += sizeof(kKey) - 1;
  at += strspn(at, " :");
  *is_relu = strncmp(at, "\"Relu\"", 6) == 0;
  return at;
}

static int IsFloat32(const MXTensor* tensor) {
  return tensor->tensor.dtype.code == kMXAccFloat && tensor->tensor.dtype.bits == 32;
}

/* Of each node: runs here, or why not. The answers are in the order of the JSON's nodes. */
static MXAccStatus SupportedOps(void* self, int32_t dev_id, const MXAccGraph* graph,
                                MXAccNodeSupport* nodes) {
  const char* at = graph->json;
  (void)self, (void)dev_id;
  if (graph->version > MXACC_GRAPH_VERSION) return &kNewer;
  for (int32_t i = 0; i < graph->num_nodes; ++i) {
    int is_relu = 0;
    at = at == NULL ? NULL : NextOperator(at, &is_relu);
    nodes[i].id = is_relu ? kMXAccNodeAnyGroup : kMXAccNodeUnsupported;
    if (is_relu) continue;
    nodes[i].why = kMXAccWhyOperator;
    nodes[i].reason = "only Relu is done here";
  }
  return NULL;
}

/* A compiled model: what its input and output are like, with the shape that they share. */
typedef struct Model {
  MXTensor tensor;
  int64_t shape[MXACC_MAX_DIMS];
  int64_t strides[MXACC_MAX_DIMS];
} Model;

static void* FirstElement(const MXTensor* tensor) {
  return (char*)tensor->tensor.data + tensor->tensor.byte_offset;
}

static MXAccStatus Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                         int32_t num_out, const MXTensor* workspace, MXAccStream stream,
                         void* call) {
  const float* x = FirstElement(&inputs[0]);
  float* out = FirstElement(&outputs[0]);
  size_t count = 1;
  (void)state, (void)num_in, (void)num_out, (void)workspace, (void)stream, (void)call;
  for (int32_t i = 0; i < inputs[0].tensor.ndim; ++i) count *= (size_t)inputs[0].tensor.shape[i];
  for (size_t i = 0; i < count; ++i) out[i] = x[i] < 0 ? 0 : x[i]; /* NaN stays NaN */
  return NULL;
}

static MXAccStatus LoadModel(void* self, int32_t dev_id, const MXAccGraph* graph,
                             const MXAccAttribute* options, int32_t num_options, void* call,
                             MXAccModel* out) {
  Model* model;
  const char* at = graph->json;
  (void)self, (void)dev_id, (void)options, (void)call;
  if (graph->version > MXACC_GRAPH_VERSION) return &kNewer;
  if (num_options != 0) return &kNoOptions; /* those that listOptions lacks, which is all of them */
  for (int32_t i = 0; i < graph->num_nodes; ++i) {
    int is_relu = 0;
    at = at == NULL ? NULL : NextOperator(at, &is_relu);
    if (!is_relu) return &kUnsupported;
  }
  if (graph->num_inputs != 1 || graph->num_data != 1 || graph->num_outputs != 1 ||
      !IsFloat32(&graph->data[0])) {
    return &kUnsupported;
  }
  for (int32_t i = 0; i < graph->data[0].tensor.ndim; ++i) {
    if (graph->data[0].tensor.shape[i] < 0) return &kUnsupported; /* known when it is run */
  }
  model = calloc(1, sizeof(*model));
  if (model == NULL) return &kNoMemory;
  /* What graph has is gone when this returns. */
  model->tensor = graph->data[0];
  memcpy(model->shape, model->tensor.tensor.shape, (size_t)model->tensor.tensor.ndim * 8);
  memcpy(model->strides, model->tensor.tensor.strides, (size_t)model->tensor.tensor.ndim * 8);
  model->tensor.tensor.shape = model->shape;
  model->tensor.tensor.strides = model->strides;
  model->tensor.name = NULL;
  model->tensor.info = NULL;
  out->flags = kMXAccModelConcurrent | kMXAccModelKeepsWeights;
  out->num_in = 1;
  out->num_out = 1;
  out->state = model;
  out->inputs = &model->tensor;
  out->outputs = &model->tensor;
  out->infer = Infer;
  out->unloadModel = free;
  return NULL;
}

static const MXAccApi kTable = {
    .struct_size = sizeof(MXAccApi),
    .abi_major = MXACC_ABI_MAJOR,
    .abi_minor = MXACC_ABI_MINOR,
    .release = "0.1",
    .getAccName = GetAccName,
    .getNumAcc = GetNumAcc,
    .supportedOps = SupportedOps,
    .loadModel = LoadModel,
};

MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {
  const size_t size = api->struct_size < sizeof(kTable) ? api->struct_size : sizeof(kTable);
  (void)runtime; /* what the library may ask of MXNet; keep the pointer to use it later */
  memcpy(api, &kTable, size);
  api->struct_size = size;
  return NULL;
}
