/*!
 * \file out.cc
 * \brief Checks of `out`, and writing to it.
 */
#include "op/argument/out.h"

#include <utility>

#include "op/semantics/promotion.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

NDArray CheckedOut(const MXNetArgValue& out, ShapeView shape, DLDataType dtype) {
  if (out.type_code() != kMXNetNDArrayHandle) {
    MXNET_THROW("TypeError") << out.text() << " expected an array of this package or None, got "
                             << (out.type_name() == "ndarray" ? "a foreign array"
                                                              : out.type_name());
  }
  NDArray array = out.As<NDArray>();
  if (array.read_only()) MXNET_THROW("ValueError") << out.text() << " is read-only";
  if (array.shape() != shape) {
    MXNET_THROW("ValueError") << out.text() << " has shape " << array.shape().str()
                              << ", but the result has shape " << shape.str();
  }
  if (!CanCastSameKind(dtype, array.dtype())) {
    MXNET_THROW("TypeError") << out.text() << ": Cannot cast output from dtype('"
                             << DataTypeName(dtype) << "') to dtype('"
                             << DataTypeName(array.dtype()) << "') with casting rule 'same_kind'";
  }
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
