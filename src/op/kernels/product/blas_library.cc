/*!
 * \file blas_library.cc
 * \brief Loads the BLAS that lies beside this library.
 */
#include "op/kernels/product/blas_library.h"

#include <mxnet/runtime/error.h>

#include <string>

#include "op/parallel/parallel.h"
#include "op/parallel/thread_pool.h"
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

/*! \brief What the jobs of a routine are. */
struct Jobs {
  openblas_dojob_callback run;
  char* data;
  size_t bytes; /*!< from one job's data to the next one's */
  int argument;
};

void RunJobs(const void* of, int64_t begin, int64_t end) {
  const auto* jobs = static_cast<const Jobs*>(of);
  for (int64_t i = begin; i < end; ++i) {
    jobs->run(static_cast<int>(i), jobs->data + static_cast<size_t>(i) * jobs->bytes,
              jobs->argument);
  }
}

/*!
 * \brief Does the jobs of a routine on the threads of operators. Those of the BLAS look for work
 * for 0.1 seconds after each routine, and keep a processor busy.
 *
 * Jobs wait for each other, so each needs a thread; and no two routines may run at once, as their
 * jobs share memory. Both are so for loops of the pool, whose pieces call no routine with jobs.
 */
void RunOnPool(int, openblas_dojob_callback run, int count, size_t bytes, void* data,
               int argument) {
  const Jobs jobs{run, static_cast<char*>(data), bytes, argument};
  SharedLoop loop{&RunJobs, &jobs, 0, count, 1, {0}};
  ThreadPool* pool = ThreadPool::Global();
  pool->Begin(&loop, count);
  pool->End(&loop);
}

}  // namespace

const Library& Library::WithThreads() {
  const Library& library = Get();
  const int threads = library.get_num_threads();
  if (threads > 1 && !ThreadPool::Global()->Reserve(threads - 1)) {
    ThrowTooFewThreads("a product of matrices", threads - 1);
  }
  return library;
}

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
  library.get_num_threads =
      reinterpret_cast<int (*)()>(Symbol(handle, "scipy_openblas_get_num_threads"));
  static const auto set_num_threads =
      reinterpret_cast<void (*)(int)>(Symbol(handle, "scipy_openblas_set_num_threads"));
  using SetCallback = decltype(&scipy_openblas_set_threads_callback_function);
  const auto set_callback =
      reinterpret_cast<SetCallback>(Symbol(handle, "scipy_openblas_set_threads_callback_function"));
  set_callback(&RunOnPool);
  FollowNumThreads(set_num_threads);
  return library;
}

}  // namespace blas
}  // namespace op
}  // namespace mxnet
