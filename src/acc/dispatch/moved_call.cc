/*!
 * \file moved_call.cc
 * \brief Moves operands.
 */
#include "acc/dispatch/moved_call.h"

#include <cstring>

#include "acc/device/device.h"
#include "acc/device/transfers.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief Whether operands are given for a parameter, and not, say, the extents of a shape. */
bool TakesOperands(const MXNetParamInfo* param) {
  return param != nullptr && (param->flags & kMXNetParamWritten) == 0 && param->type != nullptr &&
         std::strstr(param->type, "ArrayLike") != nullptr;
}

}  // namespace

MovedCall::MovedCall(const Call& call, Device* device)
    : device_(device),
      replace_([this](const MXNetValue& value, int type_code, const MXNetParamInfo* param) {
        const DLTensor* here = LentTensor(value, type_code);
        if (here == nullptr || here->ndim == 0 || !TakesOperands(param)) return NDArray();
        operands_.push_back(
            {NDArray::Empty(TensorShape(*here), here->dtype, device_->context()), here});
        return operands_.back().there;
      }),
      args_(call, replace_),
      view_(args_.view()),
      moved_(call.func, view_) {}

CallCost MovedCall::Move() const {
  CallCost cost;
  {
    // The copies wait for what the device has to do first, which is no part of what they take.
    const Timed timed(&cost.waiting);
    device_->Settle();
  }
  const Timed timed(&cost.copying);
  for (const Operand& operand : operands_) {
    cost.bytes += static_cast<uint64_t>(ByteCount(operand.there));
    CopyArray(operand.there, Borrowed(*operand.here));
  }
  return cost;
}

}  // namespace acc
}  // namespace mxnet
