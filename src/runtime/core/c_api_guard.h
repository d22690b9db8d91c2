/*!
 * \file c_api_guard.h
 * \brief What every function of the C API does: it lets no exception out, and rejects NULL.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_C_API_GUARD_H_
#define MXNET_SRC_RUNTIME_CORE_C_API_GUARD_H_

#include <mxnet/runtime/error.h>

#include <new>

namespace mxnet {
namespace runtime {

/*! \brief Runs body; an exception becomes the last error and -1. */
template <typename Body>
int Guard(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const Error& error) {
    return error.SetLast();
  } catch (const std::bad_alloc&) {
    return details::SetOutOfMemory();
  } catch (const std::exception& error) {
    return details::SetLastError("RuntimeError", details::TextOf(error));
  }
}

inline void RequireNotNull(const void* pointer, const char* function, const char* argument) {
  if (pointer == nullptr) {
    MXNET_THROW("ValueError") << function << ": argument '" << argument << "' is NULL";
  }
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_C_API_GUARD_H_
