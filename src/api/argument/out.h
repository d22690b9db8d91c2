/*!
 * \file out.h
 * \brief Arrays of the caller that a call writes to: the argument `out`, and those it changes.
 */
#ifndef MXNET_SRC_API_ARGUMENT_OUT_H_
#define MXNET_SRC_API_ARGUMENT_OUT_H_

#include <mxnet/runtime/packed_func.h>

#include "op/semantics/dispatch.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief ValueError or TypeError where an array of one spec cannot be `out` for a result of
 * another. Extents that may be symbolic fit where they may be equal.
 */
void CheckOutSpec(const MXNetArgValue& out, ShapeView shape, DLDataType dtype,
                  ShapeView result_shape, DLDataType result_dtype);

/*! \brief The array a result goes to by `out`; ValueError or TypeError where it does not fit. */
NDArray CheckedOut(const MXNetArgValue& out, ShapeView shape, DLDataType dtype);

/*! \brief An array that a call changes, wherever it is; ValueError where it cannot be written to.
 */
inline const DLTensor& WritableTensor(const MXNetArgValue& arg) {
  const auto* tensor = arg.As<const DLTensor*>();
  CheckedIndexOfDType(tensor->dtype);
  const void* handle = arg.value().v_handle;
  uint64_t flags = arg.type_code() == kMXNetReadOnlyArray ? kMXNetNDArrayReadOnly : 0;
  if (arg.type_code() == kMXNetBorrowedArray) {
    flags = static_cast<const MXNetBorrowedTensor*>(handle)->flags;
  } else if (arg.type_code() == kMXNetNDArrayHandle) {
    flags = static_cast<const MXNetNDArrayObject*>(handle)->flags;
  }
  const bool read_only = (flags & kMXNetNDArrayReadOnly) != 0;
  if (read_only) MXNET_THROW("ValueError") << "assignment destination is read-only";
  return *tensor;
}

/*! \brief Returns the result, or writes it to `out` where that is not None and returns that. */
void ReturnInto(NDArray result, const MXNetArgValue& out, MXNetRetValue* ret);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_ARGUMENT_OUT_H_
