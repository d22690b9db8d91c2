#include "node_steps.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

namespace mxacc {
namespace {

Rules AllRules() {
  Rules rules;
  for (const auto add :
       {AddElementwiseRules, AddActivationRules, AddReductionRules, AddMovementRules,
        AddProductRules, AddWindowRules, AddNormalizationRules}) {
    add(&rules);
  }
  return rules;
}

const MXAccDataType kBoolType{kMXAccBool, 8, 1};

bool IsSameType(MXAccDataType a, MXAccDataType b) { return a.code == b.code && a.bits == b.bits; }

/*! \brief A number as an attribute among elements of a type. */
Attribute NumberOf(const char* name, double number, MXAccDataType dtype) {
  if (IsFloatType(dtype)) return Attribute::Number(name, number);
  constexpr double kEnd = 9223372036854775808.0;
  if (!(number >= -kEnd && number < kEnd)) Unsupported("a number that is no integer");
  return Attribute::Integer(name, static_cast<int64_t>(number));
}

/*! \brief The operands of a step: each an input or an attribute. */
class Operands {
 public:
  Operands(std::initializer_list<std::pair<const char*, const Operand*>> given) {
    for (const auto& [name, operand] : given) {
      if (!operand->value) continue;
      dtype = operand->value->dtype;
      shape = BroadcastShape(shape, operand->value->shape);
    }
    for (const auto& [name, operand] : given) {
      if (operand->value) {
        inputs.push_back({name, *operand->value});
      } else {
        attributes.push_back(NumberOf(name, operand->number, dtype));
      }
    }
  }

