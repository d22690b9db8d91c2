/*!
 * \file support.h
 * \brief Which nodes OpenVINO executes, and as MXNet means them.
 */
#ifndef OVACC_SUPPORT_H_
#define OVACC_SUPPORT_H_

#include <mxnet_acc.h>

#include <string>

#include "device.h"
#include "onnx_graph.h"

namespace ovacc {

/*! \brief Answers for all nodes of a graph. */
void Answer(const OnnxGraph& graph, Device* device, MXAccNodeSupport* answers);

/*! \brief The first node that OpenVINO does not compile alone: Failure, with its id and reason.
 * Returns where there is none. */
void FailAtNode(const OnnxGraph& graph, const Device& device, const Options& options);

}  // namespace ovacc

#endif  // OVACC_SUPPORT_H_
