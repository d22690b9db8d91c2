/*!
 * \file instance.h
 * \brief What MXAccApi::self points to: the state behind one table.
 */
#ifndef MXACC_SDK_INSTANCE_H_
#define MXACC_SDK_INSTANCE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include "status.h"

namespace mxacc {

/*!
 * \brief Has a Library from initialize to finalize.
 *
 * A library's file may be used twice in one process, say by two runtimes: each has a table, and
 * with it an instance. They have no destructor, so that the end of the process, at which threads
 * may still be inside, takes nothing away.
 */
template <typename Library>
class Instance {
 public:
  /*!
   * \brief For a new table: one that is not initialized; Failure where all are.
   *
   * Tables are given them in turn, so that two which are asked for before either is initialized
   * have one each. Nobody says when a table is not used any more that never was initialized: after
   * many others its instance is given again.
   */
  static Instance* Unused() {
    constexpr size_t kCount = std::extent_v<decltype(all_)>;
    for (size_t i = 0; i < kCount; ++i) {
      Instance* next = &all_[next_.fetch_add(1) % kCount];
      if (IsUnused(*next)) return next;
    }
    throw Failure(kMXAccFailed,
                  "the library is initialized " + std::to_string(kCount) + " times already");
  }
  /*! \brief The Library of a table; Failure before initialize and after finalize. */
  static Library& Get(void* self) {
    const auto* instance = static_cast<Instance*>(self);
    Library* library = instance->library_.load(std::memory_order_acquire);
    if (library == nullptr) throw Failure(kMXAccFailed, "initialize was not called");
    return *library;
  }
  /*! \brief Keeps what make() gives by new. */
  template <typename Maker>
  static void Make(void* self, Maker&& make) {
    auto* instance = static_cast<Instance*>(self);
    if (instance->library_ != nullptr) throw Failure(kMXAccFailed, "initialize was called twice");
    instance->library_ = std::forward<Maker>(make)();
  }
  /*! \brief Ends a Library; whether there is none any more. */
  static bool Drop(void* self) {
    auto* instance = static_cast<Instance*>(self);
    delete instance->library_.exchange(nullptr);
    return std::all_of(std::begin(all_), std::end(all_), &Instance::IsUnused);
  }

 private:
  static bool IsUnused(const Instance& instance) { return instance.library_ == nullptr; }

  static Instance all_[16];

  static std::atomic<size_t> next_;

  std::atomic<Library*> library_{nullptr};
};

template <typename Library>
Instance<Library> Instance<Library>::all_[16];
template <typename Library>
std::atomic<size_t> Instance<Library>::next_{0};

}  // namespace mxacc

#endif  // MXACC_SDK_INSTANCE_H_
