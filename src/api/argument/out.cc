/*!
 * \file out.cc
 * \brief Checks of `out`, and writing to it.
 */
#include "api/argument/out.h"

#include <mxnet/op/extent.h>

#include <string>
#include <utility>

#include "op/semantics/promotion.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

namespace {

bool MayBeEqual(ShapeView a, ShapeView b) {
  bool equal = a.size() == b.size();
  for (size_t i = 0; equal && i < a.size(); ++i) equal = !AreDifferent(a[i], b[i]);
  return equal;
}

/*! \brief A shape as messages have it, "(2, n)". */
std::string TextOf(ShapeView shape) {
  if (IsKnown(shape)) return shape.str();
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + ExtentText(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

void CheckOutSpec(const MXNetArgValue& out, ShapeView shape, DLDataType dtype,
                  ShapeView result_shape, DLDataType result_dtype) {
  if (shape != result_shape && !MayBeEqual(shape, result_shape)) {
    MXNET_THROW("ValueError") << out.text() << " has shape " << TextOf(shape)
                              << ", but the result has shape " << TextOf(result_shape);
  }
  if (!CanCastSameKind(result_dtype, dtype)) {
    MXNET_THROW("TypeError") << out.text() << ": Cannot cast output from dtype('"
                             << DataTypeName(result_dtype) << "') to dtype('" << DataTypeName(dtype)
                             << "') with casting rule 'same_kind'";
  }
}

NDArray CheckedOut(const MXNetArgValue& out, ShapeView shape, DLDataType dtype) {
  if (out.type_code() != kMXNetNDArrayHandle) {
    MXNET_THROW("TypeError") << out.text() << " expected an array of this package or None, got "
                             << (out.type_name() == "ndarray" ? "a foreign array"
                                                              : out.type_name());
  }
  NDArray array = out.As<NDArray>();
  if (array.read_only()) MXNET_THROW("ValueError") << out.text() << " is read-only";
  CheckOutSpec(out, array.shape(), array.dtype(), shape, dtype);
  return array;
}

void ReturnInto(NDArray result, const MXNetArgValue& out, MXNetRetValue* ret) {
  if (out.is_null()) {
    *ret = std::move(result);
    return;
  }
  NDArray target = CheckedOut(out, result.shape(), result.dtype());
  CopyCast(result.tensor(), target.tensor());
  *ret = std::move(target);
}

}  // namespace op
}  // namespace mxnet
