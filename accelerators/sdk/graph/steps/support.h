/*!
 * \file support.h
 * \brief What supportedOps says of the nodes of a graph.
 */
#ifndef MXACC_SDK_GRAPH_STEPS_SUPPORT_H_
#define MXACC_SDK_GRAPH_STEPS_SUPPORT_H_

#include <mxnet_acc.h>

#include <cstring>

#include "../../rate.h"
#include "../../status.h"
#include "steps.h"

namespace mxacc {

/*!
 * \brief Fills in id, why and reason of all nodes, and, unless rate is 0, what they cost at least:
 * rate is how many bytes the device reads or writes in a microsecond.
 *
 * check(steps, node, first) gives the node's group, or fails as Unsupported: first and what follows
 * are its steps. keep(text) gives a text that stays.
 */
template <typename Check, typename Keep>
void TellSupport(const MXAccGraph& given, MXAccNodeSupport* nodes, double rate, Check&& check,
                 Keep&& keep) {
  const Graph graph = ReadGraph(given);
  Steps steps(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const size_t first = steps.steps().size();
    try {
      steps.Add(node);
      nodes[i].id = check(steps, node, first);
      if (rate != 0) nodes[i].cost = CostOf(BytesOf(graph, node), rate);
    } catch (const Failure& failure) {
      if (failure.code() != kMXAccUnsupported) throw;
      steps.Drop(node, first);
      const bool is_dynamic = std::strcmp(failure.what(), kDynamic) == 0;
      nodes[i].id = kMXAccNodeUnsupported;
      nodes[i].why = is_dynamic ? kMXAccWhyDynamic : kMXAccWhyOther;
      nodes[i].reason = keep(failure.what());
    }
  }
}

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_STEPS_SUPPORT_H_
