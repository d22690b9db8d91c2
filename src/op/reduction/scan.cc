/*!
 * \file scan.cc
 * \brief cumsum and cumprod.
 */
#include "op/reduction/reduce.h"
#include "op/reduction/rows_ahead.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Writes the result of all elements from `begin` on up to each, after that before it. */
template <typename Op, typename T>
void ScanOn(const char* x, int64_t stride, int64_t begin, int64_t n, Computed<T> total, T* out) {
  for (int64_t i = begin; i < n; ++i) {
    // Of two bytes it is rounded each time, as what is written is.
    out[i] = T(Op::Apply(total, LoadAt<T>(x + i * stride)));
    total = Load<T>(out[i]);
  }
}

/*! \brief Writes the result of all elements of a line up to each. */
template <typename Op, typename T>
void ScanLine(const char* x, int64_t stride, int64_t n, T* out) {
  out[0] = T(LoadAt<T>(x));
  ScanOn<Op, T>(x, stride, 1, n, Load<T>(out[0]), out);
}

/*! \brief Combines each of n elements of a row with that of the row before it. */
template <typename Op, typename T>
void CombineRow(const T* before, int64_t n, T* row) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) row[j] = T(Op::Apply(Load<T>(before[j]), Load<T>(row[j])));
}

/*! \brief Combines `columns` elements of each row with those of the row before it. */
template <typename Op, typename T>
void ScanRows(T* x, int64_t columns, int64_t width, int64_t rows) {
  for (int64_t r = 1; r < rows; ++r, x += width) CombineRow<Op>(x, columns, x + width);
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

/*!
 * \brief A scan into a tensor of another type than it computes in: elements are converted in blocks
 * that stay in the cache, and so are results.
 */
template <typename Op, typename T>
class ScanInBlocks {
 public:
  ScanInBlocks(const DLTensor& in, const DLTensor& out)
      : in_(in),
        data_(static_cast<char*>(TensorData(out))),
        item_(ItemSize(out.dtype)),
        read_(CastLoop(CheckedIndexOfDType(in.dtype), CheckedIndexOfDType(DTypeOf<T>()))),
        write_(CastLoop(CheckedIndexOfDType(DTypeOf<T>()), CheckedIndexOfDType(out.dtype))) {}

  /*! \brief Along rows of the last axis: of each, or of all of them as one. */
  void AlongRows(bool joined) const {
    const int64_t n = in_.shape[in_.ndim - 1];
    const int64_t rows = TensorSize(in_) / n;
    const auto some = [&](int64_t begin, int64_t end) {
      Line line{this, data_ + begin * n * item_};
      ForRows(begin, end, [&](const char* x, int64_t stride) {
        if (!joined) line.has_begun = false;
        line.Add(x, stride, n);
      });
    };
    if (joined || rows == 1 || rows * n < kFewForThreads) return some(0, rows);
    InParallel(rows, kElementsTimed / n + 1, some);
  }

  /*! \brief Along another axis, of neighbouring columns at a time. */
  void AlongColumns(int axis) const {
    std::optional<Axes> axes;
    axes.emplace().push_back(axis);
    const Reduction r(in_, axes);
    int64_t width = 1;
    for (int d = axis + 1; d < in_.ndim; ++d) width *= in_.shape[d];
    const int64_t step = r.reduced().ndim == 0 ? 0 : r.reduced_strides()[0];
    if (r.kept().ndim == 0) return Line{this, data_}.Add(r.data(), step, r.count());
    const int64_t stride = r.kept_strides()[r.kept().ndim - 1];
    ForResults(r, ResultsAbreast(r), [&](int64_t begin, int64_t end) {
      ForEachRun(r, begin, end, kReadBlock, [&](const char* x, int64_t result, int64_t n) {
        // Axes that are one for the elements may lie on both sides of the axis.
        for (const int64_t last = result + n; result < last;) {
          const int64_t column = result % width;
          const int64_t count = std::min(last - result, width - column);
          char* to = data_ + (result / width * r.count() * width + column) * item_;
          RowsAhead ahead(stride, count, step, r.count());
          for (Columns columns(this, count); columns.rows < r.count(); to += width * item_) {
            const char* const row = x + columns.rows * step;
            ahead.Next(row);
            columns.Add(row, stride, to);
          }
          x += count * stride;
          result += count;
        }
      });
    });
  }

 private:
  /*! \brief Elements that are combined one after the other. */
  struct Line {
    const ScanInBlocks* scan;
    char* to;
    bool has_begun{false};
    Computed<T> total{};

    void Add(const char* x, int64_t stride, int64_t n) {
      ReadBuffer<T> buffer;
      T* const block = reinterpret_cast<T*>(buffer.bytes);
      for (int64_t count; n > 0; n -= count, x += count * stride) {
        count = std::min(n, kReadBlock);
        scan->Read(x, stride, count, block);
        if (!has_begun) total = Load<T>(block[0]);
        ScanOn<Op, T>(buffer.bytes, sizeof(T), has_begun ? 0 : 1, count, total, block);
        total = Load<T>(block[count - 1]);
        has_begun = true;
        to = scan->Write(block, count, to);
      }
    }
  };

  /*! \brief Some neighbouring columns, of which the rows are added. */
  struct Columns {
    Columns(const ScanInBlocks* owner, int64_t count) : scan(owner), n(count) {}

    const ScanInBlocks* scan;
    int64_t n;
    int64_t rows{0};
    ReadBuffer<T> buffers[2];

    void Add(const char* x, int64_t stride, char* to) {
      T* const row = reinterpret_cast<T*>(buffers[rows % 2].bytes);
      scan->Read(x, stride, n, row);
      if (rows > 0) CombineRow<Op>(reinterpret_cast<T*>(buffers[(rows + 1) % 2].bytes), n, row);
      scan->Write(row, n, to);
      ++rows;
    }
  };

  void Read(const char* x, int64_t stride, int64_t n, T* block) const {
    char* const data[2] = {reinterpret_cast<char*>(block), const_cast<char*>(x)};
    const int64_t strides[2] = {sizeof(T), stride};
    read_(data, strides, n);
  }
  char* Write(const T* block, int64_t n, char* to) const {
    char* const data[2] = {to, reinterpret_cast<char*>(const_cast<T*>(block))};
    const int64_t strides[2] = {item_, sizeof(T)};
    write_(data, strides, n);
    return to + n * item_;
  }

  /*! \brief Calls visit(address, stride) for some rows, in order. */
  template <typename Visit>
  void ForRows(int64_t begin, int64_t end, const Visit& visit) const {
    const int last = in_.ndim - 1;
    DimBuffer strides;
    strides.ndim = in_.ndim;
    StridesOf(in_, strides.data);
    for (int d = 0; d <= last; ++d) strides[d] *= ItemSize(in_.dtype);
    ForEachOffset(
        static_cast<const char*>(TensorData(in_)), DimBuffer(TensorShape(in_)), strides, last,
        [&](const char* x) { visit(x, strides[last]); }, begin, end - begin);
  }

  const DLTensor& in_;
  char* data_;
  int64_t item_;
  InnerLoop read_;
  InnerLoop write_;
};

struct ScanAttributes {
  std::optional<Axis> axis;
  std::optional<DLDataType> dtype;
};

/*! \brief The type that a scan computes in. */
DLDataType TypeOfTotal(DLDataType dtype, const ScanAttributes& attributes) {
  return attributes.dtype.value_or(kSumTable.results[CheckedIndexOfDType(dtype)]);
}

void InferScan(const InferCall& call, const ScanAttributes& attributes) {
  const MXNetTensorSpec& a = call.in[0];
  const DLDataType dtype = TypeOfTotal(a.dtype, attributes);
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
  const DLDataType total = TypeOfTotal(call.in[0].dtype, attributes);
  if (elements.dtype != total) {
    if (TensorSize(elements) == 0) return;
    DLTensor in = call.in[0];
    if (flat && IsContiguous(in)) {
      in.ndim = 1;
      in.shape = elements.shape;
      in.strides = nullptr;
    }
    return DispatchDType(total, [&](auto tag) {
      const ScanInBlocks<Op, typename decltype(tag)::type> scan(in, elements);
      flat || axis == in.ndim - 1 ? scan.AlongRows(flat) : scan.AlongColumns(axis);
    });
  }
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
      .properties(kMXNetOpTypeOfOut | kMXNetOpConvertsOut)                                   \
      .release_gil(kReleaseGilBytes)                                                         \
      .infer(&InferScan)                                                                     \
      .run(&RunScan<Op>)

MXNET_REGISTER_SCAN("cumsum", "Running sums", reductions::cumsum);
MXNET_REGISTER_SCAN("cumprod", "Running products", reductions::cumprod);

}  // namespace
}  // namespace op
}  // namespace mxnet
