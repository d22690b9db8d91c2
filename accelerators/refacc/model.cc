#include "model.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

namespace refacc {
namespace {

constexpr size_t kAlignment = 64;

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

bool IsFloat(MXAccDataType dtype) { return dtype.code == kMXAccFloat; }

}  // namespace

size_t ModelValue::bytes() const {
  auto bytes = static_cast<size_t>(ItemSize(dtype));
  for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  return bytes;
}

MXTensor ModelValue::tensor() {
  MXTensor made{};
  made.struct_size = sizeof(made);
  made.tensor.device = MXAccDevice{kMXAccHost, 0};
  made.tensor.ndim = static_cast<int32_t>(shape.size());
  made.tensor.dtype = dtype;
  made.tensor.shape = shape.data();
  made.tensor.strides = strides.data();
  return made;
}

/*! \brief Makes the steps of one node. */
class StepMaker {
 public:
  StepMaker(ModelSteps* steps, const GraphNode& node) : steps_(steps), node_(node) {}

  void Make() {
    static const std::map<std::string, std::function<void(StepMaker*)>> rules = Rules();
    const auto rule = rules.find(node_.op);
    if (rule == rules.end()) Unsupported("there is no rule for " + node_.op);
    CheckValues();
    rule->second(this);
  }

  void Negate() {
    const size_t right = steps_->NewValue(Value(Output()).dtype, Value(Output()).shape);
    Copy(Output(), right);
    Call("negative", {{"x", right}});
  }

 private:
  using Rule = std::function<void(StepMaker*)>;

  /*! \brief An input of an operator: the parameter's name, a value, and how it is viewed. */
  struct Argument {
    std::string name;
    size_t value;
    bool transposed = false;
  };
  /*! \brief An attribute: an integer, a list of them, or a truth value. */
  struct Attribute {
    const char* name;
    int32_t kind;
    int64_t integer;
    std::vector<int64_t> items;
  };

  static std::map<std::string, Rule> Rules() {
    std::map<std::string, Rule> rules;
    const std::pair<const char*, const char*> floats[] = {
        {"Exp", "exp"},         {"Log", "log"},
        {"Sqrt", "sqrt"},       {"Tanh", "tanh"},
        {"Sigmoid", "sigmoid"}, {"Sin", "sin"},
        {"Cos", "cos"},         {"Ceil", "ceil"},
        {"Floor", "floor"},     {"Reciprocal", "reciprocal"},
        {"Relu", "relu"},       {"Neg", "negative"},
        {"Abs", "absolute"}};
    for (const auto& [onnx, name] : floats) {
      rules[onnx] = [op = std::string(name)](StepMaker* to) {
        to->NeedFloats();
        to->Call(op, {{"x", to->Input(0)}});
      };
    }
    const std::pair<const char*, const char*> pairs[] = {
        {"Add", "add"},         {"Sub", "subtract"}, {"Mul", "multiply"}, {"Max", "maximum"},
        {"Min", "minimum"},     {"Equal", "equal"},  {"Less", "less"},    {"Greater", "greater"},
        {"And", "logical_and"}, {"Or", "logical_or"}};
    for (const auto& [onnx, name] : pairs) {
      rules[onnx] = [op = std::string(name)](StepMaker* to) {
        to->NeedInputs(2);
        to->Call(op, {{"x1", to->Input(0)}, {"x2", to->Input(1)}});
      };
    }
    rules["Div"] = [](StepMaker* to) {
      to->NeedFloats();
      to->Call("divide", {{"x1", to->Input(0)}, {"x2", to->Input(1)}});
    };
    rules["Not"] = [](StepMaker* to) { to->Call("logical_not", {{"x", to->Input(0)}}); };
    rules["Where"] = [](StepMaker* to) {
      to->Call("where", {{"condition", to->Input(0)}, {"x", to->Input(1)}, {"y", to->Input(2)}});
    };
    rules["MatMul"] = [](StepMaker* to) {
      to->NeedFloats();
      to->Call("matmul", {{"x1", to->Input(0)}, {"x2", to->Input(1)}});
    };
    rules["Gemm"] = &StepMaker::Gemm;
    rules["Transpose"] = &StepMaker::Transpose;
    rules["Concat"] = &StepMaker::Concat;
    rules["Softmax"] = [](StepMaker* to) {
      to->NeedFloats();
      if (to->node_.version < 13) Unsupported("Softmax of before version 13");
      to->Call("softmax", {{"data", to->Input(0)}},
               {{"axis", kMXAccInteger, to->node_.Integer("axis", -1), {}}});
    };
    const std::pair<const char*, const char*> reductions[] = {
        {"ReduceSum", "sum"}, {"ReduceMean", "mean"}, {"ReduceMax", "max"}, {"ReduceMin", "min"}};
    for (const auto& [onnx, name] : reductions) {
      rules[onnx] = [op = std::string(name)](StepMaker* to) { to->Reduce(op); };
    }
    for (const char* onnx : {"Reshape", "Identity", "Flatten", "Squeeze", "Unsqueeze"}) {
      rules[onnx] = [](StepMaker* to) { to->Copy(to->Input(0), to->Output()); };
    }
    return rules;
  }

