#include "graph.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "../status.h"
#include "../tensor.h"

namespace mxacc {
namespace {

using Kind = Json::Kind;

[[noreturn]] void Reject(const std::string& why) {
  throw Failure(kMXAccBadArgument, "the graph " + why);
}

MXAccDataType TypeOf(const std::string& name) {
  const auto lanes = uint16_t{1};
  if (name == "bool") return {kMXAccBool, 8, lanes};
  const struct {
    const char* prefix;
    uint8_t code;
  } kinds[] = {{"int", kMXAccInt},
               {"uint", kMXAccUInt},
               {"float", kMXAccFloat},
               {"bfloat", kMXAccBfloat},
               {"complex", kMXAccComplex}};
  const size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  for (const auto& kind : kinds) {
    if (name.substr(0, digits) != kind.prefix) continue;
    const std::string bits = name.substr(digits);
    for (const char* known : {"8", "16", "32", "64", "128"}) {
      if (bits == known) return {kind.code, static_cast<uint8_t>(std::atoi(known)), lanes};
    }
  }
  return {};
}

std::vector<int64_t> Positions(const Json& list, size_t entries, bool may_be_null) {
  std::vector<int64_t> positions;
  for (const Json& item : list.items) {
    if (item.kind == Kind::kNull && may_be_null) {
      positions.push_back(-1);
      continue;
    }
    const bool is_right =
        item.kind == Kind::kInt && item.integer >= 0 && static_cast<size_t>(item.integer) < entries;
    if (!is_right) Reject("names an entry that it does not have");
    positions.push_back(item.integer);
  }
  return positions;
}

template <typename T>
bool Has(const std::vector<T>& list, int32_t count) {
  return static_cast<size_t>(count) == list.size();
}

GraphEntry ReadEntry(const Json& json) {
  GraphEntry entry;
  const Json* name = json.Find("name");
  if (name != nullptr) entry.name = name->text;
  entry.dtype = TypeOf(json.At("dtype", Kind::kText).text);
  for (const Json& extent : json.At("shape", Kind::kArray).items) {
    entry.shape.push_back(extent.kind == Kind::kInt ? extent.integer : -1);
  }
  return entry;
}

GraphNode ReadNode(const Json& json, size_t entries) {
  GraphNode node;
  node.id = json.At("id", Kind::kInt).integer;
  node.op = json.At("operator", Kind::kText).text;
  node.version = json.At("version", Kind::kInt).integer;
  node.attributes = json.At("attributes", Kind::kObject);
  node.inputs = Positions(json.At("inputs", Kind::kArray), entries, true);
  node.outputs = Positions(json.At("outputs", Kind::kArray), entries, true);
  node.has_subgraphs = json.Find("subgraphs") != nullptr;
  return node;
}

/*! \brief What the host gives of a weight is what the JSON says of it, and row-major. */
void CheckWeight(const GraphEntry& entry, const MXAccDLTensor& given) {
  const bool is_right =
      std::equal(entry.shape.begin(), entry.shape.end(), given.shape, given.shape + given.ndim) &&
      (entry.dtype.bits == 0 || SameType(entry.dtype, given.dtype)) && IsRowMajor(given);
  if (!is_right) {
    Reject("has a weight '" + entry.name + "', " + SpecText(given) +
           ", that is something else in its JSON, or not row-major");
  }
}

/*! \brief An entry has one origin: it is an input, a weight, or an output of one node. */
void CheckOrigins(const Graph& graph) {
  std::vector<bool> has_origin(graph.entries.size());
  const auto add = [&](const std::vector<int64_t>& entries) {
    for (const int64_t entry : entries) {
      if (entry < 0) continue;
      if (has_origin[static_cast<size_t>(entry)]) Reject("has an entry of two origins");
      has_origin[static_cast<size_t>(entry)] = true;
    }
  };
  add(graph.inputs);
  add(graph.weights);
  for (const GraphNode& node : graph.nodes) add(node.outputs);
}

}  // namespace

bool GraphEntry::is_static() const {
  return std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent >= 0; });
}

