/*!
 * \file moved_call.h
 * \brief A call whose borrowed operands are copied to the device of the other arrays.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_MOVED_CALL_H_
#define MXNET_SRC_ACC_DISPATCH_MOVED_CALL_H_

#include <deque>
#include <vector>

#include "acc/device/stats.h"
#include "acc/dispatch/arguments.h"

namespace mxnet {
namespace acc {

class Device;

/*!
 * \brief A call in which borrowed arrays, such as NumPy's, are replaced by arrays of a device.
 *
 * MXNet's own arrays are not moved: the user chose their context.
 */
class MovedCall {
 public:
  /*! \brief Makes the arrays, without their elements. */
  MovedCall(const Call& call, Device* device);
  MovedCall(const MovedCall&) = delete;
  MovedCall& operator=(const MovedCall&) = delete;

  const Call& call() const { return moved_; }
  /*! \brief Copies the elements; returns what that cost. Throws. */
  CallCost Move() const;

 private:
  struct Operand {
    NDArray there;
    const DLTensor* here;
  };

  /*! \brief Reads integer arrays that are given for attributes, such as several axes, as integers.
   */
  void ReadIntArrays(const Call& call);

  Device* device_;
  std::vector<Operand> operands_;
  const Arguments::Replace replace_;
  Arguments args_;
  std::deque<std::vector<int64_t>> ints_;
  const CallArguments view_;
  const Call moved_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_MOVED_CALL_H_
