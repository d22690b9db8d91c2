#include "lowering.h"

#include <algorithm>

namespace onednn {
namespace {

using Where = ModelMemory::Where;
using mxnet::onednn::SizeOf;
using mxnet::runtime::kFloat32;

/*! \brief More make kernels slower than a pass of their own would be. */
constexpr size_t kMostPosts = 4;

size_t BytesOf(const Shape& shape) { return static_cast<size_t>(SizeOf(shape)) * sizeof(float); }

const char* FirstByte(const MXTensor& tensor) {
  return static_cast<const char*>(tensor.tensor.data) + tensor.tensor.byte_offset;
}

void CheckFloat(const GraphEntry& entry) {
  if (entry.dtype.code != kMXAccFloat || entry.dtype.bits != 32) {
    Unsupported("a tensor of other elements than float32");
  }
  if (SizeOf(entry.shape) == 0) Unsupported("a tensor without elements");
}

/*! \brief What makers and oneDNN throw becomes a Failure, of what is not done here. */
template <typename Body>
void Translate(Body&& body) {
  try {
    body();
  } catch (const mxnet::runtime::Error& error) {
    const bool is_memory = error.kind() == "MemoryError";
    throw Failure(is_memory ? kMXAccOutOfMemory : kMXAccUnsupported, error.message());
  } catch (const dnnl::error& error) {
    Unsupported(std::string("oneDNN: ") + error.what());
  }
}

/*! \brief All rules, by operator. */
const std::map<std::string, const Rule*>& RuleTable() {
  static const auto* table = [] {
    auto* all = new std::map<std::string, const Rule*>;
    for (const Rules& family : {ElementRules(), MovementRules(), NormalizationRules(),
                                ProductRules(), RecurrentRules(), WindowRules()}) {
      for (size_t i = 0; i < family.size; ++i) all->emplace(family.rules[i].op, &family.rules[i]);
    }
    return all;
  }();
  return *table;
}

}  // namespace

const Rule& RuleOf(const GraphNode& node) {
  const auto found = RuleTable().find(node.op);
  if (found == RuleTable().end()) Unsupported("there is no rule for it");
  if (node.version < found->second->since) {
    Unsupported("its version " + std::to_string(node.version) + "; there is a rule for " +
                std::to_string(found->second->since) + " and later ones");
  }
  return *found->second;
}

std::string NodeNames() {
  std::string names;
  for (const auto& [name, rule] : RuleTable()) names += (names.empty() ? "" : ",") + name;
  return names;
}

/* ---- Lowering ---- */

Lowering::Lowering(const Graph& graph, bool asks, bool keeps_nan)
    : graph_(graph), asks_(asks), keeps_nan_(keeps_nan) {
  if (asks) return;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Shape& shape = entry(graph.inputs[i]).shape;
    Give(graph.inputs[i], {shape, {}, NewMemory(Where::kInput, i, BytesOf(shape))});
  }
  for (const GraphNode& node : graph.nodes) {
    for (const int64_t input : node.inputs) {
      if (input >= 0) users_[input].push_back(&node);
    }
  }
  for (const int64_t output : graph.outputs) users_[output].push_back(nullptr);
}

size_t Lowering::NewMemory(Where where, size_t index, size_t bytes) {
  memories_.push_back({where, index, bytes});
  return memories_.size() - 1;
}

bool Lowering::Has(int64_t position) const {
  return asks_ || values_.count(position) != 0 || entry(position).weight != nullptr;
}

Value Lowering::Read(int64_t position) {
  const auto found = values_.find(position);
  if (found != values_.end()) return found->second;
  const GraphEntry& read = entry(position);
  const size_t bytes = BytesOf(read.shape);
  Value value{read.shape, {}, 0};
  if (read.weight != nullptr && !asks_) {
    mxnet::onednn::Buffer copy(bytes);
    std::copy_n(FirstByte(*read.weight), bytes, static_cast<char*>(copy.data()));
    constants_.push_back({std::move(copy), FirstByte(*read.weight)});
    value.memory = NewMemory(Where::kConstant, constants_.size() - 1, bytes);
  } else if (asks_) {
    value.memory = NewMemory(Where::kInput, 0, bytes);
  } else {
    throw Failure(kMXAccBadArgument, "an entry is read before a node has written it");
  }
  Give(position, value);
  return value;
}

