#include "onnx_graph.h"

#include <map>
#include <numeric>
#include <set>

#include "../sdk/status.h"
#include "element.h"
#include "wire.h"

namespace ovacc {
namespace {

using mxacc::Failure;
using mxacc::GraphEntry;
using mxacc::GraphNode;

/*! \brief The numbers that ONNX's onnx.proto gives to fields. */
enum ModelField : uint32_t { kModelGraph = 7 };
enum GraphField : uint32_t {
  kGraphNode = 1,
  kGraphName = 2,
  kGraphInitializer = 5,
  kGraphInput = 11,
  kGraphOutput = 12
};
enum TensorField : uint32_t {
  kTensorDims = 1,
  kTensorType = 2,
  kTensorName = 8,
  kTensorRawData = 9
};
enum ValueField : uint32_t { kValueName = 1, kValueType = 2 };
enum TypeField : uint32_t { kTypeTensor = 1, kTensorTypeElement = 1, kTensorTypeShape = 2 };
enum ShapeField : uint32_t { kShapeExtent = 1, kExtentValue = 1 };

/*! \brief Bytes up to which OpenVINO is told a weight when it is only asked: shapes, axes. */
constexpr size_t kSmallWeight = 4096;

size_t BytesOf(const MXTensor& weight) {
  size_t bytes = weight.tensor.dtype.bits / 8;
  for (int32_t i = 0; i < weight.tensor.ndim; ++i) {
    bytes *= static_cast<size_t>(weight.tensor.shape[i]);
  }
  return bytes;
}

const Element& ElementOf(const GraphEntry& entry) {
  const Element* element = FindElement(entry.dtype);
  if (element != nullptr) return *element;
  throw Failure(kMXAccUnsupported, "'" + entry.name + "' is of a type that OpenVINO does not have");
}

/*! \brief Whether the results of a node are elements that were not there before, whatever its
 * weights are. */
bool ComputesAnew(const GraphNode& node, size_t varying_inputs) {
  static const auto* const always = new std::set<std::string>{
      "Conv", "ConvTranspose", "Gemm",       "MatMul", "LSTM", "GRU",  "RNN",  "Relu",
      "Elu",  "Gelu",          "HardSwish",  "Erf",    "Exp",  "Log",  "Sqrt", "Sigmoid",
      "Tanh", "Softmax",       "LogSoftmax", "Neg",    "Not",  "Equal"};
  static const auto* const of_two =
      new std::set<std::string>{"Add", "Sub", "Mul", "Div", "Pow", "Concat"};
  return always->count(node.op) != 0 || (varying_inputs > 1 && of_two->count(node.op) != 0);
}

}  // namespace

OnnxGraph::OnnxGraph(const MXAccGraph& graph) : graph_(mxacc::ReadGraph(graph)) {
  if (graph.onnx == nullptr) throw Failure(kMXAccUnsupported, "a graph without its ONNX model");
  std::string_view inner;
  Field field;
  FieldReader model({static_cast<const char*>(graph.onnx), graph.onnx_size});
  while (model.Next(&field)) {
    if (field.number == kModelGraph) {
      inner = field.payload;
    } else {
      head_.append(field.whole);
    }
  }
  FieldReader reader(inner);
  while (reader.Next(&field)) {
    if (field.number == kGraphNode) nodes_.push_back(field.whole);
  }
  if (nodes_.size() != graph_.nodes.size()) {
    throw Failure(kMXAccBadArgument, "the graph has " + std::to_string(graph_.nodes.size()) +
                                         " nodes in its JSON, and " +
                                         std::to_string(nodes_.size()) + " in its ONNX model");
  }
}

void OnnxGraph::WriteValue(uint32_t field, int64_t entry, std::string* out) const {
  const GraphEntry& value = graph_.entries[static_cast<size_t>(entry)];
  std::string shape;
  for (const int64_t extent : value.shape) {
    std::string known;
    if (extent >= 0) WriteNumber(kExtentValue, static_cast<uint64_t>(extent), &known);
    WriteBytes(kShapeExtent, known, &shape);
  }
  std::string tensor;
  WriteNumber(kTensorTypeElement, static_cast<uint64_t>(ElementOf(value).onnx), &tensor);
  WriteBytes(kTensorTypeShape, shape, &tensor);
  std::string type;
  WriteBytes(kTypeTensor, tensor, &type);
  std::string written;
  WriteBytes(kValueName, value.name, &written);
  WriteBytes(kValueType, type, &written);
  WriteBytes(field, written, out);
}

void OnnxGraph::WriteWeight(int64_t entry, std::string* out) const {
  const GraphEntry& value = graph_.entries[static_cast<size_t>(entry)];
  const MXTensor& weight = *value.weight;
  std::string head;
  for (int32_t i = 0; i < weight.tensor.ndim; ++i) {
    WriteNumber(kTensorDims, static_cast<uint64_t>(weight.tensor.shape[i]), &head);
  }
  WriteNumber(kTensorType, static_cast<uint64_t>(ElementOf(value).onnx), &head);
  WriteBytes(kTensorName, value.name, &head);
  const size_t bytes = BytesOf(weight);
  WriteLength(kTensorRawData, bytes, &head);
  WriteLength(kGraphInitializer, head.size() + bytes, out);
  out->append(head);
  if (bytes == 0) return;
  out->append(static_cast<const char*>(weight.tensor.data) + weight.tensor.byte_offset, bytes);
}

std::string OnnxGraph::WithHead(const std::string& graph) const {
  std::string model;
  model.reserve(head_.size() + graph.size() + 16);
  model = head_;
  WriteBytes(kModelGraph, graph, &model);
  return model;
}

std::string OnnxGraph::Model() const {
  size_t size = 0;
  for (const std::string_view node : nodes_) size += node.size();
  for (const int64_t entry : graph_.weights) {
    size += BytesOf(*graph_.entries[static_cast<size_t>(entry)].weight) + 256;
  }
  std::string graph;
  graph.reserve(size);
  WriteBytes(kGraphName, "graph", &graph);
  for (const std::string_view node : nodes_) graph.append(node);
  for (const int64_t entry : graph_.weights) WriteWeight(entry, &graph);
  for (const int64_t entry : graph_.inputs) WriteValue(kGraphInput, entry, &graph);
  for (const int64_t entry : graph_.outputs) WriteValue(kGraphOutput, entry, &graph);
  return WithHead(graph);
}

std::string OnnxGraph::ModelOf(const std::vector<size_t>& nodes) const {
  std::set<int64_t> made;
  std::set<int64_t> used;
  std::string graph;
  WriteBytes(kGraphName, "graph", &graph);
  for (const size_t position : nodes) {
    const GraphNode& node = graph_.nodes[position];
    made.insert(node.outputs.begin(), node.outputs.end());
    used.insert(node.inputs.begin(), node.inputs.end());
    graph.append(nodes_[position]);
  }
  made.erase(-1);
  used.erase(-1);
  for (const int64_t entry : used) {
    if (made.count(entry) != 0) continue;
    const MXTensor* weight = graph_.entries[static_cast<size_t>(entry)].weight;
    if (weight != nullptr && BytesOf(*weight) <= kSmallWeight) {
      WriteWeight(entry, &graph);
    } else {
      WriteValue(kGraphInput, entry, &graph);
    }
  }
  for (const int64_t entry : made) {
    if (used.count(entry) == 0) WriteValue(kGraphOutput, entry, &graph);
  }
  return WithHead(graph);
}

std::vector<uint8_t> OnnxGraph::SharedOutputs() const {
  std::vector<size_t> same(graph_.entries.size());  // the first that it may be the same as
  std::iota(same.begin(), same.end(), size_t{0});
  for (const GraphNode& node : graph_.nodes) {
    std::set<size_t> sources;
    for (const int64_t entry : node.inputs) {
      const auto position = static_cast<size_t>(entry);
      if (entry < 0 || graph_.entries[position].weight != nullptr) continue;
      sources.insert(same[position]);
    }
    if (sources.empty() || ComputesAnew(node, sources.size())) continue;
    const size_t first = *sources.begin();
    for (size_t& other : same) {
      if (sources.size() > 1 && sources.count(other) != 0) other = first;
    }
    for (const int64_t entry : node.outputs) {
      if (entry >= 0) same[static_cast<size_t>(entry)] = first;
    }
  }
  std::map<size_t, int> uses;
  for (const int64_t entry : graph_.inputs) ++uses[same[static_cast<size_t>(entry)]];
  for (const int64_t entry : graph_.outputs) ++uses[same[static_cast<size_t>(entry)]];
  std::vector<uint8_t> shared;
  for (const int64_t entry : graph_.outputs) {
    shared.push_back(uses[same[static_cast<size_t>(entry)]] > 1 ? 1 : 0);
  }
  return shared;
}

}  // namespace ovacc