  std::vector<Argument> inputs;
  std::vector<Attribute> attributes;
  MXAccDataType dtype{};
  Extents shape;
};

/*! \brief The first element at an address. */
double ElementAt(const char* from, MXAccDataType dtype) {
  const auto read = [from](auto kind) {
    std::memcpy(&kind, from, sizeof(kind));
    return static_cast<double>(kind);
  };
  const int key = dtype.code * 256 + dtype.bits;
  switch (key) {
    case kMXAccFloat * 256 + 32:
      return read(float{});
    case kMXAccFloat * 256 + 64:
      return read(double{});
    case kMXAccInt * 256 + 32:
      return read(int32_t{});
    case kMXAccInt * 256 + 64:
      return read(int64_t{});
    case kMXAccBool * 256 + 8:
      return read(uint8_t{});
    default:
      Unsupported("a number in " + NameOfType(dtype));
  }
}

// Before these versions of ONNX's set an operator meant something else: an axis to broadcast along,
// training where nothing was said of it, or inputs in another order.
const std::map<std::string, int64_t> kLeastVersions = {
    {"Add", 7},  {"Sub", 7},     {"Mul", 7},   {"Div", 7},     {"Pow", 7},
    {"And", 7},  {"Or", 7},      {"Xor", 7},   {"Equal", 7},   {"Less", 7},
    {"Gemm", 7}, {"Greater", 7}, {"PRelu", 7}, {"Dropout", 7}, {"BatchNormalization", 9},
    {"Tile", 6}, {"Resize", 11}};

const char* AddressOf(const GraphEntry& entry) {
  const MXAccDLTensor& tensor = entry.weight->tensor;
  return static_cast<const char*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

void NodeSteps::Make() {
  static const Rules rules = AllRules();
  const auto rule = rules.find(op());
  if (rule == rules.end()) Unsupported("there is no rule for " + op());
  const auto least = kLeastVersions.find(op());
  if (least != kLeastVersions.end() && node_.version < least->second) {
    Decline("of a version before " + std::to_string(least->second));
  }
  if (node_.has_subgraphs) Decline("with subgraphs");
  for (size_t i = 0; i < num_inputs(); ++i) {
    if (Has(i)) (void)Input(i);
  }
  for (size_t i = 0; i < num_outputs(); ++i) {
    if (!Gives(i)) continue;
    if (!output(i).is_static()) Unsupported(kDynamic);
    if (output(i).dtype.bits == 0) Unsupported("a type of elements that it does not know");
  }
  if (!Gives(0)) Decline("without its first output");
  rule->second(*this);
}

Value NodeSteps::Input(size_t index) const {
  if (!Has(index)) Decline("without input " + std::to_string(index));
  return steps_->Read(node_.inputs[index]);
}

const GraphEntry& NodeSteps::entry(size_t index) const {
  return steps_->graph().entries[static_cast<size_t>(node_.inputs[index])];
}

const GraphEntry& NodeSteps::output(size_t index) const {
  return steps_->graph().entries[static_cast<size_t>(node_.outputs[index])];
}

const GraphEntry& NodeSteps::WeightOf(size_t index) const {
  if (entry(index).weight == nullptr) {
    Decline("with an input " + std::to_string(index) + " that is computed");
  }
  steps_->NoteDeciding(node_.inputs[index]);
  return entry(index);
}

template <typename T>
std::vector<T> NodeSteps::ElementsOf(size_t index, MXAccDataType dtype) const {
  const GraphEntry& weight = WeightOf(index);
  if (!IsSameType(weight.dtype, dtype)) Decline("with other numbers than " + NameOfType(dtype));
  std::vector<T> elements(static_cast<size_t>(CountOf(weight.shape)));
  if (!elements.empty()) {
    std::memcpy(elements.data(), AddressOf(weight), elements.size() * sizeof(T));
  }
  return elements;
}

Extents NodeSteps::Integers(size_t index, const char* attribute) const {
  if (!Has(index)) return node_.Integers(attribute);
  return ElementsOf<int64_t>(index, {kMXAccInt, 64, 1});
}

std::vector<float> NodeSteps::Floats(size_t index) const {
  if (!Has(index)) return {};
  return ElementsOf<float>(index, {kMXAccFloat, 32, 1});
}

double NodeSteps::Number(size_t index, const char* attribute, double otherwise) const {
  if (!Has(index)) return node_.Number(attribute, otherwise);
  const GraphEntry& weight = WeightOf(index);
  if (CountOf(weight.shape) != 1) Decline("with an input that is not one number");
  return ElementAt(AddressOf(weight), weight.dtype);
}

size_t NodeSteps::Axis(int64_t axis, size_t ndim) const {
  const auto count = static_cast<int64_t>(ndim);
  if (axis < -count || axis >= count) Decline("along an axis that there is not");
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

std::string NodeSteps::Text(const char* attribute, const char* otherwise) const {
  const Json* found = node_.Find(attribute);
  return found == nullptr || found->kind != Json::Kind::kText ? otherwise : found->text;
}

void NodeSteps::NeedSmall(const Extents& numbers) const {
  constexpr int64_t kMost = int64_t{1} << 31;
  for (const int64_t number : numbers) {
    if (number > kMost || number < -kMost) Decline("by " + std::to_string(number));
  }
}

void NodeSteps::NeedFloats() const {
  if (!IsFloatType(Input(0).dtype)) Decline("of other than floats");
}

Value NodeSteps::Call(const char* function, std::vector<Argument> inputs,
                      std::vector<Attribute> attributes, MXAccDataType dtype,
                      const Extents& shape) {
  const Value made = NewValue(dtype, shape);
  steps_->Append({function, std::move(inputs), std::move(attributes), made});
  return made;
}

Value NodeSteps::Unary(const char* function, const Value& x) {
  return Call(function, {{"x", x}}, {}, x.dtype, x.shape);
}

Value NodeSteps::Binary(const char* function, const Operand& a, const Operand& b) {
  Operands operands{{"x1", &a}, {"x2", &b}};
  return Call(function, operands.inputs, operands.attributes, operands.dtype, operands.shape);
}

Value NodeSteps::Compare(const char* function, const Operand& a, const Operand& b) {
  Operands operands{{"x1", &a}, {"x2", &b}};
  return Call(function, operands.inputs, operands.attributes, kBoolType, operands.shape);
}

Value NodeSteps::Where(const Value& condition, const Operand& a, const Operand& b) {
  Operands operands{{"x", &a}, {"y", &b}};
  operands.inputs.insert(operands.inputs.begin(), {"condition", condition});
  return Call("where", operands.inputs, operands.attributes, operands.dtype,
              BroadcastShape(condition.shape, operands.shape));
}

Value NodeSteps::Cast(const Value& value, MXAccDataType dtype) {
  if (IsSameType(value.dtype, dtype)) return value;
  return Call("astype", {{"a", value}}, {Attribute::Type("dtype", dtype)}, dtype, value.shape);
}

Value NodeSteps::Reduce(const char* function, const Value& value, const Extents& axes,
                        bool keepdims) {
  if (axes.empty()) return value;
  Extents shape;
  for (size_t i = 0; i < value.ndim(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!reduced) shape.push_back(value.shape[i]);
    if (reduced && keepdims) shape.push_back(1);
  }
  std::vector<Attribute> attributes{Attribute::Integers("axis", axes),
                                    Attribute::Flag("keepdims", keepdims)};
  const bool adds = std::strcmp(function, "sum") == 0 || std::strcmp(function, "prod") == 0;
  if (adds) attributes.push_back(Attribute::Type("dtype", value.dtype));
  return Call(function, {{"a", value}}, attributes, value.dtype, shape);
}

Value NodeSteps::MatMul(const Value& a, const Value& b) {
  if (a.ndim() == 0 || b.ndim() == 0) Decline("of a number");
  const auto batch_of = [](const Value& value) {
    return Extents(value.shape.begin(), value.shape.end() - std::min<int>(2, value.ndim()));
  };
  Extents shape = BroadcastShape(batch_of(a), batch_of(b));
  if (a.ndim() > 1) shape.push_back(a.shape[a.ndim() - 2]);
  if (b.ndim() > 1) shape.push_back(b.shape.back());
  return Call("matmul", {{"x1", a}, {"x2", b}}, {}, a.dtype, shape);
}

Value NodeSteps::Full(MXAccDataType dtype, const Extents& shape, const Operand& number) {
  std::vector<Argument> inputs;
  std::vector<Attribute> attributes{Attribute::Integers("shape", shape)};
  if (number.value) {
    inputs.push_back({"fill_value", *number.value});
  } else {
    attributes.push_back(NumberOf("fill_value", number.number, dtype));
  }
  attributes.push_back(Attribute::Type("dtype", dtype));
  return Call("full", inputs, attributes, dtype, shape);
}

Value NodeSteps::Packed(const Value& value) {
  if (value.is_row_major()) return value;
  const Value packed = NewValue(value.dtype, value.shape);
  Copy(value, packed);
  return packed;
}

Value NodeSteps::Reshape(const Value& value, const Extents& shape) {
  if (CountOf(shape) != value.count()) Decline("into a shape of another size");
  const std::optional<Value> view = Reshaped(value, shape);
  return view ? *view : *Reshaped(Packed(value), shape);
}

Value NodeSteps::Pad(const Value& value, const Extents& before, const Extents& behind,
                     const Operand& number) {
  Extents shape = value.shape;
  bool is_same = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] += before[i] + behind[i];
    is_same = is_same && before[i] == 0 && behind[i] == 0;
  }
  if (is_same) return value;
  const Value padded = Full(value.dtype, shape, number);
  Value inside = padded;
  for (size_t i = 0; i < shape.size(); ++i) {
    inside = Sliced(inside, i, before[i], 1, value.shape[i]);
  }
  if (value.count() != 0) Copy(value, inside);
  return padded;
}

void NodeSteps::Give(const Value& value, size_t index) {
  const GraphEntry& spec = output(index);
  if (!IsSameType(spec.dtype, value.dtype) || spec.shape != value.shape) {
    Decline("whose output the graph says to be of another type or shape");
  }
  steps_->Give(node_.outputs[index], value);
}

}  // namespace mxacc
