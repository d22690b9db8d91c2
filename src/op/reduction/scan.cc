/*!
 * \file scan.cc
 * \brief cumsum and cumprod.
 */
#include "op/reduction/reduce.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Writes the result of all elements of a line up to each. */
template <typename Op, typename T>
void ScanLine(const char* x, int64_t stride, int64_t n, T* out) {
  Computed<T> total = LoadAt<T>(x);
  out[0] = T(total);
  for (int64_t i = 1; i < n; ++i) {
    // Of two bytes it is rounded each time, as what is written is.
    out[i] = T(Op::Apply(total, LoadAt<T>(x + i * stride)));
    total = Load<T>(out[i]);
  }
}

/*! \brief Combines `columns` elements of each row with those of the row before it. */
template <typename Op, typename T>
void ScanRows(T* x, int64_t columns, int64_t width, int64_t rows) {
  for (int64_t r = 1; r < rows; ++r, x += width) {
    T* next = x + width;
#pragma GCC ivdep
    for (int64_t j = 0; j < columns; ++j) {
      next[j] = T(Op::Apply(Load<T>(x[j]), Load<T>(next[j])));
    }
  }
}

/*! \brief The same of the lines along one axis, into an array that has them one after the other. */
template <typename Op>
void ScanLines(const Reduction& r, const DLTensor& out) {
  if (TensorSize(out) == 0) return;
  const int64_t n = r.count();
  const int64_t stride = r.reduced().ndim == 0 ? 0 : r.reduced_strides()[0];
  DispatchDType(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForResults(r, 1, [&](int64_t begin, int64_t end) {
      T* to = static_cast<T*>(TensorData(out)) + begin * n;
      const auto scan = [&](const char* line) {
        ScanLine<Op>(line, stride, n, to);
        to += n;
      };
      ForEachOffset(r.data(), r.kept(), r.kept_strides(), r.kept().ndim, scan, begin, end - begin);
    });
  });
}

/*! \brief Turns the elements along an axis into the result of all up to each, in place. */
template <typename Op>
void ScanInPlace(const DLTensor& array, int axis) {
  std::optional<Axes> axes;
  axes.emplace().push_back(axis);
  const Reduction r(array, axes);
  if (r.count() < 2) return;
  if (r.kept().ndim == 0 || r.reduced_strides()[0] == ItemSize(array.dtype)) {
    return ScanLines<Op>(r, array);
  }
  if (r.out_size() == 0) return;
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const elements = static_cast<T*>(TensorData(array));
    const int64_t width = r.reduced_strides()[0] / static_cast<int64_t>(sizeof(T));
    ForResults(r, ResultsAbreast(r), [&](int64_t begin, int64_t end) {
      ForEachRun(r, begin, end, end - begin, [&](const char* x, int64_t, int64_t columns) {
        ScanRows<Op>(elements + (x - r.data()) / static_cast<int64_t>(sizeof(T)), columns, width,
                     r.count());
      });
    });
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
  const int axis = flat ? 0 : NormalizeAxis(attributes.axis->value, call.out[0].ndim);
  const bool is_line = call.in[0].ndim == 1 || (flat && IsContiguous(call.in[0]));
  if (elements.dtype == call.in[0].dtype && (is_line || (!flat && axis == elements.ndim - 1))) {
    std::optional<Axes> axes;
    if (!is_line) axes.emplace().push_back(axis);
    return ScanLines<Op>(Reduction(call.in[0], axes), elements);
  }
  // What is flattened is copied in the shape that it has.
  elements.ndim = call.in[0].ndim;
  elements.shape = call.in[0].shape;
  elements.strides = nullptr;
  CopyCast(call.in[0], elements);
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
                 "Type of the result, converted to first; that of out, where it is wider.")  \
      .out()                                                                                 \
      .types(kMXNetTypesNumbersByDType)                                                      \
      .properties(kMXNetOpTypeOfOut)                                                         \
      .release_gil(kReleaseGilBytes)                                                         \
      .infer(&InferScan)                                                                     \
      .run(&RunScan<Op>)

MXNET_REGISTER_SCAN("cumsum", "Running sums", reductions::cumsum);
MXNET_REGISTER_SCAN("cumprod", "Running products", reductions::cumprod);

}  // namespace
}  // namespace op
}  // namespace mxnet
