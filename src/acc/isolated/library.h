/*!
 * \file library.h
 * \brief The table of a library that runs in a process of its own.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_LIBRARY_H_
#define MXNET_SRC_ACC_ISOLATED_LIBRARY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "acc/isolated/message.h"
#include "acc/isolated/process.h"
#include "acc/plugin/adapter.h"

namespace mxnet {
namespace acc {
namespace isolated {

/*!
 * \brief Passes calls on to the process, one at a time.
 *
 * A call that takes longer than the timeout, in seconds, or that Ctrl-C interrupts after a while,
 * ends the process; with a timeout of 0 it may take any time.
 *
 * When the process ends, calls fail; what was in its memory is lost. Restart begins another one,
 * and executors are made anew there when they are run.
 */
class Library : public Adapter {
 public:
  /*! \brief Starts the process and loads the library there. Throws what loading throws. */
  Library(const std::string& path, double timeout);

  MXAccApi Table() override;
  bool HasEnded() override;
  void SetTimeout(double timeout) override;
  int64_t Pid() override;
  void Restart() override;
  bool Holds(const void* data) override;
  void Forget() override { process_->Forget(); }

  MXAccStatus GetAccName(char* name, size_t size) override;
  MXAccStatus GetNumAcc(int32_t* count) override;
  MXAccStatus Initialize(const MXAccRuntime*) override { return nullptr; }
  void Finalize() override;
  MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) override;
  MXAccStatus Alloc(int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                    void** out) override;
  void Free(int32_t dev_id, void* data) override;
  MXAccStatus CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                        MXAccStream stream) override;
  MXAccStatus CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                          MXAccStream stream) override;
  MXAccStatus CopyWithinAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                            int32_t count, MXAccStream stream) override;
  MXAccStatus Zero(int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                   MXAccStream stream, uint64_t work) override;
  MXAccStatus SupportsImperative(int32_t* yes) override;
  MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) override;
  MXAccStatus Configure(int32_t dev_id, const char* const* in_keys, const char* const* in_vals,
                        int32_t num_in, MXAccEmit emit, void* context) override;

 private:
  /*! \brief Waits for the calls of other threads, and then holds calls_; Ctrl-C ends the waiting.
   */
  class Turn {
   public:
    explicit Turn(Library* library);

   private:
    std::unique_lock<std::timed_mutex> lock_;
  };
  struct Block;
  struct Executor;

  /*! \brief What the library said when it was loaded. */
  struct Description {
    std::string name;
    std::string release;
    int32_t abi_minor;
    int32_t count;
    bool imperative;
    bool has_memory;
    bool copies_within;
    bool zeroes;
    bool has_options;
  };

  void Load();
  /*! \brief Sends a request, with calls_ held; *answer is what follows the status. */
  MXAccStatus Ask(const Writer& request, Reader* answer);
  MXAccStatus AskOnce(const Writer& request);
  /*! \brief The same for requests that cannot fail. */
  void Tell(const Writer& request) noexcept;
  MXAccStatus Ended();
  MXAccStatus HandleOf(const void* data, uint64_t* handle) const;
  MXAccStatus HandleOf(const MXTensor& tensor, uint64_t* handle) const;
  MXAccStatus CopyEach(Request direction, int32_t dev_id, const MXTensor* on_device,
                       const MXTensor* on_host, int32_t count);
  MXAccStatus CopyPiece(Request direction, int32_t dev_id, const MXTensor& on_device, char* on_host,
                        size_t size);
  MXAccStatus MakeExecutor(Executor* executor, MXAccExecutor* answer);
  const char* Keep(const char* text);
  static MXAccStatus Run(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                         int32_t num_out, const MXTensor* workspace, MXAccStream stream);

  std::string path_;
  Description description_;
  std::unique_ptr<Process> process_;
  /*! \brief Counts the processes; handles of earlier ones are lost. */
  std::atomic<uint64_t> generation_{0};
  std::timed_mutex calls_;
  double timeout_;
  std::atomic<int64_t> pid_{0};
  /*! \brief Texts that callers were given. */
  std::set<std::string> texts_;
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_LIBRARY_H_
