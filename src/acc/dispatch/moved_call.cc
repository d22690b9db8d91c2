/*!
 * \file moved_call.cc
 * \brief Moves operands.
 */
#include "acc/dispatch/moved_call.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "acc/device/device.h"
#include "acc/device/transfers.h"

namespace mxnet {
namespace acc {
namespace {

bool IsMutated(const MXNetParamInfo& param) { return (param.flags & kMXNetParamMutated) != 0; }

/*! \brief Whether a parameter is an input that is read, and not, for example, a shape. */
bool TakesOperands(const MXNetParamInfo* param) {
  const bool is_input =
      param != nullptr && (param->role == kMXNetRoleArray || param->role == kMXNetRoleArrays);
  return is_input && !IsMutated(*param);
}

template <typename T>
void AppendInts(const DLTensor& tensor, std::vector<int64_t>* ints) {
  const char* first = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  const int64_t step = tensor.strides == nullptr ? 1 : tensor.strides[0];
  for (int64_t i = 0; i < tensor.shape[0]; ++i) {
    T item;
    std::memcpy(&item, first + i * step * static_cast<int64_t>(sizeof(T)), sizeof(T));
    ints->push_back(static_cast<int64_t>(item));
  }
}

/*! \brief The elements of a 1-d array of integers; false for any other array. */
bool ReadInts(const DLTensor& tensor, std::vector<int64_t>* ints) {
  if (tensor.ndim != 1 || tensor.dtype.lanes != 1) return false;
  const bool is_signed = tensor.dtype.code == kDLInt;
  if (!is_signed && tensor.dtype.code != kDLUInt) return false;
  switch (tensor.dtype.bits) {
    case 8:
      is_signed ? AppendInts<int8_t>(tensor, ints) : AppendInts<uint8_t>(tensor, ints);
      return true;
    case 16:
      is_signed ? AppendInts<int16_t>(tensor, ints) : AppendInts<uint16_t>(tensor, ints);
      return true;
    case 32:
      is_signed ? AppendInts<int32_t>(tensor, ints) : AppendInts<uint32_t>(tensor, ints);
      return true;
    case 64:
      if (!is_signed) return false;  // uint64 may not fit int64
      AppendInts<int64_t>(tensor, ints);
      return true;
    default:
      return false;
  }
}

}  // namespace

MovedCall::MovedCall(const Call& call, Device* device)
    : device_(device),
      replace_([this](const MXNetValue& value, int type_code, const MXNetParamInfo* param) {
        const DLTensor* here = BorrowedTensor(value, type_code);
        if (here == nullptr || here->ndim == 0 || !TakesOperands(param)) return NDArray();
        operands_.push_back(
            {NDArray::Empty(TensorShape(*here), here->dtype, device_->context()), here});
        return operands_.back().there;
      }),
      args_(call, replace_),
      view_((ReadIntArrays(call), args_.view())),
      moved_(call.func, view_) {}

void MovedCall::ReadIntArrays(const Call& call) {
  const auto& params = call.func.info->body_params();
  const auto size = std::min(params.size(), static_cast<size_t>(call.args.size));
  for (size_t i = 0; i < size; ++i) {
    const DLTensor* tensor = BorrowedTensor(call.args.values[i], call.args.type_codes[i]);
    const bool is_attribute = !TakesOperands(params[i]) && !IsMutated(*params[i]);
    if (tensor == nullptr || !is_attribute) continue;
    std::vector<int64_t> ints;
    if (!ReadInts(*tensor, &ints)) continue;
    ints_.push_back(std::move(ints));
    args_.SetInts(i, {ints_.back().data(), ints_.back().size()});
  }
}

CallCost MovedCall::Move() const {
  CallCost cost;
  {
    // Copies wait for earlier work of the device; that time does not count as time for copying.
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
