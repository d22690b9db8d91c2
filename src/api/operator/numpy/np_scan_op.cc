/*!
 * \file np_scan_op.cc
 * \brief cumsum and cumprod.
 */
#include "api/common/arguments.h"
#include "api/common/describe.h"
#include "api/common/views.h"
#include "api/operator/numpy/np_reduce.h"

namespace mxnet {
namespace op {
namespace {

struct Plus {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    if constexpr (!std::is_same_v<T, bool>) return a + b;
  }
};

struct Times {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (kIsComplexType<T>) {
      return T(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    } else if constexpr (std::is_same_v<T, bool>) {
      return a && b;
    } else {
      return a * b;
    }
  }
};

/*! \brief Folds into each element of a row-major run the one `step` elements before it. */
template <typename Op, typename T>
void FoldPrevious(T* x, int64_t step, int64_t n) {
  for (int64_t i = step; i < n; ++i) {
    if constexpr (kIsIntType<T>) {
      using Word = Wrapping<T>;
      x[i] = static_cast<T>(Op::Apply(static_cast<Word>(x[i - step]), static_cast<Word>(x[i])));
    } else {
      x[i] = T(Op::Apply(Load<T>(x[i - step]), Load<T>(x[i])));
    }
  }
}

/*! \brief Turns the elements along an axis into what is folded up to each, in place. */
template <typename Op>
void ScanInPlace(const NDArray& array, int axis) {
  int64_t step = 1;
  for (int d = axis + 1; d < array.ndim(); ++d) step *= array.shape()[static_cast<size_t>(d)];
  const int64_t run = step * array.shape()[static_cast<size_t>(axis)];
  if (run == 0) return;
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* x = array.data_as<T>();
    for (T* end = x + array.size(); x < end; x += run) FoldPrevious<Op>(x, step, run);
  });
}

/*! \brief Body with arguments a, axis, dtype, out. */
template <typename Op>
void RunScan(const MXNetArgs& args, MXNetRetValue* ret) {
  Operand a(args[0]);
  const DLDataType total = kSumTable.results[CheckedIndexOfDType(a.dtype())];
  const DLDataType dtype = DTypeOr(args[2], total);
  const DLTensor& elements = a.TensorAs(a.dtype());
  const int64_t size = TensorSize(elements);
  const bool flat = args[1].is_null() || elements.ndim == 0;
  // NumPy takes a 0-d array for one of a single element.
  const int axis = NormalizeAxis(ToAxisOr(args[1], 0), flat ? 1 : elements.ndim);
  AnnounceResult(flat ? ShapeView(&size, 1) : a.shape(), dtype, a.ctx());
  NDArray scanned = AsType(elements, dtype);
  if (flat) scanned = Flattened(scanned);
  ScanInPlace<Op>(scanned, axis);
  ReturnInto(std::move(scanned), args[3], ret);
}

#define MXNET_REGISTER_SCAN(Name, Doc, Op)                                                   \
  MXNET_REGISTER_OP("_npi." Name)                                                            \
      .describe(Doc                                                                          \
                " along an axis, of the shape of a, or of the flattened array. bool and "    \
                "integers give int64 or uint64. Raises AxisError for an axis the array has " \
                "not.")                                                                      \
      .add_argument("a", kArrayType, kArrayDoc)                                              \
      .add_argument("axis", kOptionalAxisType, nullptr, "The axis; None flattens.")          \
      .add_argument("dtype", kDTypeType, nullptr, "Type of the result, converted to first.") \
      .add_argument("out", "ndarray | None", nullptr, MXNET_OUT_DOC)                         \
      .written()                                                                             \
      .release_gil(kReleaseGilBytes)                                                         \
      .set_body([](MXNetArgs args, MXNetRetValue* ret) { RunScan<Op>(args, ret); })

MXNET_REGISTER_SCAN("cumsum", "Running sums", Plus);
MXNET_REGISTER_SCAN("cumprod", "Running products", Times);

}  // namespace
}  // namespace op
}  // namespace mxnet
