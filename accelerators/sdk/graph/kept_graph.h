/*!
 * \file kept_graph.h
 * \brief Models as pieces of the graph that they are compiled of, for libraries that compile fast
 * or whose drivers keep what was compiled.
 */
#ifndef MXACC_SDK_GRAPH_KEPT_GRAPH_H_
#define MXACC_SDK_GRAPH_KEPT_GRAPH_H_

#include <mxnet_acc.h>

#include <deque>
#include <string>
#include <vector>

#include "graph.h"
#include "pieces.h"

namespace mxacc {

/*! \brief The piece with the JSON of a graph. */
constexpr char kGraphPiece[] = "graph";
/*! \brief The name of the piece with the elements of a weight, row-major. */
std::string PieceOfWeight(size_t number);

/*! \brief A graph of pieces, with its weights. */
class KeptGraph {
 public:
  /*! \brief weights are those of importModel; where there are none, they are among the pieces,
   * whose data stays. Failure, kMXAccBadArgument, where anything does not fit. */
  KeptGraph(const PieceReader& reader, const MXTensor* weights, int32_t num_weights);
  KeptGraph(const KeptGraph&) = delete;
  KeptGraph& operator=(const KeptGraph&) = delete;

  const std::string& json() const { return json_; }
  /*! \brief Its weights have data as long as this object and what it was made of. */
  const Graph& graph() const { return graph_; }

 private:
  void TakeWeights(const PieceReader& reader);

  std::string json_;
  Graph graph_;
  std::deque<std::vector<int64_t>> strides_; /*!< of the weights that are among the pieces */
  std::vector<MXTensor> tensors_;
};

/*! \brief What checkModel says of a key, this device's own being `own`. */
inline int32_t VerdictOf(const std::string& own, const char* key) {
  return own == key ? kMXAccFits : kMXAccDoesNotFit;
}
/*! \brief For importModel: Failure where a key is not this device's own. */
void CheckKey(const std::string& own, const char* key);

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_KEPT_GRAPH_H_
