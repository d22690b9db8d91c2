/*!
 * \file graph.h
 * \brief A graph of MXAccGraph, read and checked.
 */
#ifndef MXACC_SDK_GRAPH_GRAPH_H_
#define MXACC_SDK_GRAPH_GRAPH_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <string>
#include <vector>

#include "json.h"

namespace mxacc {

/*! \brief A tensor of a graph. */
struct GraphEntry {
  std::string name;
  MXAccDataType dtype;              /*!< all 0 for a type whose name is not known here */
  std::vector<int64_t> shape;       /*!< -1 for an extent that has a symbol */
  const MXTensor* weight = nullptr; /*!< where it is one; valid as long as the MXAccGraph */

  bool is_static() const;
};

/*! \brief Bytes of the elements of a tensor whose extents are known. */
double BytesOf(const GraphEntry& entry);

struct GraphNode {
  int64_t id;
  std::string op;
  int64_t version;
  Json attributes;
  std::vector<int64_t> inputs; /*!< entries; -1 for one that is left out */
  std::vector<int64_t> outputs;
  bool has_subgraphs;

  /*! \brief An attribute; NULL where the node does not have it. */
  const Json* Find(const char* key) const { return attributes.Find(key); }
  int64_t Integer(const char* key, int64_t otherwise) const;
  double Number(const char* key, double otherwise) const;
  /*! \brief The items of a list; none where it is not there. */
  std::vector<int64_t> Integers(const char* key) const;
};

struct Graph {
  std::vector<GraphEntry> entries;
  std::vector<int64_t> inputs;
  std::vector<int64_t> weights;
  std::vector<int64_t> outputs;
  std::vector<GraphNode> nodes;
};

/*! \brief Bytes that a node reads and writes; those of unknown extents do not count. */
double BytesOf(const Graph& graph, const GraphNode& node);

/*! \brief Reads a graph; Failure where it is none, or of a version that is too new. */
Graph ReadGraph(const MXAccGraph& graph);
/*! \brief The same of its JSON alone. Its weights have no data until GiveWeights. */
Graph ReadGraph(const char* json);
/*! \brief Gives a graph its weights, in its order, which stay; Failure where they do not fit. */
void GiveWeights(const MXTensor* weights, int32_t num_weights, Graph* graph);
/*! \brief For updateWeights: which of the graph's weights these are, by their names. Failure where
 * one is none of them, or of another type or shape. */
std::vector<size_t> FindWeights(const Graph& graph, const MXTensor* weights, int32_t count);

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_GRAPH_H_
