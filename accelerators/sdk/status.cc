#include "status.h"

#include <cstdio>

namespace mxacc {
namespace {

/*! \brief Trivially destructible: thread_local destructors would keep the library from being
 * unloaded. */
struct ThreadError {
  MXAccError error;
  char message[2000];
};

thread_local ThreadError thread_error;

}  // namespace

MXAccStatus KeepError(int32_t code, const char* message, uint64_t work, int64_t node) {
  std::snprintf(thread_error.message, sizeof(thread_error.message), "%s", message);
  thread_error.error = {sizeof(MXAccError), code, thread_error.message, work, node};
  return &thread_error.error;
}

}  // namespace mxacc
