/*!
 * \file reduce.h
 * \brief Reductions: which axes, in which order elements are visited, and the loops that reduce
 * them.
 */
#ifndef MXNET_SRC_OP_REDUCTION_REDUCE_H_
#define MXNET_SRC_OP_REDUCTION_REDUCE_H_

#include <mxnet/op/operator.h>

#include <algorithm>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/gather.h"
#include "op/parallel/parallel.h"
#include "op/reduction/block_reader.h"

namespace mxnet {
namespace op {

/*!
 * \brief A tensor's axes split into those kept and those reduced.
 *
 * Neighbouring axes are merged where memory allows. Strides are in bytes. The kept axes stay in
 * their order, so that results are written row-major; the reduced ones are sorted, the smallest
 * stride last.
 */
class Reduction {
 public:
  /*! \brief AxisError or ValueError where an axis is wrong; no axes are all. */
  Reduction(const DLTensor& a, const std::optional<Axes>& axes);

  /*!
   * \brief Has a reader, which outlives the reduction, make the elements; NULL takes them as they
   * are.
   *
   * Only reducers that are kReads ask it.
   */
  void set_reader(const BlockReader* reader) noexcept { reader_ = reader; }
  const BlockReader* reader() const noexcept { return reader_; }

  /*! \brief Number of elements that are reduced to one. */
  int64_t count() const noexcept { return count_; }
  int64_t out_size() const noexcept { return out_size_; }

  const char* data() const noexcept { return data_; }
  const DimBuffer& kept() const noexcept { return kept_; }
  const DimBuffer& kept_strides() const noexcept { return kept_strides_; }
  const DimBuffer& reduced() const noexcept { return reduced_; }
  const DimBuffer& reduced_strides() const noexcept { return reduced_strides_; }

  /*! \brief Whether elements of one result lie further apart than those of neighbouring results. */
  bool reduces_rows() const noexcept;

 private:
  void Split(const DLTensor& a);

