#include "onednn/threads.h"

#include <dlfcn.h>
#include <mxnet/runtime/error.h>
#include <pthread.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

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

/*! \brief Does what the one thread that a fork leaves cannot do itself. */
class Deputy {
 public:
  Deputy() {
    std::thread([this] { Serve(); }).detach();
  }

  void Call(const std::function<void()>& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void Serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      try {
        (*work_)();
      } catch (...) {
        failure_ = std::current_exception();
      }
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_{nullptr};
  std::exception_ptr failure_;
};

thread_local bool has_lost_threads = false;
/*! \brief Of the process; never destroyed, and left behind by a fork as all threads are. */
Deputy* deputy = nullptr;

void AfterForkInChild() {
  has_lost_threads = true;
  deputy = nullptr;
}

const int kForkHandler = pthread_atfork(nullptr, nullptr, &AfterForkInChild);

}  // namespace

int MaxThreads() { return TheOpenMP().max_threads(); }

bool HasLostThreads() noexcept { return has_lost_threads; }

void CallElsewhere(const std::function<void()>& work) {
  static_cast<void>(kForkHandler);
  // Only the thread that has forked gets here, so that nobody else makes one.
  if (deputy == nullptr) deputy = new Deputy;
  deputy->Call(work);
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
