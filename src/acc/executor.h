/*!
 * \file executor.h
 * \brief What an accelerator library answered for calls of one key.
 */
#ifndef MXNET_SRC_ACC_EXECUTOR_H_
#define MXNET_SRC_ACC_EXECUTOR_H_

#include <mxnet_acc.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acc/call_key.h"
#include "acc/device.h"
#include "acc/fallback.h"
#include "acc/operator_description.h"

namespace mxnet {
namespace acc {

/*! \brief An executor of the library's, or the reason why there is none. Counted by reference. */
class Executor {
 public:
  /*! \brief What has become of a run. */
  enum class Outcome {
    kDone,
    kRefused, /*!< by the library, for these elements: see Refusal */
    kRetired  /*!< the answer is no longer valid, ask anew */
  };

  /*!
   * \brief Asks the library. Throws what is wrong with the arguments, which is not to be kept.
   */
  Executor(const Call& call, const CallKey& key, Device* device, OperatorStats* stats);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void Retain() { uses_.fetch_add(kReference, std::memory_order_relaxed); }
  void Release() {
    const uint64_t before = uses_.fetch_sub(kReference, std::memory_order_acq_rel);
    if ((before & ~kMarks) == kReference) delete this;
  }

  const CallKey& key() const { return key_; }
  OperatorStats* stats() const { return stats_; }
  /*! \brief Why there is no executor; "" where there is one. */
  const std::string& refusal() const { return refusal_; }

  /*!
   * \brief Carries a call of this key out; *reason is set where it is refused. Throws.
   *
   * Meanwhile the caller's reference may go, even the last one.
   */
  Outcome Run(const Call& call, MXNetValue* ret, int* ret_type_code, std::string* reason);

  /*! \brief Frees the library's executor, once no run is under way; later runs are kRetired. */
  void Retire();

 private:
  class Running;

  // A run is counted in the same word as references, so that it need not take one for itself.
  static constexpr uint64_t kRun = 1;
  static constexpr uint64_t kRuns = (uint64_t{1} << 30) - 1;
  static constexpr uint64_t kRetired = uint64_t{1} << 30;
  static constexpr uint64_t kFreed = uint64_t{1} << 31; /*!< what the library is to free */
  static constexpr uint64_t kMarks = kRetired | kFreed;
  static constexpr uint64_t kReference = uint64_t{1} << 32;

  /*! \brief Where a run finds one of its inputs. */
  struct Input {
    InputPlace place;
    bool direct; /*!< as it is: it lies on the device with the strides that were asked for */
  };

  void Prepare(const Call& call);
  void EndRun();
  void Ask(Device* device);
  bool TryAsk(Device* device);
  NDArray Packed(const Call& call, size_t index) const;
  void FillInputs(const Call& call, MXTensor* tensors, NDArray* arrays) const;
  NDArray NewResult() const;
  /*! \brief What a run writes to: out, or something new that is copied there. */
  NDArray TargetFor(const NDArray& out, const NDArray* inputs) const;
  bool TryRun(MXTensor* tensors, std::string* reason);
  MXAccStatus RunOnce(MXTensor* tensors);
  void FreeState();

  std::atomic<uint64_t> uses_{kReference};
  const CallKey key_;
  OperatorStats* stats_;
  Device* device_;
  std::unique_ptr<OperatorDescription> description_;
  MXAccExecutor executor_{};
  std::vector<Input> inputs_;
  /*! \brief What run is called with but for the elements: inputs, then the output. */
  std::vector<MXTensor> tensors_;
  DLDataType dtype_{}; /*!< of the result */
  size_t bytes_{0};    /*!< of the result */
  /*! \brief Held around runs where the library takes one at a time. */
  std::mutex serial_;
  std::string refusal_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_EXECUTOR_H_