int64_t GraphNode::Integer(const char* key, int64_t otherwise) const {
  const Json* found = Find(key);
  return found == nullptr || found->kind != Kind::kInt ? otherwise : found->integer;
}

double GraphNode::Number(const char* key, double otherwise) const {
  const Json* found = Find(key);
  const bool is_number =
      found != nullptr && (found->kind == Kind::kInt || found->kind == Kind::kFloat);
  return is_number ? found->real : otherwise;
}

std::vector<int64_t> GraphNode::Integers(const char* key) const {
  std::vector<int64_t> integers;
  const Json* found = Find(key);
  if (found == nullptr) return integers;
  for (const Json& item : found->items) integers.push_back(item.integer);
  return integers;
}

double BytesOf(const GraphEntry& entry) {
  double bytes = entry.dtype.bits / 8.0;
  for (const int64_t extent : entry.shape) bytes *= static_cast<double>(extent);
  return bytes;
}

double BytesOf(const Graph& graph, const GraphNode& node) {
  double bytes = 0;
  for (const std::vector<int64_t>* list : {&node.inputs, &node.outputs}) {
    for (const int64_t position : *list) {
      if (position < 0) continue;
      const GraphEntry& entry = graph.entries[static_cast<size_t>(position)];
      if (entry.is_static()) bytes += BytesOf(entry);
    }
  }
  return bytes;
}

Graph ReadGraph(const char* text) {
  const Json json = ReadJson(text);
  Graph graph;
  for (const Json& entry : json.At("entries", Kind::kArray).items) {
    graph.entries.push_back(ReadEntry(entry));
  }
  const size_t entries = graph.entries.size();
  graph.inputs = Positions(json.At("inputs", Kind::kArray), entries, false);
  graph.weights = Positions(json.At("weights", Kind::kArray), entries, false);
  graph.outputs = Positions(json.At("outputs", Kind::kArray), entries, false);
  for (const Json& node : json.At("nodes", Kind::kArray).items) {
    graph.nodes.push_back(ReadNode(node, entries));
  }
  CheckOrigins(graph);
  return graph;
}

void GiveWeights(const MXTensor* weights, int32_t num_weights, Graph* graph) {
  if (!Has(graph->weights, num_weights)) Reject("has another number of weights than its JSON");
  for (size_t i = 0; i < graph->weights.size(); ++i) {
    GraphEntry& entry = graph->entries[static_cast<size_t>(graph->weights[i])];
    CheckWeight(entry, weights[i].tensor);
    entry.weight = weights + i;
  }
}

std::vector<size_t> FindWeights(const Graph& graph, const MXTensor* weights, int32_t count) {
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < graph.weights.size(); ++i) {
    numbers.emplace(graph.entries[static_cast<size_t>(graph.weights[i])].name, i);
  }
  std::vector<size_t> found;
  for (int32_t i = 0; i < count; ++i) {
    const std::string name = weights[i].name == nullptr ? "" : weights[i].name;
    const auto number = numbers.find(name);
    if (number == numbers.end()) {
      throw Failure(kMXAccBadArgument, "updateWeights: the graph has no weight '" + name + "'");
    }
    const auto entry = static_cast<size_t>(graph.weights[number->second]);
    CheckWeight(graph.entries[entry], weights[i].tensor);
    found.push_back(number->second);
  }
  return found;
}

Graph ReadGraph(const MXAccGraph& given) {
  if (given.version > MXACC_GRAPH_VERSION) {
    throw Failure(kMXAccUnsupported, "a graph of version " + std::to_string(given.version) +
                                         ", this knows " + std::to_string(MXACC_GRAPH_VERSION));
  }
  Graph graph = ReadGraph(given.json);
  GiveWeights(given.data + given.num_inputs, given.num_data - given.num_inputs, &graph);
  const bool is_right = Has(graph.inputs, given.num_inputs) &&
                        Has(graph.outputs, given.num_outputs) && Has(graph.nodes, given.num_nodes);
  if (graph.outputs.empty()) Reject("has no outputs");
  if (!is_right) Reject("has other numbers of inputs, outputs or nodes than its JSON");
  return graph;
}

}  // namespace mxacc
