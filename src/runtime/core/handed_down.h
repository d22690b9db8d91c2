/*!
 * \file handed_down.h
 * \brief A function of a later layer that an earlier one calls, without knowing its name.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_HANDED_DOWN_H_
#define MXNET_SRC_RUNTIME_CORE_HANDED_DOWN_H_

#include <mxnet/runtime/packed_func.h>

#include <mutex>
#include <utility>

namespace mxnet {
namespace runtime {

/*! \brief Holds the function, from when it is set on. Any thread may read or replace it. */
class HandedDown {
 public:
  void Set(PackedFunc func) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::swap(func_, func);  // the one before ends behind the lock
  }
  /*! \brief The function; none before it is set. */
  PackedFunc Get() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return func_;
  }

 private:
  std::mutex mutex_;
  PackedFunc func_;
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_HANDED_DOWN_H_
