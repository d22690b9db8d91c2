/*!
 * \file scan.cc
 * \brief cumsum and cumprod.
 */
#include "op/argument/arguments.h"
#include "op/reduction/reduce.h"
#include "op/schema/describe.h"
#include "op/tensor/views.h"

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

/*! \brief Combines each element of a row-major span with the one `step` elements before it. */
template <typename Op, typename T>
void CombineWithPrevious(T* x, int64_t step, int64_t n) {
  for (int64_t i = step; i < n; ++i) {
    if constexpr (kIsIntType<T>) {
      using Word = Wrapping<T>;
      x[i] = static_cast<T>(Op::Apply(static_cast<Word>(x[i - step]), static_cast<Word>(x[i])));
    } else {
      x[i] = T(Op::Apply(Load<T>(x[i - step]), Load<T>(x[i])));
    }
  }
}

/*! \brief Turns the elements along an axis into the result of all up to each, in place. */
template <typename Op>
void ScanInPlace(const DLTensor& array, int axis) {
  int64_t step = 1;
  for (int d = axis + 1; d < array.ndim; ++d) step *= array.shape[d];
  const int64_t run = step * array.shape[axis];
  if (run == 0) return;
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* x = static_cast<T*>(TensorData(array));
    for (T* end = x + TensorSize(array); x < end; x += run) CombineWithPrevious<Op>(x, step, run);
  });
}

struct ScanAttributes {
  std::optional<Axis> axis;
  std::optional<DLDataType> dtype;
};

void InferScan(const InferCall& call, const ScanAttributes& attributes) {
  const MXNetTensorSpec& a = call.in[0];
  const DLDataType total = kSumTable.results[CheckedIndexOfDType(a.dtype)];
  const DLDataType dtype = attributes.dtype.value_or(total);
  CheckedIndexOfDType(dtype);
  const bool flat = !attributes.axis || a.ndim == 0;
  // NumPy takes a 0-d array for one of a single element.
  NormalizeAxis(attributes.axis.value_or(Axis{}).value, flat ? 1 : a.ndim);
  if (!flat) return SetSpec(dtype, ShapeOf(a), call.out);
  const int64_t size = SizeOf(ShapeOf(a));
  SetSpec(dtype, ShapeView(&size, 1), call.out);
}

template <typename Op>
void RunScan(const RunCall& call, const ScanAttributes& attributes) {
  DLTensor elements = call.out[0];
  const bool flat = elements.ndim != call.in[0].ndim || !attributes.axis;
  // What is flattened is copied in the shape that it has.
  elements.ndim = call.in[0].ndim;
  elements.shape = call.in[0].shape;
  elements.strides = nullptr;
  CopyCast(call.in[0], elements);
  const int axis = flat ? 0 : NormalizeAxis(attributes.axis->value, call.out[0].ndim);
  ScanInPlace<Op>(call.out[0], axis);
}

#define MXNET_REGISTER_SCAN(Name, Doc, Op)                                                   \
  MXNET_REGISTER_OPERATOR("_npi." Name, ScanAttributes)                                      \
      .describe(Doc                                                                          \
                " along an axis, of the shape of a, or of the flattened array. bool and "    \
                "integers give int64 or uint64. Raises AxisError for an axis the array has " \
                "not.")                                                                      \
      .input("a", kArrayDoc)                                                                 \
      .attribute("axis", &ScanAttributes::axis, nullptr, "The axis; None flattens.")         \
      .attribute("dtype", &ScanAttributes::dtype, nullptr,                                   \
                 "Type of the result, converted to first.")                                  \
      .out()                                                                                 \
      .types(kMXNetTypesNumbersByDType)                                                      \
      .release_gil(kReleaseGilBytes)                                                         \
      .infer(&InferScan)                                                                     \
      .run(&RunScan<Op>)

MXNET_REGISTER_SCAN("cumsum", "Running sums", Plus);
MXNET_REGISTER_SCAN("cumprod", "Running products", Times);

}  // namespace
}  // namespace op
}  // namespace mxnet
