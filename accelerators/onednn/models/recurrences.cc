/*!
 * \file recurrences.cc
 * \brief Rules of recurrent layers: all steps of a sequence in one primitive.
 */
#include <algorithm>
#include <cctype>
#include <iterator>

#include "lowering.h"

namespace onednn {
namespace {

using mxnet::onednn::MakeRecurrent;
using mxnet::onednn::RecurrentArguments;
using Names = std::vector<std::string>;

/*! \brief Where inputs are among those of the operators. */
enum { kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeephole = 7 };

/*! \brief The activations of a node in small letters. */
Names ActivationsOf(const GraphNode& node) {
  Names names;
  const mxacc::Json* given = node.Find("activations");
  if (given == nullptr) return names;
  for (const mxacc::Json& item : given->items) {
    std::string& name = names.emplace_back(item.text);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return names;
}

/*! \brief Whether the activations are the usual ones, in all directions. */
bool AreUsual(const Names& given, const Names& usual) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] != usual[i % usual.size()]) return false;
  }
  return true;
}

void CheckUsual(NodeLowering* to) {
  const GraphNode& node = to->node();
  const auto has = [&](const char* name) {
    const mxacc::Json* found = node.Find(name);
    return found != nullptr && !found->items.empty();
  };
  if (node.Find("clip") != nullptr) Unsupported("clipped cells");
  if (node.Integer("layout", 0) != 0) Unsupported("batches first");
  if (to->Has(kLengths)) Unsupported("sequences of different lengths");
  if (has("activation_alpha") || has("activation_beta")) Unsupported("activations with numbers");
}

GivenOperand Weight(NodeLowering* to, size_t index) {
  if (!to->IsWeight(index)) Unsupported("weights that are computed");
  to->NoteDeciding(index);  // gates are put in another order
  return to->Operand(index);
}

void Layer(NodeLowering* to, const char* kind) {
  CheckUsual(to);
  const mxacc::Json* direction = to->node().Find("direction");
  const bool is_lstm = to->node().op == "LSTM";
  RecurrentArguments given{};
  given.kind = kind;
  given.direction = direction == nullptr ? "forward" : direction->text;
  given.x = to->Operand(size_t{kX});
  for (const size_t index : {size_t{kInitialH}, size_t{kInitialC}}) {
    if (to->IsWeight(index)) to->NoteDeciding(index);
  }
  given.initial_h = to->OptionalOperand(kInitialH);
  if (is_lstm) given.initial_c = to->OptionalOperand(kInitialC);
  given.weight = Weight(to, kW);
  given.recurrent = Weight(to, kR);
  if (to->Has(kB)) given.bias = Weight(to, kB);
  if (is_lstm && to->Has(kPeephole)) given.peephole = Weight(to, kPeephole);
  to->GiveAll(to->RunAll(MakeRecurrent(given)));
}

void Lstm(NodeLowering* to) {
  if (to->node().Integer("input_forget", 0) != 0) Unsupported("gates that are one");
  if (!AreUsual(ActivationsOf(to->node()), {"sigmoid", "tanh", "tanh"})) {
    Unsupported("other activations");
  }
  Layer(to, "lstm");
}

void Gru(NodeLowering* to) {
  if (!AreUsual(ActivationsOf(to->node()), {"sigmoid", "tanh"})) Unsupported("other activations");
  Layer(to, to->node().Integer("linear_before_reset", 0) != 0 ? "lbr_gru" : "gru");
}

void Rnn(NodeLowering* to) {
  const Names names = ActivationsOf(to->node());
  const std::string kind = names.empty() ? "tanh" : names[0];
  if ((kind != "tanh" && kind != "relu") || !AreUsual(names, {kind})) {
    Unsupported("other activations");
  }
  Layer(to, kind.c_str());
}

constexpr Rule kRules[] = {{"GRU", 7, Gru, 2}, {"LSTM", 7, Lstm, 3}, {"RNN", 7, Rnn, 2}};

}  // namespace

Rules RecurrentRules() { return {kRules, std::size(kRules)}; }

}  // namespace onednn
