/*!
 * \file functions_library.cc
 * \brief Tensors and results, as mxnet_acc_functions.h has them.
 */
#include "acc/plugin/functions_library.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "acc/plugin/status.h"
#include "runtime/library/dynamic_library.h"

namespace mxnet {
namespace acc {
namespace {

void* OwnSymbol(void* library, const char* name) {
  // Names like "initialize" may well be those of a library that it is linked with.
  void* address = dynamic_library::Symbol(library, name);
  return address != nullptr && dynamic_library::Holds(library, address) ? address : nullptr;
}

/*! \brief MXNet's version as one number: 10203 for 1.2.3. */
int VersionNumber(const char* release) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::sscanf(release, "%d.%d.%d", &major, &minor, &patch);
  return 10000 * major + 100 * minor + patch;
}

std::optional<int32_t> TypeOf(MXAccDataType type) {
  if (type.lanes != 1) return std::nullopt;
  switch (type.code * 256 + type.bits) {
    case kMXAccFloat * 256 + 32:
      return kMXAccFnFloat32;
    case kMXAccFloat * 256 + 64:
      return kMXAccFnFloat64;
    case kMXAccFloat * 256 + 16:
      return kMXAccFnFloat16;
    case kMXAccUInt * 256 + 8:
      return kMXAccFnUint8;
    case kMXAccInt * 256 + 32:
      return kMXAccFnInt32;
    case kMXAccInt * 256 + 8:
      return kMXAccFnInt8;
    case kMXAccInt * 256 + 64:
      return kMXAccFnInt64;
    default:
      return std::nullopt;
  }
}

bool IsRowMajor(const MXAccDLTensor& tensor) {
  int64_t step = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != step) return false;
    step *= tensor.shape[i];
  }
  return true;
}

uint64_t SizeOf(const MXAccDLTensor& tensor) {
  uint64_t size = tensor.dtype.bits * tensor.dtype.lanes / 8u;
  for (int32_t i = 0; i < tensor.ndim; ++i) size *= static_cast<uint64_t>(tensor.shape[i]);
  return size;
}

/*! \brief Tensors as mxnet_acc_functions.h has them, with their names. */
class Tensors {
 public:
  /*! \brief Where may_be_bytes, tensors of unknown types become bytes; otherwise they set
   * problem(). */
  Tensors(const MXTensor* tensors, int32_t count, bool may_be_bytes = false) {
    for (int32_t i = 0; i < count; ++i) Add(tensors[i], may_be_bytes);
  }
  /*! \brief Why a tensor cannot be passed in this form; NULL where all can. */
  const char* problem() const { return problem_; }
  MXAccFnTensor* data() { return tensors_.data(); }
  const char* const* names() const { return names_.data(); }

 private:
  void Add(const MXTensor& tensor, bool may_be_bytes) {
    const MXAccDLTensor& from = tensor.tensor;
    if (tensor.storage != kMXAccDense) problem_ = "tensors are dense for it";
    if (!IsRowMajor(from)) problem_ = "tensors are row-major for it";
    MXAccFnTensor to{};
    to.data = from.data == nullptr ? nullptr : static_cast<char*>(from.data) + from.byte_offset;
    to.layout = tensor.layout;
    const std::optional<int32_t> type = TypeOf(from.dtype);
    if (type) {
      to.dtype = *type;
      to.shape = reinterpret_cast<const uint64_t*>(from.shape);
      to.shape_len = static_cast<uint64_t>(from.ndim);
    } else {
      if (!may_be_bytes) problem_ = "it knows no elements of that type";
      sizes_.push_back(SizeOf(from));
      to.dtype = kMXAccFnUint8;
      to.shape = &sizes_.back();
      to.shape_len = 1;
    }
    tensors_.push_back(to);
    names_.push_back(tensor.name == nullptr ? "" : tensor.name);
  }

  const char* problem_{nullptr};
  std::vector<MXAccFnTensor> tensors_;
  std::vector<const char*> names_;
  std::deque<uint64_t> sizes_;
};

