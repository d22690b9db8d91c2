/*
 * A library that executes graphs of float32 with any branches, and the fault that MXACC_PLANTED
 * names: what mxacc-check has to find. Values are in slots, which others take when nobody reads
 * them any more.
 */
#define mxacc_get_api template_get_api
#define SupportedOps TemplateSupportedOps
#define LoadModel TemplateLoadModel
#define Infer TemplateInfer
#include "../../../accelerators/template/mymodel.c"
#undef mxacc_get_api
#undef SupportedOps
#undef LoadModel
#undef Infer

enum { kMost = 64 };

static const MXAccError kBadGraph = {sizeof(MXAccError), kMXAccUnsupported,
                                     "only small graphs of float32 are done here", 0, 0};

static int Has(const char* fault) {
  const char* planted = getenv("MXACC_PLANTED");
  return planted != NULL && strcmp(planted, fault) == 0;
}

static const char* const kOperators[] = {"\"Relu\"", "\"Neg\"", "\"Add\"", "\"Sub\"", "\"Mul\""};

static int OperatorOf(const char* at) {
  for (int kind = 0; kind < 5; ++kind) {
    if (strncmp(at, kOperators[kind], strlen(kOperators[kind])) == 0) return kind;
  }
  return -1;
}

/* What is behind the next of a key, or NULL. */
static const char* Behind(const char* at, const char* key) {
  at = at == NULL ? NULL : strstr(at, key);
  if (at == NULL) return NULL;
  at += strlen(key);
  return at + strspn(at, " :");
}

/* The numbers of the list behind the next of a key; how many, or -1. */
static int Numbers(const char** at, const char* key, int* numbers) {
  int count = 0;
  const char* text = Behind(*at, key);
  if (text == NULL || *text != '[') return -1;
  ++text;
  while (*text != ']' && count < kMost) {
    char* end;
    numbers[count++] = (int)strtol(text, &end, 10);
    text = end + strspn(end, ", ");
  }
  *at = text;
  return count;
}

static MXAccStatus SupportedOps(void* self, int32_t dev_id, const MXAccGraph* graph,
                                MXAccNodeSupport* nodes) {
  const char* at = graph->json;
  (void)self, (void)dev_id;
  if (graph->version > MXACC_GRAPH_VERSION) return &kNewer;
  for (int32_t i = 0; i < graph->num_nodes; ++i) {
    at = Behind(at, "\"operator\"");
    nodes[i].id = at != NULL && OperatorOf(at) >= 0 ? kMXAccNodeAnyGroup : kMXAccNodeUnsupported;
    if (nodes[i].id < 0) nodes[i].why = kMXAccWhyOperator;
  }
  return NULL;
}

typedef struct Step {
  int kind, num_in, in[2], out;
} Step;

typedef struct Net {
  int num_in, num_data, num_steps, num_out, num_values, num_slots;
  int outputs[kMost], slots[kMost];
  Step steps[kMost];
  size_t count;
  float* weights;
  char names[kMost][32]; /* of the weights */
  MXTensor tensors[kMost];
  int64_t shape[MXACC_MAX_DIMS], strides[MXACC_MAX_DIMS];
} Net;

static void Unload(void* state) {
  free(((Net*)state)->weights);
  free(state);
}

/* Gives each value that a step makes a slot: one that no later step reads, where there is one. */
static void GiveSlots(Net* net) {
  int last[kMost], owner[kMost];
  const int early = Has("slots are free after the first use");
  for (int value = 0; value < net->num_values; ++value) last[value] = -1;
  for (int i = 0; i < net->num_steps; ++i) {
    for (int j = 0; j < net->steps[i].num_in; ++j) {
      int* of = &last[net->steps[i].in[j]];
      if (!early || *of < 0) *of = i;
    }
  }
  for (int i = 0; i < net->num_out && !early; ++i) last[net->outputs[i]] = net->num_steps;
  for (int i = 0; i < net->num_steps; ++i) {
    const int out = net->steps[i].out;
    int slot = 0;
    if (last[out] < 0) last[out] = net->num_steps;
    while (slot < net->num_slots && last[owner[slot]] >= i) ++slot;
    if (slot == net->num_slots) ++net->num_slots;
    owner[slot] = out;
    net->slots[out] = slot;
  }
}

static void RunStep(const Step* step, const float* x, const float* y, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    switch (step->kind) {
      case 0:
        out[i] = x[i] < 0 ? 0 : x[i];
        break;
      case 1:
        out[i] = -x[i];
        break;
      case 2:
        out[i] = x[i] + y[i];
        break;
      case 3:
        out[i] = x[i] - y[i];
        break;
      default:
        out[i] = x[i] * y[i];
    }
  }
}

static MXAccStatus Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                         int32_t num_out, const MXTensor* workspace, MXAccStream stream,
                         void* call) {
  const Net* net = state;
  float* values[kMost];
  float* slots = malloc(net->count * sizeof(float) * (size_t)net->num_slots);
  (void)workspace, (void)stream, (void)call;
  if (slots == NULL) return &kNoMemory;
  for (int i = 0; i < num_in; ++i) values[i] = FirstElement(&inputs[i]);
  for (int i = net->num_in; i < net->num_data; ++i) {
    values[i] = net->weights + (size_t)(i - net->num_in) * net->count;
  }
  for (int i = 0; i < net->num_steps; ++i) {
    const Step* step = &net->steps[i];
    values[step->out] = slots + (size_t)net->slots[step->out] * net->count;
    RunStep(step, values[step->in[0]], values[step->in[step->num_in - 1]], values[step->out],
            net->count);
  }
  for (int i = 0; i < num_out; ++i) {
    const int from = Has("outputs in the reverse order") ? num_out - 1 - i : i;
    memcpy(FirstElement(&outputs[i]), values[net->outputs[from]], net->count * sizeof(float));
  }
  free(slots);
  return NULL;
}

