#include "executor.h"

#include <algorithm>
#include <cstring>

namespace opencl {
namespace {

/*! \brief What is known of the operators. */
constexpr int32_t kOperatorSet = 1;

void CheckStorage(const MXTensor& tensor) {
  if (tensor.storage != kMXAccDense) Unsupported("sparse tensors");
  if (tensor.layout != nullptr) Unsupported(std::string("the layout ") + tensor.layout);
}

std::unique_ptr<Work> MakeWork(const Request& request) {
  for (const auto make : {MakeElementwise, MakeMovement, MakeReduction, MakeProduct}) {
    if (std::unique_ptr<Work> work = make(request)) return work;
  }
  Unsupported("there is no kernel for " + request.name());
}

}  // namespace

Request::Request(Device* device, const MXAccOperator& op) : device_(device), op_(op) {
  if (op.operator_set != kOperatorSet) {
    Unsupported(name() + " of the operator set " + std::to_string(op.operator_set) + ", this is " +
                std::to_string(kOperatorSet));
  }
  if (op.num_out != 1) Unsupported(name() + " with several outputs");
  for (int32_t i = 0; i < op.num_in; ++i) CheckStorage(op.inputs[i]);
  CheckStorage(op.outputs[0]);
}

const MXAccGeometry* Request::FindInput(const char* name) const {
  for (int32_t i = 0; i < op_.num_in; ++i) {
    if (op_.inputs[i].name != nullptr && std::strcmp(op_.inputs[i].name, name) == 0) {
      return &op_.inputs[i].tensor;
    }
  }
  return nullptr;
}

int Request::IndexOf(const MXAccGeometry& input) const {
  int i = 0;
  while (&op_.inputs[i].tensor != &input) ++i;
  return i;
}

std::optional<JsonValue> Request::Attribute(const char* key) const {
  std::optional<JsonValue> value = FindAttribute(op_, key);
  if (value && value->kind == JsonValue::Kind::kNull) return std::nullopt;
  return value;
}

bool Request::Flag(const char* key) const {
  const std::optional<JsonValue> value = Attribute(key);
  return value && value->integer != 0;
}

bool Request::IsNull(const char* key) const {
  const std::optional<JsonValue> value = FindAttribute(op_, key);
  return value && value->kind == JsonValue::Kind::kNull;
}

void Request::CheckNames(std::initializer_list<const char*> names) const {
  const auto check = [&](const char* given) {
    const bool known = given != nullptr && std::any_of(names.begin(), names.end(), [&](auto name) {
                         return std::strcmp(given, name) == 0;
                       });
    if (!known) Unsupported(name() + " with '" + (given == nullptr ? "" : given) + "'");
  };
  for (int32_t i = 0; i < op_.num_in; ++i) check(op_.inputs[i].name);
  for (int32_t i = 0; i < op_.num_attrs; ++i) check(op_.attr_keys[i]);
}

void Request::CheckOutput(DType dtype) const {
  if (DTypeOf(output().dtype) == dtype) return;
  Unsupported(name() + " into " + GeometryText(output()) + ", of a result of " + NameOf(dtype));
}

void Request::CheckDevice(std::initializer_list<DType> dtypes) const {
  if (device_->traits.has_double) return;
  if (std::find(dtypes.begin(), dtypes.end(), DType::kFloat64) != dtypes.end()) {
    Unsupported(name() + " in float64, which " + device_->traits.name + " does not have");
  }
}

Executor::Executor(Device* device, const MXAccOperator& op) : device_(device) {
  const Request request(device, op);
  for (int32_t i = 0; i < op.num_in; ++i) spans_.push_back(SpanOf(op.inputs[i].tensor));
  spans_.push_back(SpanOf(op.outputs[0].tensor));
  work_ = MakeWork(request);
}

void Executor::Run(const MXTensor* inputs, int32_t num_in, const MXTensor* outputs, int32_t num_out,
                   MXAccStream stream) const {
  if (num_out != 1 || static_cast<size_t>(num_in) + 1 != spans_.size()) {
    throw Failure(kMXAccBadArgument, "run: other tensors than the executor was asked for");
  }
  std::vector<Place> places;
  for (size_t i = 0; i < spans_.size(); ++i) {
    const MXAccGeometry& tensor = (i + 1 == spans_.size() ? outputs[0] : inputs[i]).tensor;
    const cl_mem buffer = device_->memory.Find(tensor, spans_[i]);
    places.push_back({buffer, static_cast<int64_t>(tensor.byte_offset) / ItemSize(tensor.dtype)});
  }
  Commands commands(device_, FromHandle(stream));
  work_->Run(&commands, places.data());
  commands.Finish();
}

}  // namespace opencl