  const char* data_;
  const BlockReader* reader_{nullptr};
  bool is_reduced_[kMaxNdim];
  int64_t count_{1};
  int64_t out_size_{1};
  DimBuffer kept_;
  DimBuffer kept_strides_;
  DimBuffer reduced_;
  DimBuffer reduced_strides_;
};

/*! \brief Calls visit(address) for every index of the first ndim axes. */
template <typename Visit>
void ForEachOffset(const char* data, const DimBuffer& shape, const DimBuffer& strides, int ndim,
                   Visit&& visit) {
  int64_t index[kMaxNdim];
  for (int d = 0; d < ndim; ++d) index[d] = 0;
  while (true) {
    visit(data);
    int d = ndim - 1;
    for (; d >= 0; --d) {
      data += strides[d];
      if (++index[d] < shape[d]) break;
      data -= strides[d] * shape[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

namespace internal {

/*! \brief Body::Run, compiled for the processor where elements of T are computed with as they are.
 */
template <typename Body, typename T>
auto ReduceFunction() -> decltype(&Body::Run) {
  if constexpr (kGainsFromCpu<T>) return ForCpu<Body>();
  return &Compiled<Body, decltype(&Body::Run)>::Baseline;
}

}  // namespace internal

/*! \brief A faster reduction of dense elements, where a Reducer has one for T. */
template <typename Reducer, typename T>
struct DenseReducer {
  static constexpr bool kExists = false;
};

/*! \brief The accumulator before the first element, which is at x, unless a reader makes it. */
template <typename Reducer, typename T>
typename Reducer::template Acc<T> StartAt(const char* x) {
  if constexpr (Reducer::kReads) return Reducer::template Start<T>(Computed<T>{});
  if constexpr (!Reducer::kReads) return Reducer::template Start<T>(LoadAt<T>(x));
}

/*!
 * \brief Reduces n elements `stride` bytes apart, with Reducer::Combine(accumulator, element).
 *
 * A Reducer has Acc<T> and Result<T>, Start(first) for the accumulator before the first element,
 * Combine, and Merge of two accumulators. Where it is kReads, Start is a constant. kLanes<T>
 * independent accumulators take turns, and spans longer than kBlock are halved.
 */
template <typename Reducer, typename T>
struct ReduceBody {
  static MXNET_ALWAYS_INLINE typename Reducer::template Acc<T> Run(const char* x, int64_t stride,
                                                                   int64_t n);
};

template <typename Reducer, typename T>
typename Reducer::template Acc<T> ReduceBlock(const char* x, int64_t stride, int64_t n) {
  if constexpr (DenseReducer<Reducer, T>::kExists) {
    if (stride == sizeof(T)) return DenseReducer<Reducer, T>::Run(reinterpret_cast<const T*>(x), n);
  }
  static const auto run = internal::ReduceFunction<ReduceBody<Reducer, T>, T>();
  constexpr int64_t kFew = 2 * Reducer::template kLanes<T>;
  if (stride == sizeof(T) || n < kFew) return run(x, stride, n);
  // Elements that lie apart are brought together before they are reduced.
  ReadBuffer<T> buffer;
  auto total = StartAt<Reducer, T>(x);
  for (int64_t begin = 0; begin < n; begin += kReadBlock) {
    const int64_t count = std::min(kReadBlock, n - begin);
    GatherStrided(x + begin * stride, stride, sizeof(T), count, buffer.bytes);
    if constexpr (DenseReducer<Reducer, T>::kExists) {
      total = Reducer::template Merge<T>(
          total, DenseReducer<Reducer, T>::Run(reinterpret_cast<const T*>(buffer.bytes), count));
    } else if (begin == 0) {
      total = run(buffer.bytes, sizeof(T), count);
    } else {
      total = Reducer::template Merge<T>(total, run(buffer.bytes, sizeof(T), count));
    }
  }
  return total;
}

template <typename Reducer, typename T>
MXNET_ALWAYS_INLINE typename Reducer::template Acc<T> ReduceBody<Reducer, T>::Run(const char* x,
                                                                                  int64_t stride,
                                                                                  int64_t n) {
  using Acc = typename Reducer::template Acc<T>;
  constexpr int kLanes = Reducer::template kLanes<T>;
  const Acc start = Reducer::template Start<T>(LoadAt<T>(x));
  Acc result = start;
  int64_t i = 0;
  if (n >= 2 * kLanes) {
    Acc lanes[kLanes];
    for (Acc& lane : lanes) lane = start;
    if (stride == sizeof(T)) {
      auto* elements = reinterpret_cast<const Stored<T>*>(x);
      for (; i + kLanes <= n; i += kLanes) {
        for (int l = 0; l < kLanes; ++l) {
          lanes[l] = Reducer::template Combine<T>(lanes[l], Load<T>(elements[i + l]));
        }
      }
    } else {
      for (; i + kLanes <= n; i += kLanes) {
        for (int l = 0; l < kLanes; ++l) {
          lanes[l] = Reducer::template Combine<T>(lanes[l], LoadAt<T>(x + (i + l) * stride));
        }
      }
    }
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int l = 0; l < width; ++l)
        lanes[l] = Reducer::template Merge<T>(lanes[l], lanes[l + width]);
    }
    result = lanes[0];
  }
  for (; i < n; ++i) result = Reducer::template Combine<T>(result, LoadAt<T>(x + i * stride));
  return result;
}

/*! \brief How a span of elements is reduced a block at a time: as they lie in memory. */
template <typename Reducer, typename T>
struct LyingBlocks {
  typename Reducer::template Acc<T> Run(const char* x, int64_t stride, int64_t n) const {
    return ReduceBlock<Reducer, T>(x, stride, n);
  }
};

/*! \brief The same for elements of one result that a reader makes. */
template <typename Reducer, typename T>
struct ReadBlocks {
  const BlockReader* reader;
  int64_t result;

  // Apart, for the room it takes, which each level of a recursion would have.
  [[gnu::noinline]] typename Reducer::template Acc<T> Run(const char* x, int64_t stride,
                                                          int64_t n) const {
    static_assert(Reducer::kBlock <= kReadBlock, "a block is read at a time");
    ReadBuffer<T> buffer;
    reader->Read(x, stride, n, result, 0, buffer.bytes);
    return ReduceBlock<Reducer, T>(buffer.bytes, sizeof(T), n);
  }
};

template <typename Reducer, typename T, typename Blocks>
typename Reducer::template Acc<T> ReduceSpan(Blocks blocks, const char* x, int64_t stride,
                                             int64_t n) {
  if (n <= Reducer::kBlock) return blocks.Run(x, stride, n);
  constexpr int kLanes = Reducer::template kLanes<T>;
  const int64_t half = n / 2 / kLanes * kLanes;
  const auto first = ReduceSpan<Reducer, T>(blocks, x, stride, half);
  if constexpr (std::is_same_v<typename Reducer::template Acc<T>, bool>) {
    if (Reducer::IsSettled(first)) return first;
  }
  return Reducer::template Merge<T>(
      first, ReduceSpan<Reducer, T>(blocks, x + half * stride, stride, n - half));
}

/*! \brief A span longer than this is reduced in parts, which several threads may share. */
constexpr int64_t kLongSpan = int64_t{1} << 17;
constexpr int kSpanParts = 16;
static_assert(kLongSpan / kSpanParts > 2 * kReadBlock, "ReduceSpan halves what the parts are of");

/*!
 * \brief ReduceSpan of a long span: its parts are where the halves of halves begin, and are merged
 * in the same order, so that the result is the same to the last digit.
 */
template <typename Reducer, typename T, typename Blocks>
typename Reducer::template Acc<T> ReduceLongSpan(Blocks blocks, const char* x, int64_t stride,
                                                 int64_t n) {
  constexpr int kLanes = Reducer::template kLanes<T>;
  int64_t begins[kSpanParts + 1] = {0};
  begins[kSpanParts] = n;
  for (int width = kSpanParts; width > 1; width /= 2) {
    for (int i = 0; i < kSpanParts; i += width) {
      const int64_t half = (begins[i + width] - begins[i]) / 2 / kLanes * kLanes;
      begins[i + width / 2] = begins[i] + half;
    }
  }
  typename Reducer::template Acc<T> totals[kSpanParts];
  InParallel(kSpanParts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      totals[i] =
          ReduceSpan<Reducer, T>(blocks, x + begins[i] * stride, stride, begins[i + 1] - begins[i]);
    }
  });
  for (int width = kSpanParts / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) {
      totals[i] = Reducer::template Merge<T>(totals[2 * i], totals[2 * i + 1]);
    }
  }
  return totals[0];
}

/*! \brief ReduceSpan, or ReduceLongSpan where nothing can end the reduction early. */
template <typename Reducer, typename T, typename Blocks>
typename Reducer::template Acc<T> ReduceAnySpan(Blocks blocks, const char* x, int64_t stride,
                                                int64_t n) {
  if constexpr (!std::is_same_v<typename Reducer::template Acc<T>, bool>) {
    if (n >= kLongSpan) return ReduceLongSpan<Reducer, T>(blocks, x, stride, n);
  }
  return ReduceSpan<Reducer, T>(blocks, x, stride, n);
}

/*! \brief Reduces elements of one result, which a reader may have to make. */
template <typename Reducer, typename T>
typename Reducer::template Acc<T> ReduceLine(const Reduction& r, const char* x, int64_t stride,
                                             int64_t n, int64_t result) {
  if constexpr (Reducer::kReads) {
    if (__builtin_expect(r.reader() != nullptr, 0)) {
      return ReduceAnySpan<Reducer, T>(ReadBlocks<Reducer, T>{r.reader(), result}, x, stride, n);
    }
  }
  return ReduceAnySpan<Reducer, T>(LyingBlocks<Reducer, T>{}, x, stride, n);
}

/*! \brief Each result from its elements, where those lie closest together. */
template <typename Reducer, typename T>
void ReduceLines(const Reduction& r, char* out) {
  using Result = typename Reducer::template Result<T>;
  auto* to = reinterpret_cast<Result*>(out);
  const int outer = std::max(r.reduced().ndim - 1, 0);
  const int64_t n = r.reduced().ndim == 0 ? 1 : r.reduced()[outer];
  const int64_t stride = r.reduced().ndim == 0 ? 0 : r.reduced_strides()[outer];
  int64_t result = 0;
  ForEachOffset(r.data(), r.kept(), r.kept_strides(), r.kept().ndim, [&](const char* first) {
    auto total = StartAt<Reducer, T>(first);
    ForEachOffset(first, r.reduced(), r.reduced_strides(), outer, [&](const char* line) {
      total = Reducer::template Merge<T>(total, ReduceLine<Reducer, T>(r, line, stride, n, result));
    });
    to[result++] = Result(total);
  });
}

/*! \brief What a column of rows is combined in; a Reducer may have something faster for T. */
template <typename Reducer, typename T>
struct ColumnReducer {
  using Acc = typename Reducer::template Acc<T>;
  static Acc Start(const char* x) { return StartAt<Reducer, T>(x); }
  static Acc Combine(Acc total, Computed<T> x) { return Reducer::template Combine<T>(total, x); }
  static bool IsSettled(Acc total) {
    if constexpr (std::is_same_v<Acc, bool>) return Reducer::IsSettled(total);
    return false;
  }
};

/*! \brief So many rows are combined at a time, one after the other. */
constexpr int kRowsAtOnce = 4;

/*! \brief Combines each of n elements of a row with the accumulator of its column. */
template <typename Reducer, typename T>
struct CombineRowBody {
  using Column = ColumnReducer<Reducer, T>;

