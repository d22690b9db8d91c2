/*!
 * \file np_scan_op.cc
 * \brief cumsum.
 */
#include "api/common/arguments.h"
#include "api/common/describe.h"
#include "api/operator/numpy/np_reduce.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Adds to each element of a row-major run the one `step` elements before it. */
template <typename T>
void AddPrevious(T* x, int64_t step, int64_t n) {
  for (int64_t i = step; i < n; ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      x[i] = x[i] | x[i - step];
    } else if constexpr (kIsIntType<T>) {
      x[i] = static_cast<T>(static_cast<Wrapping<T>>(x[i]) + static_cast<Wrapping<T>>(x[i - step]));
    } else {
      x[i] = T(Load<T>(x[i]) + Load<T>(x[i - step]));
    }
  }
}

/*! \brief Turns the elements along an axis into their running sums, in place. */
void ScanInPlace(const NDArray& array, int axis) {
  int64_t step = 1;
  for (int d = axis + 1; d < array.ndim(); ++d) step *= array.shape()[static_cast<size_t>(d)];
  const int64_t run = step * array.shape()[static_cast<size_t>(axis)];
  if (run == 0) return;
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* x = array.data_as<T>();
    for (T* end = x + array.size(); x < end; x += run) AddPrevious(x, step, run);
  });
}

NDArray Flatten(const NDArray& array) {
  const int64_t shape[1] = {array.size()};
  const int64_t strides[1] = {1};
  return array.View(array.data(), ShapeView(shape, 1), ShapeView(strides, 1), array.dtype());
}

/*! \brief Body with arguments a, axis, dtype, out. */
void RunCumsum(const MXNetArgs& args, MXNetRetValue* ret) {
  Operand a(args[0]);
  const DLDataType total = kSumTable.results[CheckedIndexOfDType(a.dtype())];
  NDArray sums = AsType(a.TensorAs(a.dtype()), DTypeOr(args[2], total));
  if (args[1].is_null() || sums.ndim() == 0) {
    // NumPy takes a 0-d array for one of a single element.
    if (!args[1].is_null()) NormalizeAxis(args[1].As<int64_t>(), 1);
    sums = Flatten(sums);
    ScanInPlace(sums, 0);
  } else {
    ScanInPlace(sums, NormalizeAxis(args[1].As<int64_t>(), sums.ndim()));
  }
  ReturnInto(std::move(sums), args[3], ret);
}

MXNET_REGISTER_API("_npi.cumsum")
    .describe(
        "Running sums along an axis, of the shape of a, or of the flattened array. bool and "
        "integers give int64 or uint64. Raises AxisError for an axis the array has not.")
    .add_argument("a", kArrayType, "Elements to add.")
    .add_argument("axis", kOptionalAxisType, nullptr, "Axis along which to add; None flattens.")
    .add_argument("dtype", kDTypeType, nullptr, "Type of the result, converted to first.")
    .add_argument("out", "ndarray | None", nullptr, MXNET_OUT_DOC)
    .returns(kNDArray)
    .release_gil(kReleaseGilBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { RunCumsum(args, ret); });

}  // namespace
}  // namespace op
}  // namespace mxnet
