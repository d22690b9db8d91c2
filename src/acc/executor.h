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

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const CallKey& key() const { return key_; }
  OperatorStats* stats() const { return stats_; }
  /*! \brief Why there is no executor; "" where there is one. */
  const std::string& refusal() const { return refusal_; }

  /*! \brief Carries a call of this key out; *reason is set where it is refused. Throws. */
  Outcome Run(const Call& call, MXNetValue* ret, int* ret_type_code, std::string* reason);

  /*! \brief Frees the library's executor, once no run is under way; later runs are kRetired. */
  void Retire();

 private:
  class Running;

  void Ask(Device* device);
  bool TryAsk(Device* device);
  NDArray Input(const Call& call, size_t index, MXTensor* tensor) const;
  NDArray Output(const Call& call, const NDArray* inputs, NDArray* result) const;
  MXAccStatus RunOnce(MXTensor* tensors);
  void FreeState();

  std::atomic<uint32_t> references_{1};
  /*! \brief Runs under way, and a bit for having been retired. */
  std::atomic<uint32_t> running_{0};
  const CallKey key_;
  OperatorStats* stats_;
  Device* device_;
  std::unique_ptr<OperatorDescription> description_;
  MXAccExecutor executor_{};
  /*! \brief Held around runs where the library takes one at a time. */
  std::mutex serial_;
  std::string refusal_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_EXECUTOR_H_
