/*!
 * \file gradient_memory.h
 * \brief Memory of gradients, which has saved values until those are read for the last time.
 */
#ifndef MXNET_SRC_GRAPH_GRADIENT_MEMORY_H_
#define MXNET_SRC_GRAPH_GRADIENT_MEMORY_H_

#include <mxnet/runtime/ndarray.h>

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "graph/plan.h"

namespace mxnet {
namespace graph {

/*!
 * \brief One span of memory for what a backward plan gives, in the order in which that is written,
 * the last first.
 *
 * A value that the forward plan saves lies in the part that is written after its last use, where
 * there is room. So a step takes no more than it would if each value went when it is not needed any
 * more and each gradient came then, and no memory is given back and asked for again. The span is no
 * larger than the gradients, so that whoever keeps these keeps nothing else.
 */
class GradientMemory {
 public:
  /*! \brief `saved` are pairs of an output of the forward plan and the input of the backward plan
   * that it is given as. */
  GradientMemory(const PlanParts& forward, const PlanParts& backward,
                 const std::vector<std::pair<int64_t, int64_t>>& saved);

  /*! \brief Bytes of saved values that may lie in the span. */
  size_t shared_bytes() const { return shared_bytes_; }

  /*! \brief The span for a forward run; NULL where somebody has a part of it. */
  NDArray ForForward();

  /*! \brief The span for a backward run; NULL where somebody has a part of it, but for the saved
   * values among the inputs of a run that gives these up. */
  NDArray ForBackward(const std::vector<NDArray>& inputs, bool gives_up);

  /*! \brief Whether an output of the forward plan is saved. */
  bool IsSaved(size_t output) const { return is_saved_[output]; }

  /*! \brief Where an output lies; -1 where it has an array of its own. */
  int64_t OfForward(size_t output) const { return saved_[output]; }
  int64_t OfBackward(size_t output) const { return gradients_[output]; }

 private:
  bool Holds(const NDArray& array) const noexcept;
  NDArray Span(int64_t holders);

  std::vector<bool> is_saved_;     /*!< by outputs of the forward plan */
  std::vector<int64_t> saved_;     /*!< the same */
  std::vector<int64_t> gradients_; /*!< by outputs of the backward plan */
  std::vector<size_t> given_;      /*!< the inputs of the backward plan that may lie in the span */
  int64_t bytes_{0};
  size_t shared_bytes_{0};
  std::mutex mutex_;
  NDArray span_;
};

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_GRADIENT_MEMORY_H_
