#include "rules.h"

#include <mxnet_acc.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "element.h"

namespace ovacc {
namespace {

using mxacc::Graph;
using mxacc::GraphEntry;
using mxacc::GraphNode;

/*! \brief Types of integers, as bits. */
enum : uint32_t { kInt8 = 1, kUInt8 = 2, kInt32 = 4, kInt64 = 8 };
constexpr uint32_t kNarrow = kInt8 | kUInt8 | kInt32;

/*! \brief The integers that an operator's first inputs and its outputs may be of. */
struct Integers {
  uint32_t in;
  uint32_t out;
  size_t inputs = 1; /*!< how many of the inputs; the others are indices, extents or of one type */
};

/*!
 * \brief The operators that are right for integers. OpenVINO's CPU has no int64, but takes the low
 * half of one; sums and products of bytes do not wrap there, and quotients and comparisons are
 * float32's. Numbers of elements and indices fit into int32, though. So do all int64 that a model
 * is given, or Model::Infer fails: what only moves or casts them is right.
 */
const std::map<std::string, Integers>& IntegerOperators() {
  static const auto* const operators = [] {
    auto* made = new std::map<std::string, Integers>{{"Shape", {kNarrow | kInt64, kInt64}},
                                                     {"Size", {kNarrow | kInt64, kInt64}},
                                                     {"ArgMax", {0, kInt64}},
                                                     {"ArgMin", {0, kInt64}},
                                                     {"NonZero", {0, kInt64}},
                                                     {"ConstantOfShape", {kInt64, kInt32}},
                                                     {"OneHot", {kInt32 | kInt64, kInt32}},
                                                     {"Cast", {kNarrow | kInt64, kInt32}}};
    constexpr uint32_t kAny = kNarrow | kInt64;
    for (const char* moves :
         {"Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape",
          "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"}) {
      made->insert({moves, {kAny, kAny}});
    }
    for (const char* moves_all : {"Concat", "Where"}) {
      made->insert({moves_all, {kAny, kAny, SIZE_MAX}});
    }
    for (const char* computes : {"Add", "Sub", "Mul", "Sum", "Max", "Min", "Abs", "Neg",
                                 "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"}) {
      made->insert({computes, {kInt32, kInt32}});
    }
    for (const char* compares : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
      made->insert({compares, {kInt8 | kUInt8, 0}});
    }
    for (const char* quantizes : {"QuantizeLinear", "DequantizeLinear", "QLinearConv",
                                  "QLinearMatMul", "ConvInteger", "MatMulInteger"}) {
      made->insert({quantizes, {kNarrow, kNarrow}});
    }
    return made;
  }();
  return *operators;
}

/*! \brief Why a node is not what ONNX says with its attributes; empty where it is. */
using Rule = std::string (*)(const GraphNode& node);

std::string Always(const GraphNode& node) {
  return node.op + " gives other results there than ONNX says";
}

/*! \brief Rows of nothing but infinities are what masks make: softmax of attention asks for them.
 */
std::string OfFiniteNumbers(const GraphNode&) {
  return "it begins with the extreme of finite numbers, and gives that for infinities and NaN";
}

std::string OfBatches(const GraphNode& node) {
  return node.Integer("layout", 0) == 0 ? "" : "layout 1 gives other results there";
}

std::string TextOf(const GraphNode& node, const char* key, const char* otherwise) {
  const mxacc::Json* found = node.Find(key);
  return found == nullptr || found->text.empty() ? otherwise : found->text;
}

const std::map<std::string, Rule>& Rules() {
  static const auto* const rules = new std::map<std::string, Rule>{
      {"BitShift", &Always},
      {"DFT", &Always},
      {"DynamicQuantizeLinear", &Always},
      {"NonMaxSuppression", &Always},
      {"GRU", &OfBatches},
      {"LSTM",
       [](const GraphNode& node) {
         const bool has_peepholes = node.inputs.size() > 7 && node.inputs[7] >= 0;
         return has_peepholes ? std::string("it leaves peepholes out") : OfBatches(node);
       }},
      {"RNN", &OfBatches},
      {"ReduceMax", &OfFiniteNumbers},
      {"ReduceMin", &OfFiniteNumbers},
      {"TopK", [](const GraphNode&) { return std::string("equal elements are in another order"); }},
      {"MaxPool",
       [](const GraphNode& node) {
         return std::string(node.Integer("ceil_mode", 0) == 0 ? ""
                                                              : "ceil_mode gives other extents");
       }},
      {"SpaceToDepth",
       [](const GraphNode& node) {
         return std::string(TextOf(node, "mode", "DCR") == "DCR" ? "" : "it knows no mode");
       }},
      {"RoiAlign",
       [](const GraphNode& node) {
         return std::string(TextOf(node, "mode", "avg") == "avg" ? ""
                                                                 : "its maximum is another one");
       }},
      {"Resize",
       [](const GraphNode& node) {
         const bool is_known =
             node.Integer("antialias", 0) == 0 && node.Integer("exclude_outside", 0) == 0 &&
             TextOf(node, "keep_aspect_ratio_policy", "stretch") == "stretch" &&
             TextOf(node, "coordinate_transformation_mode", "half_pixel") != "align_corners";
         return std::string(is_known ? "" : "these attributes give other results there");
       }},
      {"Attention", [](const GraphNode& node) {
         if (node.Integer("left_window_size", -1) >= 0 ||
             node.Integer("right_window_size", -1) >= 0) {
           return std::string("it knows no windows");
         }
         const bool is_causal = node.Integer("is_causal", 0) != 0;
         if (is_causal && node.inputs.size() > 6 && node.inputs[6] >= 0) {
           return std::string("rows that see no key get the mean of all");
         }
         const bool gives_products = node.outputs.size() > 3 && is_causal;
         return std::string(gives_products ? "it gives other products of causal attention" : "");
       }}};
  return *rules;
}

uint32_t IntegerBit(MXAccDataType dtype) {
  if (dtype.code == kMXAccUInt && dtype.bits == 8) return kUInt8;
  if (dtype.code != kMXAccInt) return 0;
  if (dtype.bits == 8) return kInt8;
  return dtype.bits == 32 ? kInt32 : kInt64;
}

/*! \brief Whether OpenVINO's CPU computes in another type than this, whatever is done with it. */
bool IsReplaced(MXAccDataType dtype) {
  const bool is_integer = dtype.code == kMXAccInt || dtype.code == kMXAccUInt;
  if (!is_integer) return dtype.code == kMXAccFloat && dtype.bits == 64;
  return dtype.bits == 16 || (dtype.code == kMXAccUInt && dtype.bits > 16);
}

/*! \brief Whether an entry is a weight of int64 with numbers that OpenVINO's CPU replaces. */
bool HasWide(const GraphEntry& value) {
  if (value.weight == nullptr || IntegerBit(value.dtype) != kInt64) return false;
  const MXAccDLTensor& tensor = value.weight->tensor;
  const auto* data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  const auto count = static_cast<size_t>(mxacc::BytesOf(value)) / sizeof(int64_t);
  return FindWide(reinterpret_cast<const int64_t*>(data), count) != nullptr;
}

}  // namespace

std::string FindRejection(const Graph& graph, const GraphNode& node) {
  const auto entry = [&](int64_t position) -> const GraphEntry& {
    return graph.entries[static_cast<size_t>(position)];
  };
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const int64_t position : *list) {
      if (position < 0) continue;
      const GraphEntry& value = entry(position);
      if (FindElement(value.dtype) == nullptr || IsReplaced(value.dtype)) {
        return "'" + value.name + "' is of a type that OpenVINO does not compute in";
      }
      if (std::count(value.shape.begin(), value.shape.end(), 0) != 0) {
        return "'" + value.name + "' has no elements";
      }
    }
  }
  if (node.op == "Tile" && entry(node.inputs.at(1)).weight == nullptr) {
    return "it repeats as often as a weight says";
  }
  if (node.op == "Cast" && entry(node.outputs.at(0)).dtype.code == kMXAccBool &&
      IntegerBit(entry(node.inputs.at(0)).dtype) == kInt32) {
    return "it makes false of the least integer";
  }
  const auto rule = Rules().find(node.op);
  const std::string reason = rule == Rules().end() ? "" : rule->second(node);
  if (!reason.empty()) return reason;
  const auto found = IntegerOperators().find(node.op);
  const Integers integers = found == IntegerOperators().end() ? Integers{0, 0} : found->second;
  const auto is_wrong = [&](int64_t position, uint32_t right) {
    return position >= 0 && (IntegerBit(entry(position).dtype) & ~right) != 0;
  };
  bool wrong = std::any_of(node.outputs.begin(), node.outputs.end(),
                           [&](int64_t position) { return is_wrong(position, integers.out); });
  for (size_t i = 0; i < std::min(integers.inputs, node.inputs.size()); ++i) {
    const int64_t position = node.inputs[i];
    wrong = wrong || is_wrong(position, integers.in);
    if (position >= 0 && HasWide(entry(position))) {
      return "'" + entry(position).name + "' has integers that OpenVINO replaces";
    }
  }
  return wrong ? "OpenVINO computes " + node.op + " of these integers in another type" : "";
}

}  // namespace ovacc
