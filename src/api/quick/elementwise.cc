/*!
 * \file elementwise.cc
 * \brief Quick ways of elementwise operators on arrays of one type and shape: nothing is allocated
 * but the result.
 *
 * Small calls spend their time on the way to the loop, so what most calls are, dense, is asked
 * first. Other lines of elements, and those that are converted first, come after that.
 */
#include <cstring>
#include <utility>

#include "api/quick/attach.h"
#include "api/quick/elementwise_operands.h"
#include "op/elementwise/dense.h"
#include "op/elementwise/power.h"
#include "op/semantics/formula.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The operands of a call that the fast path can take. */
struct DenseCall {
  const DLTensor* shaped; /*!< an operand that is an array */
  char* data[3];          /*!< out, x1, x2 */
  int64_t strides[3];
  int64_t size;
  InnerLoop loop;
  ElementBuffer scalar;
};

/*! \brief Reads x1 and x2; false where they need the slow path. */
bool ReadDense(const BinaryOp& op, const MXNetArgs& args, DenseCall* call) {
  const DLTensor* left = OperandArg(args, 0);
  const DLTensor* right = OperandArg(args, 1);
  if (left == nullptr && right == nullptr) return false;
  const DLTensor& a = left != nullptr ? *left : *right;
  const int index = IndexOfDType(a.dtype);
  if (index < 0 || (call->loop = op.table.loops[index]) == nullptr) return false;
  const bool is_checked = op.check_integers != nullptr && IsIntDType(a.dtype);
  if (__builtin_expect(is_checked, 0)) return false;
  const int64_t item = ItemSize(a.dtype);
  if (!IsDense(a, item, &call->size)) return false;
  call->shaped = &a;
  call->strides[1] = call->strides[2] = item;
  call->data[1] = call->data[2] = static_cast<char*>(a.data);
  if (left != nullptr && right != nullptr) {
    call->data[2] = static_cast<char*>(right->data);
    return IsDenseLike(*right, a, item);
  }
  const int other = left != nullptr ? 1 : 0;
  call->data[other + 1] = call->scalar.bytes;
  call->strides[other + 1] = 0;
  return ReadScalar(index, args.values[other], args.type_codes[other], &call->scalar);
}

/*! \brief Of operands of one type and shape with elements at even steps, or of one and a number. */
bool QuickBinary(const BinaryOp& op, const MXNetArgs& args, MXNetRetValue* ret) {
  DenseCall call;
  if (__builtin_expect(!ReadDense(op, args, &call), 0)) return QuickBinaryLines(op, args, ret);
  const DLTensor& a = *call.shaped;
  const int64_t item = ItemSize(a.dtype);
  if (args.type_codes[2] == kMXNetNull) {
    const DLDataType dtype = ResultDType(op.result, a.dtype);
    NDArray result = NDArray::Empty(TensorShape(a), dtype, a.device);
    call.data[0] = static_cast<char*>(result.data());
    call.strides[0] = ItemSize(dtype);
    RunDense<3>(call.loop, call.data, call.strides, call.size);
    *ret = std::move(result);
    return true;
  }
  const DLTensor* right = OperandArg(args, 1);
  const DLTensor& b = right != nullptr ? *right : a;
  const bool is_output = args.type_codes[2] == kMXNetNDArrayHandle &&
                         op.result == ResultRule::kSame && !IsReadOnly(args, 2) &&
                         TakesDense(ArrayArg(args, 2), a, b, item, call.size);
  if (!is_output) return QuickBinaryLines(op, args, ret);
  call.data[0] = static_cast<char*>(ArrayArg(args, 2).data);
  call.strides[0] = item;
  RunDense<3>(call.loop, call.data, call.strides, call.size);
  *ret = args[2];
  return true;
}

/*! \brief Of an operand with elements at even steps, into a new array. */
bool QuickUnary(const UnaryOp& op, const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* operand = OperandArg(args, 0);
  if (operand == nullptr || args.type_codes[1] != kMXNetNull) return false;
  const DLTensor& x = *operand;
  const int index = IndexOfDType(x.dtype);
  const int64_t item = ItemSize(x.dtype);
  int64_t size;
  const bool is_dense = index >= 0 && op.table.loops[index] != nullptr && IsDense(x, item, &size);
  if (__builtin_expect(!is_dense, 0)) return QuickUnaryLine(op, x, ret);
  const DLDataType dtype = ResultDType(op.result, x.dtype);
  NDArray result = NDArray::Empty(TensorShape(x), dtype, x.device);
  char* const pointers[2] = {static_cast<char*>(result.data()), static_cast<char*>(x.data)};
  const int64_t strides[2] = {ItemSize(dtype), item};
  RunDense<2>(op.table.loops[index], pointers, strides, size);
  *ret = std::move(result);
  return true;
}

/*! \brief Whether there is one exponent for all, and not one that is the same in a row by chance.
 */
bool IsOneExponent(const MXNetValue& value, int type_code) {
  const DLTensor* tensor = nullptr;
  if (type_code == kMXNetFloat) return true;
  const bool is_tensor =
      TypeTraits<const DLTensor*>::TryFrom(value, type_code, &tensor) == Match::kOk;
  return is_tensor && TensorSize(*tensor) == 1;
}

bool QuickPower(const BinaryOp&, const MXNetArgs& args, MXNetRetValue* ret) {
  const bool is_one = IsOneExponent(args.values[1], args.type_codes[1]);
  return QuickBinary(is_one ? kPowerOfOne : kPower, args, ret);
}

/*! \brief QuickUnary of what is the same for all integers, which are not read. */
template <typename Formula>
bool QuickSameOfIntegers(const UnaryOp& op, const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* x = HostArray(args, 0);
  if (x == nullptr || !IsIntDType(x->dtype) || args.type_codes[1] != kMXNetNull) {
    return QuickUnary(op, args, ret);
  }
  NDArray result = NDArray::Empty(TensorShape(*x), kBool, x->device);
  std::memset(result.data(), Formula::Apply(int64_t{0}), static_cast<size_t>(result.size()));
  *ret = std::move(result);
  return true;
}

MXNET_QUICK_FOR_ALL(&QuickBinary);
MXNET_QUICK_FOR_ALL(&QuickUnary);
MXNET_QUICK("_npi.power", &QuickPower);
MXNET_QUICK("_npi.isnan", &QuickSameOfIntegers<formulas::isnan>);
MXNET_QUICK("_npi.isinf", &QuickSameOfIntegers<formulas::isinf>);
MXNET_QUICK("_npi.isfinite", &QuickSameOfIntegers<formulas::isfinite>);

}  // namespace
}  // namespace op
}  // namespace mxnet
