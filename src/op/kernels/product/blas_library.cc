/*!
 * \file blas_library.cc
 * \brief Loads the BLAS that lies beside this library.
 */
#include "op/kernels/product/blas_library.h"

#include <mxnet/runtime/error.h>

#include <string>

#include "op/parallel/parallel.h"
#include "runtime/library/dynamic_library.h"

namespace mxnet {
namespace op {
namespace blas {
namespace {

constexpr char kFile[] = "libscipy_openblas.so";

/*! \brief The folder of this very library, with the slash. */
std::string OwnFolder() {
  const std::string path = runtime::dynamic_library::PathOf(kFile);
  return path.substr(0, path.rfind('/') + 1);
}

void* Symbol(void* library, const char* name) {
  void* address = runtime::dynamic_library::Symbol(library, name);
  if (address == nullptr) MXNET_THROW("ImportError") << kFile << " has no " << name;
  return address;
}

}  // namespace

Library Library::Load() {
  const std::string path = OwnFolder() + kFile;
  // Never closed: its threads run to the end of the process.
  void* handle = runtime::dynamic_library::Open(path);
  if (handle == nullptr) {
    MXNET_THROW("ImportError") << "the BLAS cannot be loaded: "
                               << runtime::dynamic_library::LastMessage();
  }
  Library library;
#define MXNET_BLAS_LOAD(name) \
  library.name = reinterpret_cast<decltype(library.name)>(Symbol(handle, "scipy_cblas_" #name));
  MXNET_BLAS_ROUTINES(MXNET_BLAS_LOAD)
#undef MXNET_BLAS_LOAD
  static const auto set_num_threads =
      reinterpret_cast<void (*)(int)>(Symbol(handle, "scipy_openblas_set_num_threads"));
  FollowNumThreads(set_num_threads);
  return library;
}

}  // namespace blas
}  // namespace op
}  // namespace mxnet