Value Lowering::Brought(const Value& value, const MaybeLayout& layout) {
  if (value.layout == layout) return value;
  std::vector<std::pair<Value, Value>>& known = brought_[value.memory];
  for (const auto& [from, to] : known) {
    if (from.shape == value.shape && from.layout == value.layout && to.layout == layout) return to;
  }
  const mxnet::onednn::Input input{value.shape, kFloat32, value.layout, false};
  Value made = Run(mxnet::onednn::MakeReorder(input, layout, std::nullopt), {value}).at(0);
  made.shape = value.shape;
  brought_[value.memory].emplace_back(value, made);
  return made;
}

std::vector<Value> Lowering::Run(Primitive made, const std::vector<Value>& inputs) {
  ModelStep step{std::move(made), {}, {}, node_};
  const Primitive& primitive = step.primitive;
  if (inputs.size() != primitive.inputs.size()) {
    throw Failure(kMXAccFailed, primitive.name + " takes " +
                                    std::to_string(primitive.inputs.size()) + " inputs, given " +
                                    std::to_string(inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    step.inputs.push_back(Brought(inputs[i], primitive.input_layouts[i]).memory);
  }
  std::vector<Value> results;
  for (size_t i = 0; i < primitive.outputs.size(); ++i) {
    const auto& output = primitive.outputs[i];
    const size_t bytes = output.bytes != 0 ? output.bytes : BytesOf(output.shape);
    results.push_back(
        {output.shape, primitive.output_layouts[i], NewMemory(Where::kWorkspace, 0, bytes)});
    step.outputs.push_back(results.back().memory);
  }
  steps_.push_back(std::move(step));
  return results;
}

const GraphNode* Lowering::OnlyUser(int64_t position) const {
  const auto found = users_.find(position);
  return found == users_.end() || found->second.size() != 1 ? nullptr : found->second[0];
}

void Lowering::TakeBack(const Mark& mark) {
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(mark.steps), steps_.end());
  memories_.resize(mark.memories, {Where::kInput, 0, 0});
  constants_.erase(constants_.begin() + static_cast<std::ptrdiff_t>(mark.constants),
                   constants_.end());
  for (auto at = values_.begin(); at != values_.end();) {
    at = at->second.memory >= mark.memories ? values_.erase(at) : std::next(at);
  }
  for (auto& [memory, known] : brought_) {
    known.erase(std::remove_if(known.begin(), known.end(),
                               [&](const auto& pair) {
                                 return pair.second.memory >= mark.memories ||
                                        pair.first.memory >= mark.memories;
                               }),
                known.end());
  }
}

bool Lowering::Try(const GraphNode& node, const Attempt& attempt, bool is_last) {
  NodeLowering to(this, node, attempt.fuses, attempt.keeps_layouts);
  RuleOf(node).lower(&to);
  if (!to.reference().empty()) {
    if (asks_) Unsupported("oneDNN has but code for reference: " + to.reference());
    if (!is_last) return false;
  }
  done_.insert(to.taken().begin(), to.taken().end());
  return true;
}

void Lowering::Add(const GraphNode& node) {
  if (done_.count(&node) != 0) return;
  // What is fused, or comes in blocks, may leave oneDNN without fast code: then it is done apart.
  static constexpr Attempt kAttempts[] = {{true, true}, {true, false}, {false, false}};
  const Mark before = Now();
  node_ = node.id;
  for (const Attempt& attempt : kAttempts) {
    const bool is_last = asks_ || &attempt == std::end(kAttempts) - 1;
    try {
      bool is_done = false;
      Translate([&] { is_done = Try(node, attempt, is_last); });
      if (is_done) return;
    } catch (const Failure& failure) {
      if (is_last || failure.code() != kMXAccUnsupported) {
        throw Failure(failure.code(), failure.what(), 0, node.id);
      }
    }
    TakeBack(before);
  }
}

void Lowering::BindOutput(size_t index) {
  const Value value = Brought(Read(graph_.outputs[index]), std::nullopt);
  ModelMemory& memory = memories_[value.memory];
  const size_t bytes = BytesOf(value.shape);
  if (memory.where == Where::kWorkspace && memory.bytes == bytes) {
    memory.where = Where::kOutput;
    memory.index = index;
    return;
  }
  // An input, a weight, an output twice.
  const mxnet::onednn::Input input{value.shape, kFloat32, std::nullopt, false};
  const Value copy =
      Run(mxnet::onednn::MakeReorder(input, std::nullopt, std::nullopt), {value}).at(0);
  memories_[copy.memory].where = Where::kOutput;
  memories_[copy.memory].index = index;
}

Model Lowering::Compile() {
  for (const GraphNode& node : graph_.nodes) Add(node);
  node_ = 0;
  Translate([&] {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) BindOutput(i);
  });
  std::vector<ModelWeight> weights;
  for (const int64_t position : graph_.weights) {
    const GraphEntry& weight = entry(position);
    weights.push_back(
        {FirstByte(*weight.weight), BytesOf(weight.shape), deciding_.count(position) != 0});
  }
  return Model(std::move(memories_), std::move(steps_), std::move(constants_), std::move(weights));
}

