#include "support.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "../sdk/status.h"
#include "rules.h"

namespace ovacc {
namespace {

using mxacc::Failure;
using Nodes = std::vector<size_t>;

/*! \brief Gives answers to nodes that are asked about together, as reading many takes one call.
 *
 * Where OpenVINO cannot read them, they are halved until it is known which it cannot. */
class Asking {
 public:
  Asking(const OnnxGraph& graph, Device* device, MXAccNodeSupport* answers)
      : graph_(graph), device_(device), answers_(answers) {}

  void Ask(const Nodes& nodes) {
    if (nodes.empty()) return;
    try {
      device_->core()->Read(graph_.ModelOf(nodes));
    } catch (const Failure& failure) {
      if (failure.code() != kMXAccUnsupported) throw;
      if (nodes.size() == 1) return Reject(nodes[0], failure.what());
      const auto middle = nodes.begin() + static_cast<std::ptrdiff_t>(nodes.size() / 2);
      Ask(Nodes(nodes.begin(), middle));
      Ask(Nodes(middle, nodes.end()));
    }
  }
  void Reject(size_t node, const std::string& reason) {
    answers_[node].id = kMXAccNodeUnsupported;
    answers_[node].why = kMXAccWhyOther;
    answers_[node].reason = device_->Keep(reason);
  }

 private:
  const OnnxGraph& graph_;
  Device* device_;
  MXAccNodeSupport* answers_;
};

}  // namespace

void Answer(const OnnxGraph& graph, Device* device, MXAccNodeSupport* answers) {
  Asking asking(graph, device, answers);
  Nodes nodes;
  for (size_t i = 0; i < graph.graph().nodes.size(); ++i) {
    const std::string reason = FindRejection(graph.graph(), graph.graph().nodes[i]);
    if (reason.empty()) {
      answers[i].id = kMXAccNodeAnyGroup;
      nodes.push_back(i);
    } else {
      asking.Reject(i, reason);
    }
  }
  asking.Ask(nodes);
}

void FailAtNode(const OnnxGraph& graph, const Device& device, const Options& options) {
  for (size_t i = 0; i < graph.graph().nodes.size(); ++i) {
    try {
      device.core()->Compile(graph.ModelOf({i}), device.name(), options);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), failure.what(), 0, graph.graph().nodes[i].id);
    }
  }
}

}  // namespace ovacc
