/*!
 * \file arg_extremum.cc
 * \brief argmax and argmin.
 */
#include "op/reduction/arg_extremum.h"

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/gather.h"
#include "op/kernels/reduction/extremum.h"
#include "op/reduction/reduction.h"
#include "op/reduction/rows_ahead.h"
#include "op/schema/describe.h"
#include "op/semantics/order.h"

namespace mxnet {
namespace op {
namespace {

struct Largest : reductions::argmax {
  static constexpr bool kLargest = true;
};

struct Smallest : reductions::argmin {
  static constexpr bool kLargest = false;
};

/*! \brief More elements that lie apart are brought together before they are searched. */
constexpr int64_t kFewFound = 16;

/*! \brief FindFirst of elements that lie apart. */
template <typename Order, typename T>
int64_t FindGathered(const char* x, int64_t stride, int64_t n) {
  T block[kReadBlock];
  T value{};
  int64_t best = 0;
  for (int64_t begin = 0; begin < n; begin += kReadBlock) {
    const int64_t count = std::min(kReadBlock, n - begin);
    GatherStrided(x + begin * stride, stride, sizeof(T), count, reinterpret_cast<char*>(block));
    const int64_t at = FindExtremum<Order::kLargest>(block, count);
    if (begin == 0 || Order::Apply(value, block[at])) {
      best = begin + at;
      value = block[at];
      if (IsNan(value)) break;
    }
  }
  return best;
}

/*! \brief Position of the first NaN, or else of the first extremum. */
template <typename Order, typename T>
int64_t FindFirst(const char* x, int64_t stride, int64_t n) {
  if constexpr (kHasExtremum<T>) {
    if (stride == sizeof(T)) {
      return FindExtremum<Order::kLargest>(reinterpret_cast<const T*>(x), n);
    }
    if (n > kFewFound) return FindGathered<Order, T>(x, stride, n);
  }
  int64_t best = 0;
  auto value = LoadAt<T>(x);
  for (int64_t i = 1; i < n; ++i) {
    const auto candidate = LoadAt<T>(x + i * stride);
    if (Order::Apply(value, candidate)) {
      best = i;
      value = candidate;
      if (IsNan(value)) break;
    }
  }
  return best;
}

/*! \brief Whether columns of T are searched side by side, with positions of the same size. */
template <typename T>
constexpr bool kFindsColumns = std::is_arithmetic_v<T> && sizeof(T) >= 4;

/*! \brief Elements of a row that are found instead of those of the rows above. */
template <typename Order, typename T>
struct FindInRow {
  using Position = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  static MXNET_ALWAYS_INLINE void Run(const T* x, int64_t n, Position row, T* best,
                                      Position* found) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      const bool is_found = Order::Apply(best[j], x[j]);
      found[j] = is_found ? row : found[j];
      best[j] = is_found ? x[j] : best[j];
    }
  }
};

/*! \brief Finds in columns, `step` bytes between their n elements. */
template <typename Order, typename T>
void FindColumns(const char* x, int64_t stride, int64_t columns, int64_t step, int64_t n,
                 int64_t* out) {
  if constexpr (kFindsColumns<T>) {
    static const auto find = ForCpu<FindInRow<Order, T>>();
    constexpr int64_t kTile = kReadBlock;
    for (int64_t begin = 0; begin < columns; begin += kTile, x += kTile * stride) {
      const int64_t count = std::min(kTile, columns - begin);
      T best[kTile];
      T row[kTile];
      typename FindInRow<Order, T>::Position found[kTile] = {};
      RowsAhead ahead(stride, count, step, n);
      ahead.Next(x);
      GatherStrided(x, stride, sizeof(T), count, reinterpret_cast<char*>(best));
      for (int64_t r = 1; r < n; ++r) {
        const char* elements = x + r * step;
        ahead.Next(elements);
        if (stride != sizeof(T)) {
          GatherStrided(elements, stride, sizeof(T), count, reinterpret_cast<char*>(row));
          elements = reinterpret_cast<const char*>(row);
        }
        find(reinterpret_cast<const T*>(elements), count,
             static_cast<typename FindInRow<Order, T>::Position>(r), best, found);
      }
      std::copy(found, found + count, out + begin);
    }
  }
}

template <typename Order, typename... Ts>
constexpr FindTable FindLoopsOf(TypeList<Ts...>) {
  return {{&FindFirst<Order, Ts>...}, {(kFindsColumns<Ts> ? &FindColumns<Order, Ts> : nullptr)...}};
}

template <typename Order>
constexpr FindTable FindLoops() {
  return FindLoopsOf<Order>(
      TypeList<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, Half,
               BFloat16, float, double, Complex64, Complex128>{});
}

constexpr Search kLargest{FindLoops<Largest>(), "argmax"};
constexpr Search kSmallest{FindLoops<Smallest>(), "argmin"};

struct FindAttributes {
  std::optional<int64_t> axis;
  bool keepdims{false};

