/*!
 * \file shared_arenas.h
 * \brief Memory of intermediate results that plans share which seldom run at the same time.
 */
#ifndef MXNET_SRC_GRAPH_SHARED_ARENAS_H_
#define MXNET_SRC_GRAPH_SHARED_ARENAS_H_

#include <mxnet/runtime/ndarray.h>

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "graph/mapped_array.h"

namespace mxnet {
namespace graph {

/*! \brief As many arenas as there were runs at the same time, each large enough for any plan. */
class SharedArenas {
 public:
  explicit SharedArenas(size_t bytes) : bytes_(static_cast<int64_t>(bytes)) {}

  runtime::NDArray Take() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!unused_.empty()) {
        runtime::NDArray arena = std::move(unused_.back());
        unused_.pop_back();
        return arena;
      }
    }
    return MappedArray(runtime::ShapeView(&bytes_, 1), runtime::kUInt8);
  }

  /*! \brief Gives one back; another that is too small is not kept. */
  void Return(runtime::NDArray arena) {
    if (arena.size() < bytes_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    unused_.push_back(std::move(arena));
  }

 private:
  const int64_t bytes_;
  std::mutex mutex_;
  std::vector<runtime::NDArray> unused_;
};

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_SHARED_ARENAS_H_
