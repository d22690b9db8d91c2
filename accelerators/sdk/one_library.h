/*!
 * \file one_library.h
 * \brief What exists from initialize to finalize.
 */
#ifndef MXACC_SDK_ONE_LIBRARY_H_
#define MXACC_SDK_ONE_LIBRARY_H_

#include "status.h"

namespace mxacc {

/*!
 * \brief The one Library there is. Made and dropped by MXNet's calls, so that the end of the
 * process, at which threads may still be inside, takes nothing away.
 */
template <typename Library>
class OneLibrary {
 public:
  /*! \brief Failure before initialize and after finalize. */
  static Library& Get() {
    if (library_ == nullptr) throw Failure(kMXAccFailed, "initialize was not called");
    return *library_;
  }
  /*! \brief Keeps what make() gives by new. */
  template <typename Maker>
  static void Make(Maker&& make) {
    if (library_ != nullptr) throw Failure(kMXAccFailed, "initialize was called twice");
    library_ = std::forward<Maker>(make)();
  }
  static void Drop() {
    delete library_;
    library_ = nullptr;
  }

 private:
  static inline Library* library_ = nullptr;
};

}  // namespace mxacc

#endif  // MXACC_SDK_ONE_LIBRARY_H_
