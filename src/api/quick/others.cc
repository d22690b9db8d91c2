/*!
 * \file others.cc
 * \brief Quick ways of softmax and log_softmax, imag, where and nonzero.
 */
#include <utility>

#include "api/argument/operand.h"
#include "api/quick/arguments.h"
#include "api/quick/attach.h"
#include "op/indexing/where.h"
#include "op/neural/softmax.h"
#include "op/semantics/promotion.h"
#include "op/tensor/axes.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Of an array of floats along any axis, of temperature 1. */
template <bool kLog>
bool QuickSoftmax(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostArray(args, 0);
  const bool is_plain = array != nullptr && args.type_codes[1] == kMXNetInt &&
                        args.type_codes[2] == kMXNetNull && args.type_codes[3] == kMXNetNull;
  if (!is_plain || !IsFloatDType(array->dtype)) return false;
  const DLTensor& x = *array;
  const int64_t given = args.values[1].v_int64;
  const int64_t axis = given < 0 ? given + x.ndim : given;
  if (axis < 0 || axis >= x.ndim) return false;
  NDArray result = NDArray::Empty(TensorShape(x), x.dtype, x.device);
  SoftmaxInto(kLog, 1, x, static_cast<int>(axis), result.tensor());
  *ret = std::move(result);
  return true;
}

/*! \brief The zeros of an array of the host that is not complex. */
bool QuickImaginary(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostArray(args, 0);
  if (array == nullptr || IsComplexDType(array->dtype)) return false;
  *ret = AsReadOnly(NDArray::Zeros(TensorShape(*array), array->dtype, array->device));
  return true;
}

/*! \brief Of arrays, and of an array and a number; and the indices of a condition alone. */
bool QuickWhere(const MXNetArgs& args, MXNetRetValue* ret) {
  if (args.type_codes[1] == kMXNetNull && args.type_codes[2] == kMXNetNull) {
    *ret = Nonzero(ToArray(args[0]));
    return true;
  }
  const DLTensor* condition = HostArray(args, 0);
  const DLTensor* x = HostArray(args, 1);
  if (condition == nullptr || x == nullptr || !IsBoolDType(condition->dtype)) return false;
  const DLTensor* y = HostArray(args, 2);
  ElementBuffer element;
  DLTensor number{&element, x->device, 0, x->dtype, nullptr, nullptr, 0};
  if (y == nullptr) {
    const WeakKind kind = KindOfNumber(args.type_codes[2]);
    if (kind == WeakKind::kNone || PromoteWeak(x->dtype, kind) != x->dtype) return false;
    Operand(args[2]).StoreScalar(x->dtype, &element);
    y = &number;
  }
  if (y->dtype != x->dtype) return false;
  const ShapeView shapes[] = {TensorShape(*condition), TensorShape(*x), TensorShape(*y)};
  DimBuffer shape;
  BroadcastShapes(shapes, 3, &shape);
  NDArray out = NDArray::Empty(shape.view(), x->dtype, condition->device);
  Choose(*condition, *x, *y, out.tensor());
  *ret = std::move(out);
  return true;
}

bool QuickNonzero(const MXNetArgs& args, MXNetRetValue* ret) {
  if (HostArray(args, 0) == nullptr) return false;
  *ret = Nonzero(args[0].As<NDArray>());
  return true;
}

MXNET_QUICK("_npx.softmax", &QuickSoftmax<false>);
MXNET_QUICK("_npx.log_softmax", &QuickSoftmax<true>);
MXNET_QUICK("_npi.imag", &QuickImaginary);
MXNET_QUICK("_npi.where", &QuickWhere);
MXNET_QUICK("_npi.nonzero", &QuickNonzero);

}  // namespace
}  // namespace op
}  // namespace mxnet