/* ---- NodeLowering ---- */

NodeLowering::NodeLowering(Lowering* lowering, const GraphNode& node, bool fuses,
                           bool keeps_layouts)
    : lowering_(lowering), node_(node), fuses_(fuses), keeps_layouts_(keeps_layouts) {
  if (node.outputs.empty() || node.outputs.size() > RuleOf(node).most_outputs) {
    Unsupported("more than one output");
  }
  for (const int64_t output : node.outputs) {
    if (output >= 0) CheckFloat(lowering->entry(output));
  }
  output_ = node.outputs[0];
}

const Shape& NodeLowering::ShapeOf(size_t index) const {
  if (!Has(index)) Unsupported("its input " + std::to_string(index) + " is missing");
  return lowering_->entry(node_.inputs[index]).shape;
}

const Shape& NodeLowering::OutputShape() const { return lowering_->entry(node_.outputs[0]).shape; }

bool NodeLowering::IsWeight(size_t index) const {
  return Has(index) && lowering_->entry(node_.inputs[index]).weight != nullptr;
}

std::vector<int64_t> NodeLowering::Integers(size_t index) const {
  const GraphEntry& entry = lowering_->entry(node_.inputs[index]);
  if (entry.weight == nullptr || entry.dtype.code != kMXAccInt || entry.dtype.bits != 64) {
    Unsupported("its input " + std::to_string(index) + " is no weight of int64");
  }
  NoteDeciding(index);
  std::vector<int64_t> elements(static_cast<size_t>(SizeOf(entry.shape)));
  const char* bytes = FirstByte(*entry.weight);
  std::copy_n(bytes, elements.size() * sizeof(int64_t), reinterpret_cast<char*>(elements.data()));
  return elements;
}

float NodeLowering::Number(const GraphNode& node, size_t index) const {
  const GraphEntry& entry = lowering_->entry(node.inputs[index]);
  CheckFloat(entry);
  if (entry.weight == nullptr || SizeOf(entry.shape) != 1) {
    Unsupported("its input " + std::to_string(index) + " is no weight of one element");
  }
  lowering_->NoteDeciding(node.inputs[index]);
  float number = 0;
  std::copy_n(FirstByte(*entry.weight), sizeof(number), reinterpret_cast<char*>(&number));
  return number;
}

GivenOperand NodeLowering::OperandOf(int64_t position) {
  const GraphEntry& entry = lowering_->entry(position);
  CheckFloat(entry);
  if (entry.weight == nullptr) return Operand(lowering_->Read(position));
  const MXAccDLTensor& tensor = entry.weight->tensor;
  return mxnet::onednn::Constant{lowering_->asks() ? nullptr : FirstByte(*entry.weight),
                                 entry.shape, Shape(tensor.strides, tensor.strides + tensor.ndim),
                                 kFloat32};
}

GivenOperand NodeLowering::Operand(size_t index) {
  if (!Has(index)) Unsupported("its input " + std::to_string(index) + " is missing");
  return OperandOf(node_.inputs[index]);
}

