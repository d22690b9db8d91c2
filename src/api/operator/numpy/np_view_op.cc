/*!
 * \file np_view_op.cc
 * \brief Views of the same memory as other elements: real, imag, view.
 */
#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/promotion.h"
#include "api/common/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief A view of every second component, from the first or the second on. */
NDArray PartView(const NDArray& array, int part) {
  const DLDataType dtype = RealOfDType(array.dtype());
  DimBuffer strides(array.strides());
  for (int d = 0; d < strides.ndim; ++d) strides[d] *= 2;
  char* data = array.data_as<char>() + part * ItemSize(dtype);
  return array.View(data, array.shape(), strides.view(), dtype);
}

/*! \brief ValueError unless elements of `from` bytes along the last axis can be ones of `to`. */
void CheckItemSizes(const NDArray& array, int64_t from, int64_t to) {
  const int last = array.ndim() - 1;
  if (last < 0) {
    MXNET_THROW("ValueError") << "Changing the dtype of a 0d array is only supported if the "
                              << "itemsize is unchanged";
  }
  if (array->shape[last] != 1 && array.size() != 0 && array->strides[last] != 1) {
    MXNET_THROW("ValueError") << "To change to a dtype of a different size, the last axis must be "
                              << "contiguous";
  }
  if (array->shape[last] * from % to != 0) {
    MXNET_THROW("ValueError") << "When changing to a larger dtype, its size must be a divisor of "
                              << "the total size in bytes of the last axis of the array.";
  }
}

/*! \brief The same bytes as elements of another type. */
NDArray ViewAs(const NDArray& array, DLDataType dtype) {
  const int64_t from = ItemSize(array.dtype());
  const int64_t to = ItemSize(dtype);
  DimBuffer shape(array.shape());
  DimBuffer strides(array.strides());
  if (from != to) {
    CheckItemSizes(array, from, to);
    const int last = array.ndim() - 1;
    shape[last] = shape[last] * from / to;
    for (int d = 0; d < last; ++d) {
      if (shape[d] > 1 && strides[d] * from % to != 0) {
        MXNET_THROW("ValueError") << "axis " << d << " steps by " << strides[d] * from
                                  << " bytes, which is no multiple of the new itemsize";
      }
      strides[d] = strides[d] * from / to;
    }
    strides[last] = 1;
  }
  return array.View(array.data(), shape.view(), strides.view(), dtype);
}

MXNET_REGISTER_OP("_npi.view")
    .flags(kMXNetFuncView)
    .describe("A view of the memory of an array as elements of another type, along its last axis.")
    .add_argument("a", "ndarray", kArrayDoc)
    .add_argument("dtype", kDTypeType, nullptr, "The type; that of the array if None.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const NDArray array = args[0].As<NDArray>();
      *ret = ViewAs(array, DTypeOr(args[1], array.dtype()));
    });

MXNET_REGISTER_OP("_npi.real")
    .flags(kMXNetFuncView)
    .describe(
        "The real part, of the shape of val: a view into a complex array, another array itself.")
    .add_argument("val", kArrayType, "The array.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      NDArray array = ToArray(args[0]);
      *ret = IsComplexDType(array.dtype()) ? PartView(array, 0) : array;
    });

MXNET_REGISTER_OP("_npi.imag")
    .flags(kMXNetFuncView)
    .describe(
        "The imaginary part, of the shape of val: a view into a complex array, else zeros, which "
        "are read-only.")
    .add_argument("val", kArrayType, "The array.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const NDArray array = ToArray(args[0]);
      *ret = IsComplexDType(array.dtype())
                 ? PartView(array, 1)
                 : AsReadOnly(NDArray::Zeros(array.shape(), array.dtype(), array.ctx()));
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
