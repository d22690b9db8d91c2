/*!
 * \file np_complex_op.cc
 * \brief real and imag: the parts of complex arrays, as views.
 */
#include <mxnet/runtime/registry.h>

#include "api/common/cast.h"
#include "api/common/promotion.h"

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

MXNET_REGISTER_API("_npi.real")
    .describe(
        "The real part, of the shape of val: a view into a complex array, another array itself.")
    .add_argument("val", "ArrayLike", "The array.")
    .returns("ndarray")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      NDArray array = ToArray(args[0]);
      *ret = IsComplexDType(array.dtype()) ? PartView(array, 0) : array;
    });

MXNET_REGISTER_API("_npi.imag")
    .describe("The imaginary part, of the shape of val: a view into a complex array, else zeros.")
    .add_argument("val", "ArrayLike", "The array.")
    .returns("ndarray")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const NDArray array = ToArray(args[0]);
      *ret = IsComplexDType(array.dtype())
                 ? PartView(array, 1)
                 : NDArray::Zeros(array.shape(), array.dtype(), array.ctx());
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
