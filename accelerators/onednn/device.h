/*!
 * \file device.h
 * \brief The one device, which is the CPU.
 */
#ifndef ONEDNN_DEVICE_H_
#define ONEDNN_DEVICE_H_

#include <mxnet_acc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../sdk/operators/blocks.h"
#include "../sdk/profiler.h"
#include "../sdk/rate.h"
#include "threads.h"

namespace onednn {

struct Freer {
  void operator()(void* data) const { std::free(data); }
};
using Buffer = std::unique_ptr<void, Freer>;

/*! \brief Any thread may call. */
class Device {
 public:
  Device();

  /*! \brief Of the host; kMXAccOutOfMemory where it has no more. */
  void* Alloc(size_t size, size_t alignment);
  std::string reason() const { return ""; }
  /*! \brief What the model runs that was compiled last, with commas between: see configure. */
  void SetModel(const std::vector<std::string>& primitives, uint64_t workspace_bytes);
  std::string primitives() const;
  /*! \brief Threads have no device of their own. */
  int Enter() const { return 0; }

  const ThreadsInUse threads_in_use;
  mxacc::Blocks<Buffer> memory;
  mxacc::Profiler profiler;
  mxacc::WriteRate write_rate;
  std::atomic<uint64_t> runs{0};
  std::atomic<uint64_t> workspace{0}; /*!< bytes of the model that was compiled last */
  std::atomic<int> verbose{0};
  std::atomic<int> threads;  /*!< the most that plans take; at first FindThreads() */
  const std::string version; /*!< of oneDNN, which is found at run time: "3.2.0" */
  const std::string isa;     /*!< that oneDNN takes the processor for: "AVX512_CORE" */
  const std::string driver;

 private:
  mutable std::mutex mutex_;
  std::string primitives_;
};

}  // namespace onednn

#endif  // ONEDNN_DEVICE_H_