  /*! \brief The same as those of a reduction. */
  ReduceAttributes reduce() const {
    ReduceAttributes attributes;
    attributes.keepdims = keepdims;
    if (!axis) return attributes;
    attributes.axis.emplace();
    attributes.axis->push_back(*axis);
    attributes.axis->single = true;
    return attributes;
  }
};

void InferFind(const InferCall& call, const FindAttributes& attributes) {
  const auto& search = *static_cast<const Search*>(call.data);
  const ReduceAttributes reduce = attributes.reduce();
  SetReduced(kInt64, ShapeOf(call.in[0]), reduce, call.out);
  if (ReducedCount(ShapeOf(call.in[0]), reduce.axis) == 0) {
    MXNET_THROW("ValueError") << "attempt to get " << search.name << " of an empty sequence";
  }
}

/*! \brief Whether lines of n elements that lie apart, along the last axis of a small array, are so
 * short that all are better brought together at once. */
bool IsOfShortLines(const DLTensor& a, int64_t axis, int64_t n) {
  constexpr int64_t kShort = 128;
  const bool is_last = axis == -1 || axis == a.ndim - 1;
  return is_last && n > kFewFound && n <= kShort && a.strides[a.ndim - 1] != 1 &&
         TensorSize(a) > n && TensorSize(a) < kFewForThreads;
}

void RunFind(const RunCall& call, const FindAttributes& attributes) {
  const auto& search = *static_cast<const Search*>(call.data);
  const DLTensor* elements = call.in;
  NDArray flat;
  if (!attributes.axis && !IsContiguous(*elements)) {
    // Positions count in row-major order, which the reduced axes of another layout are not in.
    flat = Contiguous(*elements);
    elements = &flat.tensor();
  }
  const Reduction r(*elements, attributes.reduce().axis);
  const int index = CheckedIndexOfDType(elements->dtype);
  const auto find = search.table.find[index];
  const auto find_columns = search.table.columns[index];
  const int64_t n = r.count();
  const int64_t stride = r.reduced().ndim == 0 ? 0 : r.reduced_strides()[0];
  auto* out = static_cast<int64_t*>(TensorData(call.out[0]));
  if (r.out_size() == 0) return;
  if (find_columns != nullptr && r.reduces_rows() && n <= INT32_MAX) {
    const int64_t step = r.kept_strides()[r.kept().ndim - 1];
    return ForResults(r, ResultsAbreast(r), [&](int64_t begin, int64_t end) {
      ForEachRun(r, begin, end, end - begin, [&](const char* x, int64_t result, int64_t columns) {
        find_columns(x, step, columns, stride, n, out + result);
      });
    });
  }
  const bool is_dense = IsContiguous(*elements);
  if (!is_dense && attributes.axis && IsOfShortLines(*elements, *attributes.axis, n)) {
    const NDArray dense = Contiguous(*elements);
    RunCall again = call;
    again.in = &dense.tensor();
    return RunFind(again, attributes);
  }
  ForResults(r, 1, [&](int64_t begin, int64_t end) {
    int64_t* to = out + begin;
    ForEachOffset(
        r.data(), r.kept(), r.kept_strides(), r.kept().ndim,
        [&](const char* x) { *to++ = find(x, stride, n); }, begin, end - begin);
  });
}

/*! \brief Of the rows of a small matrix without gaps, into a new array. */
NDArray FindInRows(const Search& search, const DLTensor& a) {
  NDArray result = NDArray::Empty(ShapeView(a.shape, 1), kInt64, a.device);
  const auto find = search.table.find[CheckedIndexOfDType(a.dtype)];
  const int64_t item = ItemSize(a.dtype);
  const char* row = static_cast<const char*>(TensorData(a));
  auto* to = static_cast<int64_t*>(result.data());
  for (int64_t i = 0; i < a.shape[0]; ++i)
    to[i] = find(row + i * a.shape[1] * item, item, a.shape[1]);
  return result;
}

#define MXNET_REGISTER_FIND(Name, Doc, Op)                                                   \
  MXNET_REGISTER_OPERATOR("_npi." Name, FindAttributes)                                      \
      .describe(Doc                                                                          \
                " The result is int64. Raises ValueError for no elements, AxisError for an " \
                "axis the array has not.")                                                   \
      .input("a", "Elements to search.")                                                     \
      .attribute("axis", &FindAttributes::axis, nullptr,                                     \
                 "Axis that is searched; None searches the flattened array.")                \
      .out()                                                                                 \
      .attribute("keepdims", &FindAttributes::keepdims, false, MXNET_KEEPDIMS_DOC)           \
      .properties(kMXNetOpNarrowOut)                                                         \
      .release_gil(kReleaseGilBytes)                                                         \
      .data(&(Op))                                                                           \
      .infer(&InferFind)                                                                     \
      .run(&RunFind)

MXNET_REGISTER_FIND("argmax", "Position of the first NaN, or else of the first largest element.",
                    kLargest);
MXNET_REGISTER_FIND("argmin", "Position of the first NaN, or else of the first smallest element.",
                    kSmallest);

}  // namespace

NDArray Find(const Search& search, const DLTensor& a, std::optional<int64_t> axis) {
  const bool is_of_rows = axis && a.ndim == 2 && (*axis == 1 || *axis == -1);
  if (is_of_rows && a.shape[1] > 0 && TensorSize(a) < kFewForThreads && IsContiguous(a)) {
    return FindInRows(search, a);
  }
  FindAttributes attributes;
  attributes.axis = axis;
  DimBuffer room;
  const MXNetTensorSpec in{a.dtype, a.dtype, a.ndim, kMXNetWeakNone, a.shape};
  MXNetTensorSpec out{kInt64, kInt64, 0, kMXNetWeakNone, room.data};
  InferFind(InferCall{&in, 1, &out, 1, &search}, attributes);
  NDArray result = NDArray::Empty(ShapeOf(out), kInt64, a.device);
  DLTensor found = result.tensor();
  RunFind(RunCall{&a, 1, &found, 1, nullptr, &search}, attributes);
  return result;
}

}  // namespace op
}  // namespace mxnet