MXAccStatus ResultOf(int number) {
  if (number == 0) return nullptr;
  return Failure(kMXAccFailed, "it returned " + std::to_string(number));
}

}  // namespace

/*! \brief State of an executor. */
struct FunctionsLibrary::Executor {
  FunctionsLibrary* library;
  MXAccFnExecutor run;
};

bool FunctionsLibrary::Is(void* library) {
  return OwnSymbol(library, "getAccName") != nullptr && OwnSymbol(library, "getNumAcc") != nullptr;
}

FunctionsLibrary::FunctionsLibrary(void* library) {
#define MXNET_FUNCTIONS_FIND(name) \
  functions_.name = reinterpret_cast<decltype(functions_.name)>(OwnSymbol(library, #name));
  MXNET_LIBRARY_FUNCTIONS(MXNET_FUNCTIONS_FIND)
#undef MXNET_FUNCTIONS_FIND
}

MXAccApi FunctionsLibrary::Table() {
  MXAccApi api = WholeTable();
#define MXNET_FUNCTIONS_DROP(name) \
  if (functions_.name == nullptr) api.name = nullptr;
  MXNET_TABLE_FUNCTIONS(MXNET_FUNCTIONS_DROP)
#undef MXNET_FUNCTIONS_DROP
  const bool has_models = functions_.unloadModel != nullptr && functions_.infer != nullptr;
  if (!has_models) api.loadModel = nullptr;
  api.copyWithinAcc = nullptr;
  api.listOptions = nullptr;
  api.modelKey = nullptr;
  api.checkModel = nullptr;
  api.importModel = nullptr;
  api.profile = nullptr;
  api.mx_zero = nullptr;
  return api;
}

MXAccStatus FunctionsLibrary::GetAccName(char* name, size_t size) {
  // A library that writes more than it may does no harm up to this size, and gets an error.
  char text[8 * MXACC_FN_NAME_SIZE] = {};
  functions_.getAccName(text);
  text[sizeof(text) - 1] = '\0';
  if (std::strlen(text) >= size) {
    return Failure(kMXAccBadArgument, "it wrote more than " + std::to_string(size - 1) +
                                          " characters: '" + TextOf(text) + "'");
  }
  std::memcpy(name, text, std::strlen(text) + 1);
  return nullptr;
}

MXAccStatus FunctionsLibrary::GetNumAcc(int32_t* count) {
  *count = functions_.getNumAcc();
  return nullptr;
}

MXAccStatus FunctionsLibrary::Initialize(const MXAccRuntime* runtime) {
  const int version = VersionNumber(runtime->release);
  const int result = functions_.initialize(version);
  if (result == 0) return nullptr;
  return Failure(kMXAccRejected, "it returned " + std::to_string(result) + " for version " +
                                     std::to_string(version) + " of MXNet");
}

MXAccStatus FunctionsLibrary::GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) {
  if (dev_id == 0 || functions_.mx_alloc == nullptr) return nullptr;
  info->flags = kMXAccUnusable;
  info->reason = "mx_alloc of its library knows the first device only";
  return nullptr;
}

MXAccStatus FunctionsLibrary::Alloc(int32_t, int32_t memory, size_t size, size_t alignment,
                                    void** out) {
  if (memory != kMXAccDeviceMemory) return Failure(kMXAccUnsupported, "it has one kind of memory");
  *out = Call(functions_.mx_alloc, size);
  if (*out == nullptr) return Failure(kMXAccOutOfMemory, "it gave NULL");
  if (reinterpret_cast<uintptr_t>(*out) % alignment != 0) {
    Call(functions_.mx_free, *out);
    return Failure(kMXAccFailed,
                   "it gave memory that is not aligned to " + std::to_string(alignment) + " bytes");
  }
  ++live_;
  return nullptr;
}

void FunctionsLibrary::Free(int32_t, void* data) {
  Call(functions_.mx_free, data);
  --live_;
}

MXAccStatus FunctionsLibrary::ReleaseAll(int32_t, size_t* live) {
  Call(functions_.mx_releaseAll);
  *live = live_.exchange(0);
  return nullptr;
}

MXAccStatus FunctionsLibrary::CopyEach(Copy copy, MXTensor* targets, const MXTensor* sources,
                                       int32_t count) {
  Tensors to(targets, count, true);
  Tensors from(sources, count, true);
  for (int32_t i = 0; i < count; ++i) {
    if (SizeOf(targets[i].tensor) == 0) continue;
    if (MXAccStatus status = ResultOf(Call(copy, to.data() + i, from.data() + i))) return status;
  }
  return nullptr;
}

MXAccStatus FunctionsLibrary::CopyToAcc(int32_t, MXTensor* targets, const MXTensor* sources,
                                        int32_t count, MXAccStream) {
  return CopyEach(functions_.copyToAcc, targets, sources, count);
}

MXAccStatus FunctionsLibrary::CopyFromAcc(int32_t, MXTensor* targets, const MXTensor* sources,
                                          int32_t count, MXAccStream) {
  return CopyEach(functions_.copyFromAcc, targets, sources, count);
}

MXAccStatus FunctionsLibrary::SupportsImperative(int32_t* yes) {
  *yes = Call(functions_.supportsImperative) != 0 ? 1 : 0;
  return nullptr;
}

MXAccStatus FunctionsLibrary::GetExecutor(const MXAccOperator* op, MXAccExecutor* out) {
  Tensors inputs(op->inputs, op->num_in);
  Tensors outputs(op->outputs, op->num_out);
  for (const Tensors* tensors : {&inputs, &outputs}) {
    if (tensors->problem() != nullptr) return Failure(kMXAccUnsupported, tensors->problem());
  }
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (int32_t i = 0; i < op->num_attrs; ++i) {
    keys.push_back(op->attrs[i].name);
    values.push_back(op->attrs[i].json);
  }
  const MXAccFnExecutor run =
      Call(functions_.accGetExecutor, op->name, inputs.data(), outputs.data(), op->num_in,
           op->num_out, keys.data(), values.data(), op->num_attrs);
  if (run == nullptr) return Failure(kMXAccUnsupported, "it does not do that");
  out->state = new Executor{this, run};
  out->run = &Run;
  out->free = [](void* state) { delete static_cast<Executor*>(state); };
  return nullptr;
}

MXAccStatus FunctionsLibrary::Run(void* state, const MXTensor* inputs, int32_t num_in,
                                  MXTensor* outputs, int32_t num_out, const MXTensor*,
                                  MXAccStream) {
  const auto* executor = static_cast<const Executor*>(state);
  Tensors in(inputs, num_in);
  Tensors out(outputs, num_out);
  return ResultOf(executor->library->Call(executor->run, in.data(), num_in, out.data(), num_out));
}

MXAccStatus FunctionsLibrary::SupportedOps(int32_t, const MXAccGraph* graph,
                                           MXAccNodeSupport* nodes) {
  Tensors data(graph->data, graph->num_data);
  std::vector<int> ids(static_cast<size_t>(graph->num_nodes), kMXAccNodeUnsupported);
  // A graph with a tensor that cannot be passed in this form stays on the CPU as a whole.
  if (data.problem() == nullptr) {
    Call(functions_.supportedOps, graph->json, data.names(), data.data(), graph->num_data,
         ids.data());
  }
  for (size_t i = 0; i < ids.size(); ++i) nodes[i].id = std::max<int>(ids[i], -1);
  return nullptr;
}

/*! \brief A model, which the library knows by an id that is made here. */
class FunctionsLibrary::Model {
 public:
  Model(FunctionsLibrary* library, std::string id, const MXAccGraph& graph)
      : library_(library), id_(std::move(id)) {
    for (int32_t i = 0; i < graph.num_inputs; ++i) Add(graph.data[i]);
    for (int32_t i = 0; i < graph.num_outputs; ++i) Add(graph.outputs[i]);
  }

  /*! \brief The inputs, then the outputs, without data. */
  const MXTensor* tensors() const { return tensors_.data(); }

  static MXAccStatus Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                           int32_t num_out, const MXTensor*, MXAccStream, void*) {
    auto* model = static_cast<Model*>(state);
    Tensors in(inputs, num_in);
    Tensors out(outputs, num_out);
    for (const Tensors* tensors : {&in, &out}) {
      if (tensors->problem() != nullptr) return Failure(kMXAccUnsupported, tensors->problem());
    }
    const char* const* names = model->names_.data();
    FunctionsLibrary* library = model->library_;
    return ResultOf(library->Call(library->functions_.infer, model->id_.c_str(), names,
                                  names + num_in, in.data(), out.data(), num_in, num_out));
  }
  static void Unload(void* state) {
    const std::unique_ptr<Model> model(static_cast<Model*>(state));
    model->library_->Call(model->library_->functions_.unloadModel, model->id_.c_str());
  }

 private:
  void Add(const MXTensor& tensor) {
    MXTensor copy = tensor;
    const auto ndim = static_cast<size_t>(tensor.tensor.ndim);
    for (int64_t** numbers : {&copy.tensor.shape, &copy.tensor.strides}) {
      copy.tensor.data = nullptr;
      numbers_.emplace_back(*numbers, *numbers + ndim);
      *numbers = numbers_.back().data();
    }
    texts_.emplace_back(tensor.name == nullptr ? "" : tensor.name);
    copy.name = texts_.back().c_str();
    copy.layout = nullptr;
    copy.info = nullptr;
    names_.push_back(copy.name);
    tensors_.push_back(copy);
  }

  FunctionsLibrary* library_;
  std::string id_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> numbers_;
  std::vector<const char*> names_;
  std::vector<MXTensor> tensors_;
};