  void CheckValues() const {
    if (node_.has_subgraphs) Unsupported("subgraphs");
    for (const std::vector<int64_t>* list : {&node_.inputs, &node_.outputs}) {
      for (const int64_t entry : *list) {
        if (entry < 0) continue;
        const ModelValue& value = steps_->values_[static_cast<size_t>(entry)];
        if (value.dtype.bits == 0) Unsupported("a type of elements that it does not know");
        if (!steps_->graph_->entries[static_cast<size_t>(entry)].is_static()) {
          Unsupported(kDynamic);
        }
      }
    }
    if (node_.outputs.size() != 1) Unsupported("other than one output");
  }
  size_t Input(size_t index) const {
    if (index >= node_.inputs.size() || node_.inputs[index] < 0) {
      Unsupported(node_.op + " without input " + std::to_string(index));
    }
    return static_cast<size_t>(node_.inputs[index]);
  }
  size_t Output() const { return static_cast<size_t>(node_.outputs[0]); }
  const ModelValue& Value(size_t value) const { return steps_->values_[value]; }
  void NeedFloats() const {
    for (const int64_t entry : node_.inputs) {
      if (entry >= 0 && IsFloat(Value(static_cast<size_t>(entry)).dtype)) return;
    }
    Unsupported(node_.op + " of other than floats");
  }
  void NeedInputs(size_t count) const {
    if (node_.inputs.size() != count) {
      Unsupported(node_.op + " of " + std::to_string(node_.inputs.size()) + " inputs");
    }
  }

  /*! \brief The elements of an input that is a weight of int64; none where it is left out. */
  std::vector<int64_t> Elements(size_t index) const {
    std::vector<int64_t> elements;
    if (index >= node_.inputs.size() || node_.inputs[index] < 0) return elements;
    const GraphEntry& entry = steps_->graph_->entries[Input(index)];
    if (entry.weight == nullptr || entry.dtype.code != kMXAccInt || entry.dtype.bits != 64) {
      Unsupported("axes that are computed");
    }
    elements.resize(Value(Input(index)).bytes() / sizeof(int64_t));
    const MXAccDLTensor& from = entry.weight->tensor;
    if (!elements.empty()) {
      std::memcpy(elements.data(), static_cast<const char*>(from.data) + from.byte_offset,
                  elements.size() * sizeof(int64_t));
    }
    return elements;
  }

  void Reduce(const std::string& op) {
    if (!IsFloat(Value(Input(0)).dtype)) Unsupported(node_.op + " of other than floats");
    std::vector<int64_t> axes = node_.Integers("axes");
    const std::vector<int64_t> given = Elements(1);
    axes.insert(axes.end(), given.begin(), given.end());
    if (axes.empty() && node_.Integer("noop_with_empty_axes", 0) != 0) {
      return Copy(Input(0), Output());
    }
    Attribute axis{"axis", axes.empty() ? kMXAccNoValue : kMXAccList, 0, axes};
    Call(op, {{"a", Input(0)}},
         {axis, {"keepdims", kMXAccBoolean, node_.Integer("keepdims", 1), {}}});
  }

  static void Gemm(StepMaker* to) {
    const GraphNode& node = to->node_;
    to->NeedFloats();
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] >= 0;
    if (node.Number("alpha", 1) != 1 || (has_bias && node.Number("beta", 1) != 1)) {
      Unsupported("Gemm with an alpha or beta other than 1");
    }
    const Argument a{"x1", to->Input(0), node.Integer("transA", 0) != 0};
    const Argument b{"x2", to->Input(1), node.Integer("transB", 0) != 0};
    if (!has_bias) return to->Call("matmul", {a, b});
    const ModelValue& out = to->Value(to->Output());
    const size_t product = to->steps_->NewValue(out.dtype, out.shape);
    to->CallTo(product, "matmul", {a, b});
    to->Call("add", {{"x1", product}, {"x2", to->Input(2)}});
  }

  static void Transpose(StepMaker* to) {
    std::vector<int64_t> axes = to->node_.Integers("perm");
    const bool given = !axes.empty();
    to->Call("transpose", {{"a", to->Input(0)}},
             {{"axes", given ? kMXAccList : kMXAccNoValue, 0, axes}});
  }

  static void Concat(StepMaker* to) {
    std::vector<Argument> parts;
    for (size_t i = 0; i < to->node_.inputs.size(); ++i) {
      parts.push_back({"seq[" + std::to_string(i) + "]", to->Input(i)});
    }
    to->Call("concatenate", parts, {{"axis", kMXAccInteger, to->node_.Integer("axis", 0), {}}});
  }