std::optional<GivenOperand> NodeLowering::OptionalOperand(size_t index) {
  if (!Has(index)) return std::nullopt;
  return Operand(index);
}

GivenOperand NodeLowering::Operand(const Value& given) {
  const Value value = keeps_layouts_ ? given : lowering_->Brought(given, std::nullopt);
  fed_.push_back(value);
  return mxnet::onednn::Input{value.shape, kFloat32, value.layout, false};
}

std::optional<PostOp> NodeLowering::PostOpOf(const GraphNode& node) {
  if (node.outputs.size() != 1) return std::nullopt;
  if (std::optional<PostOp> post = ElementPostOp(*this, node)) return post;
  static const std::map<std::string, const char*> kBinary = {
      {"Add", "add"}, {"Mul", "mul"}, {"Sub", "sub"}, {"Div", "div"}};
  const auto kind = kBinary.find(node.op);
  if (kind == kBinary.end() || node.version < 7) return std::nullopt;
  const bool is_first = node.inputs[0] == output_;
  if (!is_first && (node.op == "Sub" || node.op == "Div")) return std::nullopt;
  const int64_t other = node.inputs[is_first ? 1 : 0];
  const bool keeps_shape =
      lowering_->entry(node.outputs[0]).shape == lowering_->entry(output_).shape;
  if (!keeps_shape || !lowering_->Has(other)) return std::nullopt;
  return PostOp{kind->second, {}, {}, OperandOf(other)};
}

GivenPostOps NodeLowering::Followers() {
  GivenPostOps posts;
  while (fuses_ && !lowering_->asks() && posts.size() < kMostPosts) {
    const GraphNode* next = lowering_->OnlyUser(output_);
    if (next == nullptr) break;
    std::optional<PostOp> post;
    try {
      post = PostOpOf(*next);
    } catch (const Failure&) {
      // It is left to its own rule, which says why.
    }
    if (!post) break;
    posts.push_back(std::move(*post));
    taken_.push_back(next);
    output_ = next->outputs[0];
  }
  return posts;
}

Value NodeLowering::Read(size_t index) {
  if (!Has(index)) Unsupported("its input " + std::to_string(index) + " is missing");
  CheckFloat(lowering_->entry(node_.inputs[index]));
  return lowering_->Read(node_.inputs[index]);
}

Value NodeLowering::Run(Primitive made) { return RunAll(std::move(made)).at(0); }

std::vector<Value> NodeLowering::RunAll(Primitive made) {
  if (made.is_reference) reference_ = made.implementation;
  std::vector<Value> results = lowering_->Run(std::move(made), fed_);
  fed_.clear();
  return results;
}

void NodeLowering::GiveAll(const std::vector<Value>& values) {
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    output_ = node_.outputs[i];
    if (output_ >= 0) Give(values.at(i));
  }
}

Value NodeLowering::Reshaped(const Value& value, const Shape& shape) {
  if (value.shape == shape) return value;
  if (SizeOf(shape) != SizeOf(value.shape)) Unsupported("a shape of other elements");
  return {shape, {}, lowering_->Brought(value, std::nullopt).memory};
}

Value NodeLowering::Permuted(const Value& value, const std::vector<int64_t>& axes) {
  if (value.shape.empty()) return value;
  const Layout lies =
      value.layout
          ? *value.layout
          : Layout(mxnet::onednn::PlainDesc(value.shape, mxnet::onednn::DType::f32), kFloat32);
  const Layout permuted = lies.Permuted(axes);
  const MaybeLayout layout = permuted.is_plain() ? MaybeLayout() : permuted;
  return {permuted.shape(), layout, value.memory};
}

void NodeLowering::Give(const Value& value) {
  const Shape& expected = lowering_->entry(output_).shape;
  if (value.shape == expected) return lowering_->Give(output_, value);
  if (SizeOf(value.shape) != SizeOf(expected)) {
    Unsupported("oneDNN gives the shape " + mxnet::onednn::Text(value.shape) + ", expected " +
                mxnet::onednn::Text(expected));
  }
  lowering_->Give(output_, Reshaped(value, expected));
}

}  // namespace onednn