  static MXNET_ALWAYS_INLINE void Run(const char* x, int64_t stride, int64_t n,
                                      typename Column::Acc* total) {
    if (stride == sizeof(T)) {
      auto* elements = reinterpret_cast<const Stored<T>*>(x);
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) total[j] = Column::Combine(total[j], Load<T>(elements[j]));
    } else {
#pragma GCC unroll 4
      for (int64_t j = 0; j < n; ++j) {
        total[j] = Column::Combine(total[j], LoadAt<T>(x + j * stride));
      }
    }
  }
};

/*! \brief The same of kRowsAtOnce dense rows. */
template <typename Reducer, typename T>
struct CombineRowsBody {
  using Column = ColumnReducer<Reducer, T>;

  static MXNET_ALWAYS_INLINE void Run(const char* const* rows, int64_t n,
                                      typename Column::Acc* total) {
    auto* a = reinterpret_cast<const Stored<T>*>(rows[0]);
    auto* b = reinterpret_cast<const Stored<T>*>(rows[1]);
    auto* c = reinterpret_cast<const Stored<T>*>(rows[2]);
    auto* d = reinterpret_cast<const Stored<T>*>(rows[3]);
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      auto sum = Column::Combine(total[j], Load<T>(a[j]));
      sum = Column::Combine(sum, Load<T>(b[j]));
      sum = Column::Combine(sum, Load<T>(c[j]));
      total[j] = Column::Combine(sum, Load<T>(d[j]));
    }
  }
};