  void Copy(size_t from, size_t to) {
    ModelStep step;
    step.inputs = {from};
    step.outputs = {to};
    steps_->steps_.push_back(std::move(step));
  }

  void Call(const std::string& op, const std::vector<Argument>& arguments,
            const std::vector<Attribute>& attributes = {}) {
    CallTo(Output(), op, arguments, attributes);
  }

  void CallTo(size_t output, const std::string& op, const std::vector<Argument>& arguments,
              const std::vector<Attribute>& attributes = {}) {
    ModelStep step;
    std::vector<MXTensor> inputs;
    std::deque<ModelValue> views;
    for (const Argument& argument : arguments) {
      ModelValue& view = views.emplace_back(Value(argument.value));
      if (argument.transposed) {
        if (view.shape.size() != 2) Unsupported(node_.op + " of other than matrices");
        std::swap(view.shape[0], view.shape[1]);
        std::swap(view.strides[0], view.strides[1]);
      }
      inputs.push_back(view.tensor());
      inputs.back().name = argument.name.c_str();
      step.inputs.push_back(argument.value);
    }
    MXTensor out = steps_->values_[output].tensor();
    step.outputs = {output};
    std::vector<MXAccAttribute> attrs;
    std::deque<std::vector<MXAccAttribute>> lists;
    for (const Attribute& attribute : attributes) {
      MXAccAttribute& made = attrs.emplace_back(Made(attribute.name, attribute.kind));
      made.integer = attribute.integer;
      made.size = static_cast<int64_t>(attribute.items.size());
      std::vector<MXAccAttribute>& items = lists.emplace_back();
      for (const int64_t item : attribute.items) {
        items.push_back(Made(nullptr, kMXAccInteger));
        items.back().integer = item;
      }
      made.items = items.data();
    }
    MXAccOperator asked{};
    asked.struct_size = sizeof(asked);
    asked.name = op.c_str();
    asked.inputs = inputs.data();
    asked.outputs = &out;
    asked.num_in = static_cast<int32_t>(inputs.size());
    asked.num_out = 1;
    asked.attrs = attrs.data();
    asked.num_attrs = static_cast<int32_t>(attrs.size());
    step.op = std::make_unique<Operator>(steps_->runtime_, asked);
    steps_->steps_.push_back(std::move(step));
  }

  static MXAccAttribute Made(const char* name, int32_t kind) {
    MXAccAttribute made{};
    made.struct_size = sizeof(made);
    made.name = name;
    made.kind = kind;
    return made;
  }

  ModelSteps* steps_;
  const GraphNode& node_;
};

ModelSteps::ModelSteps(const Graph& graph) : graph_(&graph), runtime_(FindRuntime()) {
  for (const GraphEntry& entry : graph.entries) NewValue(entry.dtype, entry.shape);
}

size_t ModelSteps::NewValue(MXAccDataType dtype, const std::vector<int64_t>& shape) {
  ModelValue& value = values_.emplace_back();
  value.dtype = dtype;
  value.shape = shape;
  value.strides = RowMajorStrides(shape);
  return values_.size() - 1;
}

void ModelSteps::Add(const GraphNode& node) { StepMaker(this, node).Make(); }

void ModelSteps::Negate(const GraphNode& node) { StepMaker(this, node).Negate(); }

void ModelSteps::Locate(const Graph& graph) {
  const auto locate = [&](int64_t entry, ModelValue::Where where, size_t index) {
    ModelValue& value = values_[static_cast<size_t>(entry)];
    if (value.where != ModelValue::Where::kNowhere) return false;
    value.where = where;
    value.index = index;
    return true;
  };
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    locate(graph.inputs[i], ModelValue::Where::kInput, i);
  }
  for (size_t i = 0; i < graph.weights.size(); ++i) {
    locate(graph.weights[i], ModelValue::Where::kWeight, i);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (locate(graph.outputs[i], ModelValue::Where::kOutput, i)) continue;
    // An input, a weight, or an output twice.
    const auto from = static_cast<size_t>(graph.outputs[i]);
    const size_t copy = NewValue(values_[from].dtype, values_[from].shape);
    locate(static_cast<int64_t>(copy), ModelValue::Where::kOutput, i);
    ModelStep step;
    step.inputs = {from};
    step.outputs = {copy};
    steps_.push_back(std::move(step));
  }
  for (ModelValue& value : values_) {
    if (value.where != ModelValue::Where::kNowhere || value.dtype.bits == 0) continue;
    value.where = ModelValue::Where::kWorkspace;
    value.index = workspace_bytes_;
    workspace_bytes_ += (value.bytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
}

}  // namespace refacc
