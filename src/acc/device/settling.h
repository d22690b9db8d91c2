/*!
 * \file settling.h
 * \brief Waits for the work of devices, and finds out which memory its failures spoiled.
 */
#ifndef MXNET_SRC_ACC_DEVICE_SETTLING_H_
#define MXNET_SRC_ACC_DEVICE_SETTLING_H_

#include <vector>

#include "acc/sync/work_log.h"

namespace mxnet {
namespace acc {

class Device;

/*!
 * \brief Waits for the work that a device was given so far. Afterwards Content::failure is set of
 * all memory that is lost, also on other devices with results computed from it.
 */
void Settle(Device* device);

/*!
 * \brief The same, but waits for the stream even where the log is empty: a call that failed may
 * have left work there, although it must not.
 */
void SettleEvenIdle(Device* device);

/*! \brief Failures of work that no caller was told of yet. Any thread may call. */
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
