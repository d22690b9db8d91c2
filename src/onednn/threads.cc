#include "onednn/threads.h"

#include <dlfcn.h>
#include <mxnet/runtime/registry.h>

namespace mxnet {
namespace onednn {
namespace {

/*! \brief The functions of the OpenMP that oneDNN was linked with, whoever has loaded it. */
struct OpenMP {
  OpenMP() {
    // Both stay loaded: their threads outlive this library.
    dlopen("libdnnl.so.3", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    void* library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    if (library == nullptr) MXNET_THROW("ImportError") << "oneDNN came without libgomp.so.1";
    max_threads = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
    set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
    if (max_threads == nullptr || set_threads == nullptr) {
      MXNET_THROW("ImportError") << "libgomp.so.1 has no omp_set_num_threads";
    }
  }

  int (*max_threads)();
  void (*set_threads)(int);
};

const OpenMP& TheOpenMP() {
  static const OpenMP openmp;
  return openmp;
}

}  // namespace

int NumThreads() {
  static const auto* get =
      new runtime::PackedFunc(runtime::PackedFunc::GetGlobal("mx.get_num_threads"));
  return static_cast<int>((*get)().As<int64_t>());
}

ThreadScope::ThreadScope(int threads) : before_(TheOpenMP().max_threads()) {
  if (threads == before_) {
    before_ = 0;
  } else {
    TheOpenMP().set_threads(threads);
  }
}

ThreadScope::~ThreadScope() {
  if (before_ != 0) TheOpenMP().set_threads(before_);
}

}  // namespace onednn
}  // namespace mxnet
