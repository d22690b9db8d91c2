#include "runtime.h"

#include <dlfcn.h>

#include <cstdlib>

#include "sdk.h"

namespace refacc {
namespace {

/*! \brief The library, which stays loaded; Python loads it where RTLD_DEFAULT does not look. */
void* FindLibrary() {
  // REFACC_RUNTIME comes first: the process may have loaded a runtime without operators.
  const char* path = std::getenv("REFACC_RUNTIME");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr && dlsym(RTLD_DEFAULT, "MXNetFuncCall") != nullptr) return RTLD_DEFAULT;
  if (library == nullptr) {
    library = dlopen("libmxnet_runtime.so", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  }
  if (library == nullptr) {
    throw Failure(
        kMXAccUnsupported,
        "no runtime is loaded whose operators could be used, nor does REFACC_RUNTIME name one");
  }
  return library;
}

template <typename Function>
void Find(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  if (*out == nullptr) throw Failure(kMXAccUnsupported, std::string("the runtime has no ") + name);
}

}  // namespace

Runtime FindRuntime() {
  void* library = FindLibrary();
  Runtime runtime;
  Find(library, "MXNetFuncGetGlobal", &runtime.get_global);
  Find(library, "MXNetFuncGetInfo", &runtime.get_info);
  Find(library, "MXNetFuncCall", &runtime.call);
  Find(library, "MXNetFuncFree", &runtime.free_function);
  Find(library, "MXNetObjectFree", &runtime.free_object);
  Find(library, "MXNetGetLastError", &runtime.last_error);
  return runtime;
}

std::string LastErrorKind(const Runtime& runtime) {
  const char* kind = runtime.last_error()->kind;
  return kind == nullptr ? "Error" : kind;
}

std::string LastErrorMessage(const Runtime& runtime) {
  const MXNetErrorInfo* error = runtime.last_error();
  return std::string(error->message.data, error->message.size);
}

}  // namespace refacc