MXAccStatus FunctionsLibrary::LoadModel(int32_t dev_id, const MXAccGraph* graph,
                                        const MXAccAttribute*, int32_t num_options, void*,
                                        MXAccModel* out) {
  if (num_options != 0) return Failure(kMXAccBadArgument, "it has no options of models");
  Tensors data(graph->data, graph->num_data);
  if (data.problem() != nullptr) return Failure(kMXAccUnsupported, data.problem());
  const std::string id = "model" + std::to_string(++last_model_);
  auto model = std::make_unique<Model>(this, id, *graph);
  MXAccStatus status = ResultOf(Call(functions_.loadModel, id.c_str(), graph->json, data.names(),
                                     data.data(), graph->num_data, dev_id));
  if (status != nullptr) return status;
  out->num_in = graph->num_inputs;
  out->num_out = graph->num_outputs;
  out->inputs = model->tensors();
  out->outputs = model->tensors() + graph->num_inputs;
  out->infer = &Model::Infer;
  out->unloadModel = &Model::Unload;
  out->state = model.release();
  return nullptr;
}

MXAccStatus FunctionsLibrary::Configure(int32_t, const char* const* in_keys,
                                        const char* const* in_vals, int32_t num_in, MXAccEmit emit,
                                        void* context) {
  const char* keys[MXACC_FN_MAX_ANSWERS] = {};
  const char* values[MXACC_FN_MAX_ANSWERS] = {};
  std::lock_guard<std::mutex> lock(calls_);  // the answers stay until the next call
  const int count = functions_.configure(in_keys, in_vals, num_in, keys, values);
  if (count < 0) return Failure(kMXAccBadArgument, "it returned " + std::to_string(count));
  for (int i = 0; i < std::min(count, MXACC_FN_MAX_ANSWERS); ++i) {
    const std::string value = TextOf(values[i], SIZE_MAX);
    emit(context, TextOf(keys[i]).c_str(), value.c_str(), value.size());
  }
  return nullptr;
}

}  // namespace acc
}  // namespace mxnet
