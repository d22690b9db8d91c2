/*!
 * \file onnx_graph.h
 * \brief ONNX models of a graph, or of some of its nodes, for OpenVINO to read.
 */
#ifndef OVACC_ONNX_GRAPH_H_
#define OVACC_ONNX_GRAPH_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../sdk/graph/graph.h"

namespace ovacc {

/*! \brief A graph as MXNet passes it, which has to stay as long as this does. */
class OnnxGraph {
 public:
  /*! \brief Failure, kMXAccBadArgument, where ONNX and JSON are not the same graph. */
  explicit OnnxGraph(const MXAccGraph& graph);

  const mxacc::Graph& graph() const { return graph_; }
  /*! \brief The bytes of a model of the whole graph, with the data of all weights. */
  std::string Model() const;
  /*!
   * \brief The same of some nodes, by their positions; its outputs are what no node of them uses.
   * To be asked about, not to be run: weights that are large are inputs of it.
   */
  std::string ModelOf(const std::vector<size_t>& nodes) const;
  /*!
   * \brief For each output 1 where OpenVINO, which drops what changes no element, may find it to be
   * an input, or the same as another output; else 0.
   */
  std::vector<uint8_t> SharedOutputs() const;

 private:
  /*! \brief A value, of which only its type and shape are told. */
  void WriteValue(uint32_t field, int64_t entry, std::string* out) const;
  void WriteWeight(int64_t entry, std::string* out) const;
  std::string WithHead(const std::string& graph) const;

  mxacc::Graph graph_;
  std::string head_;                    /*!< what a model has besides its graph */
  std::vector<std::string_view> nodes_; /*!< as they came */
};

}  // namespace ovacc

#endif  // OVACC_ONNX_GRAPH_H_
