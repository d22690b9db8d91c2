/*!
 * \file rules.h
 * \brief What OpenVINO executes otherwise than ONNX says, and so is not given.
 */
#ifndef OVACC_RULES_H_
#define OVACC_RULES_H_

#include <string>

#include "../sdk/graph/graph.h"

namespace ovacc {

/*! \brief Why a node is rejected; empty where there is no reason. */
std::string FindRejection(const mxacc::Graph& graph, const mxacc::GraphNode& node);

}  // namespace ovacc

#endif  // OVACC_RULES_H_
