/*!
 * \file large_outputs.h
 * \brief Memory of large outputs, from one run of a plan to the next.
 */
#ifndef MXNET_SRC_GRAPH_LARGE_OUTPUTS_H_
#define MXNET_SRC_GRAPH_LARGE_OUTPUTS_H_

#include <mxnet/runtime/ndarray.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace mxnet {
namespace graph {

/*! \brief Whether the frame or the plan that keeps an array has the only reference: nobody else can
 * get one, and nobody writes to it. */
inline bool IsOnlyKept(const runtime::NDArray& array) noexcept {
  return array.get() != nullptr && __atomic_load_n(&array.get()->ref_count, __ATOMIC_ACQUIRE) == 1;
}

/*!
 * \brief The large outputs of the plan that has run last, which its next run writes again where
 * nobody has them any more: the system clears new memory, which takes longer than to write it.
 *
 * Of one plan at a time, and of two runs, so that no more memory is kept than callers had at once.
 */
class LargeOutputs {
 public:
  /*! \brief From so many bytes on an output is large. */
  static constexpr size_t kLarge = size_t{4} << 20;

  static LargeOutputs* Global();

  /*! \brief An array for an output of a plan that has `count`: one that is kept, or what make()
   * gives, which is kept then. */
  template <typename Make>
  runtime::NDArray Take(const void* plan, size_t index, size_t count, const Make& make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (plan_ != plan) {
      kept_.clear();
      kept_.resize(count);
      plan_ = plan;
    }
    // A caller that has a result until it has the next one gets both in turns.
    std::array<runtime::NDArray, 2>& kept = kept_[index];
    if (!IsOnlyKept(kept[0])) std::swap(kept[0], kept[1]);
    if (!IsOnlyKept(kept[0])) {
      kept[0] = runtime::NDArray();
      kept[0] = make();
    }
    return kept[0];
  }

  /*! \brief Gives up what is kept for a plan. */
  void Forget(const void* plan);

 private:
  std::mutex mutex_;
  const void* plan_{nullptr};
  std::vector<std::array<runtime::NDArray, 2>> kept_;
};

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_LARGE_OUTPUTS_H_
