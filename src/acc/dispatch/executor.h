/*!
 * \file executor.h
 * \brief The answer of an accelerator library for calls of one key.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_EXECUTOR_H_
#define MXNET_SRC_ACC_DISPATCH_EXECUTOR_H_

#include <mxnet_acc.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "acc/device/device.h"
#include "acc/device/stats.h"
#include "acc/dispatch/call_key.h"
#include "acc/dispatch/operator_description.h"
#include "acc/plugin/bytes.h"

namespace mxnet {
namespace acc {

/*! \brief An executor of a library, or the reason why there is none. Counted by reference. */
class Executor {
 public:
  /*! \brief The outcome of a run. */
  enum class Outcome {
    kDone,
    kRejected, /*!< by the library, for these elements: see Rejection */
    kEmpty,    /*!< the result has no elements: the library is not asked for them */
    kRetired   /*!< the answer is no longer valid, ask anew */
  };

  /*!
   * \brief Asks the library. Throws where the arguments are wrong, which is no answer to keep.
   */
  Executor(const Call& call, const CallKey& key, Device* device, OperatorStats* stats);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /*! \brief Whether the caller has the only reference; then nobody else can get one. */
  bool IsLast() const { return references_.load(std::memory_order_acquire) == 1; }

  const CallKey& key() const { return key_; }
  /*! \brief Why there is no executor; "" where there is one. */
  const std::string& rejection() const { return rejection_; }

  /*! \brief Executes a call of this key; *reason is set where it is rejected. Throws. */
  Outcome Run(const Call& call, MXNetValue* ret, int* ret_type_code, std::string* reason);
  /*!
   * \brief The same in as few steps as possible, for a call that is probably of this key: of an
   * operator without a context, with arrays of the device. False where it needs the full path.
   */
  bool TryRunAtOnce(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
                    int* ret_type_code);

  /*! \brief Makes the outcome of later runs kRetired. */
  void Retire() { is_retired_.store(true, std::memory_order_release); }
  /*! \brief Frees the library's executor: no run is under way, and none will begin. */
  void FreeState();

 private:
  /*! \brief Up to this number of inputs a run needs no memory of the heap. */
  static constexpr size_t kFew = 4;
  /*! \brief Where a run finds one of its inputs. */
  struct Input {
    InputPosition position;
    bool direct; /*!< whether it is passed as it is: on the device, with the agreed strides */
  };

  void Prepare(const Call& call);
  void Ask(Device* device);
  bool TryAsk(Device* device);
  NDArray Packed(const Call& call, size_t index) const;
  void FillInputs(const Call& call, MXTensor* tensors, NDArray* arrays) const;
  void Done(NDArray result, MXNetValue* ret, int* ret_type_code);
  NDArray NewResult() const;
  NDArray NewResult(const DeviceBlock& block) const;
  /*! \brief The array that a run writes: out, or a new one that is copied to out. */
  NDArray TargetFor(const NDArray& out, const NDArray* inputs) const;
  /*! \brief Runs; *reason is set where it is rejected. access is NULL without a stream. */
  bool TryRun(MXTensor* tensors, const Access* access, std::string* reason) {
    const MXAccStatus status = access == nullptr ? RunOnce(tensors) : Give(tensors, *access);
    return __builtin_expect(status == nullptr, 1) || TryAgain(status, tensors, access, reason);
  }
  bool TryAgain(MXAccStatus status, MXTensor* tensors, const Access* access, std::string* reason);
  [[gnu::cold]] bool TryAgain(MXAccStatus status, MXTensor* tensors, const Access* access);
  MXAccStatus RunOnce(MXTensor* tensors) {
    return __builtin_expect(is_one_at_a_time_, 0) ? RunInTurn(tensors) : RunNow(tensors);
  }
  MXAccStatus RunNow(MXTensor* tensors) const {
    const auto count = static_cast<int32_t>(inputs_.size());
    MXTensor* output = tensors + count;
    const MXTensor* workspace = executor_.workspace_bytes == 0 ? nullptr : output + 1;
    try {
      return executor_.run(executor_.state, tensors, count, output, 1, workspace,
                           device_->stream());
    } catch (...) {
      return StatusOfRunException();
    }
  }
  /*! \brief Of what a library's run has thrown; what an adapter of our own has goes on. */
  [[gnu::cold]] MXAccStatus StatusOfRunException() const;
  MXAccStatus RunInTurn(MXTensor* tensors);
  const MXTensor& output() const { return tensors_[inputs_.size()]; }
  void AddWorkspace();
  /*! \brief RunOnce in the device's stream. */
  MXAccStatus Give(MXTensor* tensors, const Access& access);
  /*! \brief The same for TryRunAtOnce; false where it is rejected. */
  [[gnu::noinline]] bool TryGiveAtOnce(const CallArguments& args, MXTensor* tensors,
                                       DeviceMemory* result);
  bool TryRunFor(const Call& call, MXTensor* tensors, const NDArray* arrays, const NDArray& target,
                 std::string* reason);

  std::atomic<uint64_t> references_{1};
  std::atomic<bool> is_retired_{false};
  const CallKey key_;
  OperatorStats* stats_;
  Device* device_;
  std::unique_ptr<OperatorDescription> description_;
  MXAccExecutor executor_{};
  std::vector<Input> inputs_;
  /*! \brief The tensors that run is called with, without their elements: inputs, the output, and
   * the workspace where there is one. */
  std::vector<MXTensor> tensors_;
  std::optional<Bytes> workspace_;
  DLDataType dtype_{};    /*!< of the result */
  size_t bytes_{0};       /*!< of the result */
  SizeClass size_{0};     /*!< of the result */
  bool is_direct_{false}; /*!< has an executor, few inputs, all direct, no out, some elements */
  bool is_one_at_a_time_{false}; /*!< runs have to wait for one another, or for other calls */
  /*! \brief Held around runs where the library takes one at a time. */
  std::mutex serial_;
  std::string rejection_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_EXECUTOR_H_
