#include "operators.h"

#include <algorithm>
#include <cstring>

#include "threads.h"

namespace onednn {
namespace {

/*! \brief The version of the operators' meaning that the families were written for. */
constexpr int32_t kOperatorSet = 1;

constexpr Family (*kFamilies[])() = {Copying, Elementwise, Products, Reductions, Softmaxes};

int64_t SizeOf(const MXTensor& tensor) {
  const MXAccDLTensor& dl_tensor = tensor.tensor;
  return onednn::SizeOf(Dims(dl_tensor.shape, dl_tensor.shape + dl_tensor.ndim));
}

}  // namespace

int64_t ElementsOf(const MXAccOperator& op) {
  int64_t count = 0;
  for (int32_t i = 0; i < op.num_in; ++i) count += SizeOf(op.inputs[i]);
  for (int32_t i = 0; i < op.num_out; ++i) count += SizeOf(op.outputs[i]);
  return count;
}

Array TheOutput(const MXAccOperator& op) {
  if (op.num_out != 1) Unsupported("another number of outputs than one");
  return OutputOf(op, 0);
}

Array TheInput(const MXAccOperator& op) {
  if (op.num_in != 1) Unsupported("another number of arrays than one");
  return InputOf(op, 0);
}

double NumberOf(const AttributeValue& value, const char* key) {
  constexpr int64_t kExact = int64_t{1} << 53;
  switch (value.kind) {
    case AttributeValue::Kind::kFloat:
      return value.real;
    case AttributeValue::Kind::kBool:
      return static_cast<double>(value.integer);
    case AttributeValue::Kind::kInt:
      if (-kExact <= value.integer && value.integer <= kExact) {
        return static_cast<double>(value.integer);
      }
      Unsupported("integers beyond 2^53");
    default:
      Unsupported(std::string(key) + " that is no number");
  }
}

void CheckFloat(const Array& array) {
  if (!IsFloat(array.dtype)) Unsupported("only float32, float16 and bfloat16, which oneDNN has");
}

std::unique_ptr<Plan> MakePlan(const MXAccOperator& op, int threads, uint32_t* flags) {
  if (op.operator_set != kOperatorSet) {
    Unsupported("the operator set " + std::to_string(op.operator_set) + ", this has " +
                std::to_string(kOperatorSet));
  }
  for (const auto& family_of : kFamilies) {
    const Family family = family_of();
    for (size_t i = 0; i < family.size; ++i) {
      if (std::strcmp(op.name, family.entries[i].name) != 0) continue;
      auto plan = std::make_unique<Plan>(ThreadsFor(family.work(op), threads));
      const ThreadScope scope(plan->threads());
      *flags = family.flags | kMXAccConcurrent;
      const Array out = TheOutput(op);
      if (onednn::SizeOf(out.shape) != 0) family.entries[i].add(op, plan.get());
      return plan;
    }
  }
  Unsupported("oneDNN is not used for it");
}

std::string OperatorNames() {
  std::vector<std::string> names;
  for (const auto& family_of : kFamilies) {
    const Family family = family_of();
    for (size_t i = 0; i < family.size; ++i) names.emplace_back(family.entries[i].name);
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace onednn