static MXAccStatus Parse(Net* net, const char* json) {
  const char* at = json;
  net->num_out = Numbers(&at, "\"outputs\"", net->outputs);
  at = Behind(json, "\"nodes\"");
  for (int i = 0; i < net->num_steps; ++i) {
    Step* step = &net->steps[i];
    int in[kMost], out[kMost];
    at = Behind(at, "\"operator\"");
    if (at == NULL || (step->kind = OperatorOf(at)) < 0) return &kBadGraph;
    step->num_in = Numbers(&at, "\"inputs\"", in);
    if (step->num_in != (step->kind < 2 ? 1 : 2)) return &kBadGraph;
    if (Numbers(&at, "\"outputs\"", out) != 1) return &kBadGraph;
    memcpy(step->in, in, sizeof(int) * (size_t)step->num_in);
    step->out = out[0];
    if (out[0] != net->num_data + i) return &kBadGraph; /* in the order of mxacc-check */
  }
  return net->num_out < 1 ? &kBadGraph : NULL;
}

static MXAccStatus Fill(Net* net, const MXAccGraph* graph) {
  const MXTensor* first = &graph->data[0];
  if (graph->num_data + graph->num_nodes > kMost || graph->num_inputs < 1) return &kBadGraph;
  if (!IsFloat32(first) || first->tensor.ndim > MXACC_MAX_DIMS) return &kBadGraph;
  net->num_in = graph->num_inputs;
  net->num_data = graph->num_data;
  net->num_steps = graph->num_nodes;
  net->num_values = net->num_data + net->num_steps;
  net->count = 1;
  for (int i = 0; i < first->tensor.ndim; ++i) {
    if (first->tensor.shape[i] < 0) return &kBadGraph;
    net->count *= (size_t)first->tensor.shape[i];
    net->shape[i] = first->tensor.shape[i];
    net->strides[i] = first->tensor.strides[i];
  }
  for (int i = 0; i < kMost; ++i) {
    net->tensors[i] = *first;
    net->tensors[i].tensor.shape = net->shape;
    net->tensors[i].tensor.strides = net->strides;
    net->tensors[i].name = NULL;
    net->tensors[i].info = NULL;
  }
  net->weights = malloc(net->count * sizeof(float) * (size_t)(net->num_data - net->num_in) + 1);
  if (net->weights == NULL) return &kNoMemory;
  for (int i = net->num_in; i < net->num_data; ++i) {
    strncpy(net->names[i - net->num_in], graph->data[i].name, 31);
    memcpy(net->weights + (size_t)(i - net->num_in) * net->count, FirstElement(&graph->data[i]),
           net->count * sizeof(float));
  }
  return Parse(net, graph->json);
}

static int HasShapeOf(const Net* net, const MXTensor* weight) {
  const MXTensor* first = &net->tensors[0];
  if (weight->tensor.ndim != first->tensor.ndim) return 0;
  return memcmp(weight->tensor.shape, net->shape, (size_t)first->tensor.ndim * 8) == 0;
}

static MXAccStatus Update(void* state, const MXTensor* weights, int32_t count) {
  static const MXAccError kNoWeight = {sizeof(MXAccError), kMXAccBadArgument,
                                       "the graph has no such weight", 0, 0};
  Net* net = state;
  const int num_weights = net->num_data - net->num_in;
  if (Has("weights are never updated")) return NULL;
  for (int32_t i = 0; i < count; ++i) {
    int number = 0;
    while (number < num_weights && strcmp(net->names[number], weights[i].name) != 0) ++number;
    if (number == num_weights && Has("weights of any name")) continue;
    if (number == num_weights) return &kNoWeight;
    if (Has("weights by their order")) number = i;
    if (Has("only the first weight") && i != 0) break;
    if (!IsFloat32(&weights[i]) && !Has("weights of any type")) return &kNoWeight;
    if (!HasShapeOf(net, &weights[i])) return &kNoWeight;
    memcpy(net->weights + (size_t)number * net->count, FirstElement(&weights[i]),
           net->count * (Has("weights of any type") ? 1 : sizeof(float)));
  }
  return NULL;
}

static MXAccStatus LoadModel(void* self, int32_t dev_id, const MXAccGraph* graph,
                             const MXAccAttribute* options, int32_t num_options, void* call,
                             MXAccModel* out) {
  Net* net;
  MXAccStatus status;
  (void)self, (void)dev_id, (void)options, (void)call;
  if (graph->version > MXACC_GRAPH_VERSION) return &kNewer;
  if (num_options != 0) return &kNoOptions;
  net = calloc(1, sizeof(*net));
  if (net == NULL) return &kNoMemory;
  status = Fill(net, graph);
  if (status != NULL) return Unload(net), status;
  GiveSlots(net);
  out->flags = kMXAccModelConcurrent | kMXAccModelKeepsWeights;
  out->num_in = net->num_in;
  out->num_out = net->num_out;
  out->state = net;
  out->inputs = out->outputs = net->tensors;
  out->infer = Infer;
  out->unloadModel = Unload;
  out->updateWeights = Update;
  return NULL;
}

MXACC_EXPORT MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {
  MXAccStatus status = template_get_api(runtime, api);
  api->supportedOps = SupportedOps;
  api->loadModel = LoadModel;
  return status;
}
