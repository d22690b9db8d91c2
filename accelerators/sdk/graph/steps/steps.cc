#include "steps.h"

#include <utility>

#include "../../status.h"
#include "../../tensor.h"
#include "../rules/node_steps.h"

namespace mxacc {
namespace {

/*! \brief What the steps mean; see MXAccOperator::operator_set. */
constexpr int32_t kOperatorSet = 1;

MXAccAttribute Made(const char* name, int32_t kind) {
  MXAccAttribute made{};
  made.struct_size = sizeof(made);
  made.name = name;
  made.kind = kind;
  return made;
}

MXAccAttribute Made(const Attribute& attribute) {
  MXAccAttribute made = Made(attribute.name, attribute.kind);
  made.integer = attribute.integer;
  made.number = attribute.number;
  made.dtype = attribute.dtype;
  if (!attribute.text.empty()) {
    made.text = attribute.text.c_str();
    made.size = static_cast<int64_t>(attribute.text.size());
  }
  return made;
}

}  // namespace

Attribute Attribute::None(const char* name) { return {name}; }

Attribute Attribute::Flag(const char* name, bool value) {
  return {name, kMXAccBoolean, value ? 1 : 0};
}

Attribute Attribute::Integer(const char* name, int64_t value) {
  return {name, kMXAccInteger, value, static_cast<double>(value)};
}

Attribute Attribute::Number(const char* name, double value) {
  return {name, kMXAccNumber, 0, value};
}

Attribute Attribute::Integers(const char* name, Extents items) {
  return {name, kMXAccList, 0, 0, std::move(items)};
}

Attribute Attribute::Text(const char* name, const char* text) {
  return {name, kMXAccText, 0, 0, {}, text};
}

Attribute Attribute::Type(const char* name, MXAccDataType dtype) {
  return {name, kMXAccType, 0, 0, {}, NameOfType(dtype), dtype};
}

StepRequest::StepRequest(const Step& step, int32_t dev_id) : output_(step.output.tensor()) {
  for (const Argument& argument : step.inputs) {
    inputs_.push_back(argument.value.tensor());
    inputs_.back().name = argument.name.c_str();
  }
  for (const Attribute& attribute : step.attributes) {
    MXAccAttribute& made = attributes_.emplace_back(Made(attribute));
    if (attribute.kind != kMXAccList) continue;
    std::vector<MXAccAttribute>& items = items_.emplace_back();
    for (const int64_t item : attribute.items) {
      items.push_back(Made(Attribute::Integer(nullptr, item)));
    }
    made.items = items.data();
    made.integers = attribute.items.data();
    made.size = static_cast<int64_t>(attribute.items.size());
  }
  op_.struct_size = sizeof(op_);
  op_.name = step.op.c_str();
  op_.operator_set = kOperatorSet;
  op_.dev_id = dev_id;
  op_.inputs = inputs_.data();
  op_.outputs = &output_;
  op_.num_in = static_cast<int32_t>(inputs_.size());
  op_.num_out = 1;
  op_.attrs = attributes_.data();
  op_.num_attrs = static_cast<int32_t>(attributes_.size());
}

Steps::Steps(const Graph& graph)
    : graph_(graph), entries_(graph.entries.size()), deciding_(graph.entries.size()) {
  const auto add = [&](const std::vector<int64_t>& entries, Buffer::Kind kind) {
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto entry = static_cast<size_t>(entries[i]);
      const GraphEntry& spec = graph.entries[entry];
      if (spec.is_static()) entries_[entry] = NewValue(spec.dtype, spec.shape, kind, i);
    }
  };
  add(graph.inputs, Buffer::Kind::kInput);
  add(graph.weights, Buffer::Kind::kWeight);
}

void Steps::Add(const GraphNode& node) {
  const size_t first = steps_.size();
  try {
    NodeSteps(this, node).Make();
  } catch (const Failure&) {
    Drop(node, first);
    throw;
  }
}

void Steps::Drop(const GraphNode& node, size_t first) {
  steps_.resize(first);
  for (const int64_t entry : node.outputs) {
    if (entry >= 0) entries_[static_cast<size_t>(entry)].reset();
  }
}

Value Steps::Read(int64_t entry) {
  std::optional<Value>& value = entries_[static_cast<size_t>(entry)];
  const GraphEntry& spec = graph_.entries[static_cast<size_t>(entry)];
  if (!spec.is_static()) Unsupported(kDynamic);
  if (spec.dtype.bits == 0) Unsupported("a type of elements that it does not know");
  if (!value) value = NewValue(spec.dtype, spec.shape);
  return *value;
}

Value Steps::NewValue(MXAccDataType dtype, const Extents& shape) {
  return NewValue(dtype, shape, Buffer::Kind::kInner, 0);
}

Value Steps::NewValue(MXAccDataType dtype, const Extents& shape, Buffer::Kind kind, size_t index) {
  const Value value{buffers_.size(), 0, dtype, shape, RowMajorStrides(shape)};
  buffers_.push_back({kind, index, value.bytes()});
  return value;
}

void Steps::Copy(const Value& from, const Value& to) {
  if (to.is_row_major()) {
    return Append({"reshape", {{"a", from}}, {Attribute::Integers("shape", to.shape)}, to});
  }
  Append({"concatenate", {{"seq[0]", from}}, {Attribute::Integer("axis", 0)}, to});
}

void Steps::Give(int64_t entry, const Value& value) {
  entries_[static_cast<size_t>(entry)] = value;
}

void Steps::Finish() {
  std::vector<bool> is_written(buffers_.size());
  for (const Step& step : steps_) {
    for (const Argument& argument : step.inputs) {
      const Buffer& buffer = buffers_[argument.value.buffer];
      if (buffer.kind == Buffer::Kind::kInner && !is_written[argument.value.buffer]) {
        throw Failure(kMXAccBadArgument, "the graph has a node whose input nothing gives");
      }
    }
    is_written[step.output.buffer] = true;
  }
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const Value value = Read(graph_.outputs[i]);
    Buffer& buffer = buffers_[value.buffer];
    const bool is_whole = value.is_row_major() && value.bytes() == buffer.bytes;
    if (buffer.kind == Buffer::Kind::kInner) {
      if (value.buffer >= is_written.size() || !is_written[value.buffer]) {
        throw Failure(kMXAccBadArgument, "the graph has an output that nothing gives");
      }
      if (is_whole) {
        buffer.kind = Buffer::Kind::kOutput;
        buffer.index = i;
        outputs_.push_back(value);
        continue;
      }
    }
    // An input, a weight, a part of something, or an output twice.
    const Value copy = NewValue(value.dtype, value.shape, Buffer::Kind::kOutput, i);
    Copy(value, copy);
    outputs_.push_back(copy);
  }
}

}  // namespace mxacc
