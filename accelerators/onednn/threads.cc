#include "threads.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "../sdk/status.h"

namespace onednn {
namespace {

/*! \brief Less work than this is finished before a second thread has woken up. */
constexpr int64_t kWorkOfThread = int64_t{1} << 17;

int (*max_threads)() = nullptr;
void (*set_threads)(int) = nullptr;

void* KeepLoaded(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  if (library == nullptr) {
    throw mxacc::Failure(kMXAccFailed, std::string("oneDNN came without ") + name);
  }
  return library;
}

}  // namespace

int FindThreads() {
  KeepLoaded("libdnnl.so.3");
  void* openmp = KeepLoaded("libgomp.so.1");
  max_threads = reinterpret_cast<int (*)()>(dlsym(openmp, "omp_get_max_threads"));
  set_threads = reinterpret_cast<void (*)(int)>(dlsym(openmp, "omp_set_num_threads"));
  if (max_threads == nullptr || set_threads == nullptr) {
    throw mxacc::Failure(kMXAccFailed, "libgomp.so.1 has no omp_set_num_threads");
  }
  return max_threads();
}

int ThreadsFor(int64_t work, int limit) {
  return static_cast<int>(std::clamp<int64_t>(work / kWorkOfThread, 1, limit));
}

ThreadScope::ThreadScope(int threads) : before_(max_threads()) {
  if (threads != before_) set_threads(threads);
}

ThreadScope::~ThreadScope() { set_threads(before_); }

}  // namespace onednn
