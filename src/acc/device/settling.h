/*!
 * \file settling.h
 * \brief Waiting for the work of devices, and finding out what became of it.
 */
#ifndef MXNET_SRC_ACC_DEVICE_SETTLING_H_
#define MXNET_SRC_ACC_DEVICE_SETTLING_H_

#include <vector>

#include "acc/sync/work_log.h"

namespace mxnet {
namespace acc {

class Device;

/*!
 * \brief Waits for the work that a device was given so far. Afterwards the contents of all memory
 * that this work wrote, or that was made of it on any device, say whether they are lost.
 */
void Settle(Device* device);

/*!
 * \brief The same, and waits for the stream where it was given nothing, too: a call that failed may
 * have left work there, although it must not.
 */
void SettleEvenIdle(Device* device);

/*! \brief Failures by which something is lost, until a caller was told. Any thread may call. */
class UntoldFailures {
 public:
  void Add(FailureRef failure);
  /*! \brief Those that no caller was told of; they count as told from now on. */
  std::vector<FailureRef> Take();

 private:
  /*! \brief Further failures are not kept. */
  static constexpr size_t kMost = 100;

  std::mutex mutex_;
  std::vector<FailureRef> failures_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_SETTLING_H_
