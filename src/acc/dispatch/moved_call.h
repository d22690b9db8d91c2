/*!
 * \file moved_call.h
 * \brief A call with the operands that the host lends moved to where the other arrays are.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_MOVED_CALL_H_
#define MXNET_SRC_ACC_DISPATCH_MOVED_CALL_H_

#include <vector>

#include "acc/device/stats.h"
#include "acc/dispatch/arguments.h"

namespace mxnet {
namespace acc {

class Device;

/*!
 * \brief A call in which arrays of a device stand for those that are lent for it, as NumPy's are.
 *
 * Arrays of ours stay where they are: they have a context, which somebody chose.
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

  Device* device_;
  std::vector<Operand> operands_;
  const Arguments::Replace replace_;
  const Arguments args_;
  const CallArguments view_;
  const Call moved_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_MOVED_CALL_H_