/*! \brief Rows of elements of T, which a reader may have to make, combined by columns. */
template <typename Reducer, typename T>
class RowCombiner {
 public:
  using Column = ColumnReducer<Reducer, T>;
  using Acc = typename Column::Acc;
  // Rows are read whole where that is possible, for the sake of the memory they lie in.
  static constexpr int64_t kMost = 4 * kReadBlock;
  // Extremes of floats ask for NaN each time, of which compilers make branches where rows chain.
  static constexpr bool kCombinesRows =
      Reducer::kReads || !kIsFloatType<T> || !std::is_same_v<Acc, Computed<T>>;

  /*! \brief Of n columns, of results from `result` on. */
  RowCombiner(const Reduction& r, int64_t stride, int64_t n, int64_t result)
      : reader_(r.reader()), stride_(stride), n_(n), result_(result) {}

  Acc* total() { return total_; }

  void Add(const char* x) {
    if constexpr (Reducer::kReads) {
      if (__builtin_expect(reader_ != nullptr, 0)) return AddRead(x);
    }
    if (!kCombinesRows || stride_ != sizeof(T)) return AddRow(x, stride_);
    rows_[count_++] = x;
    if (count_ < kRowsAtOnce) return;
    static const auto run = internal::ReduceFunction<CombineRowsBody<Reducer, T>, T>();
    run(rows_, n_, total_);
    count_ = 0;
  }

  /*! \brief Combines what has been added and not been combined yet. */
  void Finish() {
    for (int i = 0; i < count_; ++i) AddRow(rows_[i], stride_);
    count_ = 0;
  }

 private:
  void AddRow(const char* x, int64_t stride) {
    static const auto run = internal::ReduceFunction<CombineRowBody<Reducer, T>, T>();
    run(x, stride, n_, total_);
  }
  [[gnu::noinline]] void AddRead(const char* x) {
    ReadBuffer<T> buffer;
    reader_->Read(x, stride_, n_, result_, 1, buffer.bytes);
    AddRow(buffer.bytes, sizeof(T));
  }

  const BlockReader* reader_;
  int64_t stride_;
  int64_t n_;
  int64_t result_;
  int count_{0};
  const char* rows_[kRowsAtOnce];
  Acc total_[kMost];
};

/*! \brief Many neighbouring results at a time, where the elements of one lie far apart. */
template <typename Reducer, typename T>
void ReduceRows(const Reduction& r, char* out) {
  using Result = typename Reducer::template Result<T>;
  using Combiner = RowCombiner<Reducer, T>;
  using Column = typename Combiner::Column;
  const int64_t tile = r.reader() == nullptr ? Combiner::kMost : kReadBlock;
  auto* to = reinterpret_cast<Result*>(out);
  int64_t result = 0;
  const int inner = r.kept().ndim - 1;
  const int64_t width = r.kept()[inner];
  const int64_t stride = r.kept_strides()[inner];
  ForEachOffset(r.data(), r.kept(), r.kept_strides(), inner, [&](const char* row) {
    for (int64_t begin = 0; begin < width; begin += tile) {
      const int64_t n = std::min(tile, width - begin);
      const char* first = row + begin * stride;
      Combiner combiner(r, stride, n, result);
      auto* total = combiner.total();
      for (int64_t j = 0; j < n; ++j) total[j] = Column::Start(first + j * stride);
      int64_t rows = 0;
      ForEachOffset(first, r.reduced(), r.reduced_strides(), r.reduced().ndim, [&](const char* x) {
        if constexpr (std::is_same_v<typename Reducer::template Acc<T>, bool>) {
          // Now and then it is asked whether further rows make a difference.
          if (rows < 0) return;
          if (++rows % 8 == 0 && std::all_of(total, total + n, Column::IsSettled)) rows = -1;
        }
        combiner.Add(x);
      });
      combiner.Finish();
      for (int64_t j = 0; j < n; ++j) to[result++] = Result(total[j]);
    }
  });
}

/*! \brief All of a reduction into a row-major result. */
template <typename Reducer, typename T>
void ReduceAll(const Reduction& r, char* out) {
  if (r.out_size() == 0) return;
  if (r.count() == 0) {
    using Result = typename Reducer::template Result<T>;
    auto* to = reinterpret_cast<Result*>(out);
    std::fill(to, to + r.out_size(), Result(Reducer::template Start<T>(Computed<T>{})));
  } else if (r.reduces_rows()) {
    ReduceRows<Reducer, T>(r, out);
  } else {
    ReduceLines<Reducer, T>(r, out);
  }
}

/*! \brief The attributes of a reduction. */
struct ReduceAttributes {
  std::optional<Axes> axis;
  bool keepdims{false};
};

/*! \brief Writes the shape of a result: with extents of 1 for reduced axes where they are kept. */
void SetReduced(DLDataType dtype, ShapeView shape, const ReduceAttributes& attributes,
                MXNetTensorSpec* out);

/*! \brief How many elements are reduced to one; symbolic where that is. */
int64_t ReducedCount(ShapeView shape, const std::optional<Axes>& axes);

struct ReduceTable;

/*! \brief Where a reduction has its parameters; -1 for one that it has not. */
struct ReduceParams {
  int axis;
  int dtype;
  int out;
  int keepdims;
};

/*!
 * \brief A reduction of an array of the host over all axes or one, into a new array.
 *
 * False, and nothing done, for all other calls, and where no elements are reduced to one.
 */
bool QuickReduce(const ReduceTable& table, const ReduceParams& params, const MXNetArgs& args,
                 MXNetRetValue* ret);

/*! \brief The loops of one reduction and its result types, by the DTypeIndex of the elements. */
struct ReduceTable {
  void (*loops[kNumDTypes])(const Reduction& r, char* out){};
  DLDataType results[kNumDTypes]{};
};

namespace internal {

template <typename Reducer, typename... Ts>
constexpr void FillReducers(ReduceTable* table, TypeList<Ts...>) {
  ((table->loops[DTypeIndexOf<Ts>::value] = &ReduceAll<Reducer, Ts>), ...);
  ((table->results[DTypeIndexOf<Ts>::value] = DTypeOf<typename Reducer::template Result<Ts>>()),
   ...);
}

}  // namespace internal

template <typename Reducer>
constexpr ReduceTable ReduceLoops() {
  ReduceTable table;
  internal::FillReducers<Reducer>(&table, BoolType{});
  internal::FillReducers<Reducer>(&table, SignedTypes{});
  internal::FillReducers<Reducer>(&table, UnsignedTypes{});
  internal::FillReducers<Reducer>(&table, FloatTypes{});
  internal::FillReducers<Reducer>(&table, ComplexTypes{});
  return table;
}

/*! \brief Writes the reduction of elements of `dtype` to a row-major tensor of the table's type. */
void ReduceInto(const ReduceTable& table, const Reduction& r, DLDataType dtype,
                const DLTensor& out);

/*! \brief The same into a new array. */
NDArray Reduce(const ReduceTable& table, const Reduction& r, DLDataType dtype, ShapeView shape);

/*! \brief The sum, accumulated as NumPy does: integers in 64 bits, two-byte floats in float32. */
extern const ReduceTable kSumTable;

#define MXNET_AXIS_DOC                                                                        \
  "Axis or axes that are reduced; negative ones count from the back, None means all. Raises " \
  "AxisError for an axis the array has not, ValueError for one given twice."
#define MXNET_KEEPDIMS_DOC "Whether the reduced axes stay, with extent 1."

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_REDUCE_H_
