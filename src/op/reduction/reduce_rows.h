/*!
 * \file reduce_rows.h
 * \brief Loops that reduce rows of elements, each to the result of its column.
 */
#ifndef MXNET_SRC_OP_REDUCTION_REDUCE_ROWS_H_
#define MXNET_SRC_OP_REDUCTION_REDUCE_ROWS_H_

#include <algorithm>

#include "op/reduction/reduce_span.h"
#include "op/reduction/rows_ahead.h"

namespace mxnet {
namespace op {

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

/*! \brief The same of rows whose elements lie apart, where they lie. */
template <typename Reducer, typename T>
struct CombineRowsApartBody {
  using Column = ColumnReducer<Reducer, T>;

  static MXNET_ALWAYS_INLINE void Run(const char* const* rows, int64_t stride, int64_t n,
                                      typename Column::Acc* total) {
    // A step that the compiler knows it can vectorize.
    constexpr auto kTwo = static_cast<int64_t>(2 * sizeof(T));
    using Two = std::integral_constant<int64_t, kTwo>;
    stride == kTwo ? Combine(rows, Two(), n, total) : Combine(rows, stride, n, total);
  }

 private:
  template <typename Stride>
  static MXNET_ALWAYS_INLINE void Combine(const char* const* rows, Stride stride, int64_t n,
                                          typename Column::Acc* total) {
    const char* const a = rows[0];
    const char* const b = rows[1];
    const char* const c = rows[2];
    const char* const d = rows[3];
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      auto sum = Column::Combine(total[j], LoadAt<T>(a + j * stride));
      sum = Column::Combine(sum, LoadAt<T>(b + j * stride));
      sum = Column::Combine(sum, LoadAt<T>(c + j * stride));
      total[j] = Column::Combine(sum, LoadAt<T>(d + j * stride));
    }
  }
};

template <typename Reducer, typename T>
using CombineRows = decltype(&CombineRowsBody<Reducer, T>::Run);

/*! \brief What does it faster on this processor, where a Reducer has something for T, or NULL. */
template <typename Reducer, typename T>
struct DenseRows {
  static CombineRows<Reducer, T> Find() { return nullptr; }
  /*! \brief The same of rows of every other element. */
  static CombineRows<Reducer, T> FindEven() { return nullptr; }
};

/*! \brief Rows of elements of T, which a reader may have to make, combined by columns. */
template <typename Reducer, typename T>
class RowCombiner {
 public:
  using Column = ColumnReducer<Reducer, T>;
  using Acc = typename Column::Acc;
  // Rows are read whole where that is possible, for the sake of the memory they lie in.
  static constexpr int64_t kMost = 4 * kReadBlock;

  /*! \brief Of n columns, of results from `result` on. */
  RowCombiner(const Reduction& r, int64_t stride, int64_t n, int64_t result)
      : reader_(r.reader()), stride_(stride), n_(n), result_(result) {
    // Of long elements a vector has so few that bringing them together takes more than it saves.
    static const bool gains = sizeof(T) <= 4 || DenseRows<Reducer, T>::Find() != nullptr;
    static const auto even = DenseRows<Reducer, T>::FindEven();
    gathers_ = gains;
    even_ = even;
  }

  Acc* total() { return total_; }

  void Add(const char* x) {
    static const CombineRows<Reducer, T> run = FindCombineRows();
    if (run == nullptr) return AddRow(x, stride_, n_, total_);
    rows_[count_++] = x;
    if (count_ < kRowsAtOnce) return;
    if (IsRead()) {
      CombineRead(run);
    } else if (stride_ == sizeof(T)) {
      run(rows_, n_, total_);
    } else if (even_ != nullptr && stride_ == 2 * sizeof(T)) {
      even_(rows_, n_, total_);
    } else if (gathers_) {
      CombineGathered(run);
    } else {
      static const auto run_apart = internal::ReduceFunction<CombineRowsApartBody<Reducer, T>, T>();
      run_apart(rows_, stride_, n_, total_);
    }
    count_ = 0;
  }

  /*! \brief Combines what has been added and not been combined yet. */
  void Finish() {
    for (int i = 0; i < count_; ++i) {
      IsRead() ? AddRead(rows_[i]) : AddRow(rows_[i], stride_, n_, total_);
    }
    count_ = 0;
  }

 private:
  /*! \brief Whether a reader makes the elements. */
  bool IsRead() const { return Reducer::kReads && __builtin_expect(reader_ != nullptr, 0); }

  static CombineRows<Reducer, T> FindCombineRows() {
    if (const auto found = DenseRows<Reducer, T>::Find()) return found;
    // Extremes of floats ask for NaN each time, of which compilers make branches where rows chain.
    constexpr bool kGains =
        Reducer::kReads || !kIsFloatType<T> || !std::is_same_v<Acc, Computed<T>>;
    if constexpr (kGains) return internal::ReduceFunction<CombineRowsBody<Reducer, T>, T>();
    return nullptr;
  }

  /*! \brief Combines rows whose elements lie apart: they are brought together first. */
  [[gnu::noinline]] void CombineGathered(CombineRows<Reducer, T> run) {
    CombineMade(run, [this](const char* x, int64_t begin, int64_t count, ReadBuffer<T>* buffer) {
      GatherStrided(x + begin * stride_, stride_, sizeof(T), count, buffer->bytes);
    });
  }

  /*! \brief Combines rows that a reader makes. */
  [[gnu::noinline]] void CombineRead(CombineRows<Reducer, T> run) {
    CombineMade(run, [this](const char* x, int64_t begin, int64_t count, ReadBuffer<T>* buffer) {
      Read(x, begin, count, buffer);
    });
  }

  /*! \brief Combines rows that make(row, begin, count, buffer) makes dense, a block of each at a
   * time. */
  template <typename Make>
  void CombineMade(CombineRows<Reducer, T> run, const Make& make) {
    ReadBuffer<T> buffers[kRowsAtOnce];
    const char* made[kRowsAtOnce];
    for (int i = 0; i < kRowsAtOnce; ++i) made[i] = buffers[i].bytes;
    ForEachBlock([&](int64_t begin, int64_t count) {
      for (int i = 0; i < kRowsAtOnce; ++i) make(rows_[i], begin, count, &buffers[i]);
      run(made, count, total_ + begin);
    });
  }

  static void AddRow(const char* x, int64_t stride, int64_t n, Acc* total) {
    static const auto run = internal::ReduceFunction<CombineRowBody<Reducer, T>, T>();
    run(x, stride, n, total);
  }

  [[gnu::noinline]] void AddRead(const char* x) {
    ReadBuffer<T> buffer;
    ForEachBlock([&](int64_t begin, int64_t count) {
      Read(x, begin, count, &buffer);
      AddRow(buffer.bytes, sizeof(T), count, total_ + begin);
    });
  }

  void Read(const char* x, int64_t begin, int64_t count, ReadBuffer<T>* buffer) {
    reader_->Read(x + begin * stride_, stride_, count, result_ + begin, 1, buffer->bytes);
  }

  /*! \brief Calls f(begin, count) for so many columns at a time as a buffer has. */
  template <typename F>
  void ForEachBlock(const F& f) {
    for (int64_t begin = 0; begin < n_; begin += kReadBlock) {
      f(begin, std::min(kReadBlock, n_ - begin));
    }
  }

  const BlockReader* reader_;
  int64_t stride_;
  int64_t n_;
  int64_t result_;
  bool gathers_;
  CombineRows<Reducer, T> even_;
  int count_{0};
  const char* rows_[kRowsAtOnce];
  Acc total_[kMost];
};

/*!
 * \brief Results from number `begin` on, before `end`: many neighbours at a time, where the
 * elements of one lie far apart.
 */
template <typename Reducer, typename T>
void ReduceRows(const Reduction& r, int64_t begin, int64_t end, char* out) {
  using Result = typename Reducer::template Result<T>;
  using Combiner = RowCombiner<Reducer, T>;
  using Column = typename Combiner::Column;
  const int64_t stride = r.kept_strides()[r.kept().ndim - 1];
  const int inner = r.reduced().ndim - 1;
  ForEachRun(r, begin, end, Combiner::kMost, [&](const char* first, int64_t result, int64_t n) {
    Combiner combiner(r, stride, n, result);
    RowsAhead ahead(stride, n, r.reduced_strides()[inner], r.reduced()[inner]);
    auto* total = combiner.total();
    for (int64_t j = 0; j < n; ++j) total[j] = Column::Start(first + j * stride);
    int64_t rows = 0;
    ForEachOffset(first, r.reduced(), r.reduced_strides(), r.reduced().ndim, [&](const char* x) {
      if constexpr (std::is_same_v<typename Reducer::template Acc<T>, bool>) {
        // Now and then it is asked whether further rows make a difference.
        if (rows < 0) return;
        if (++rows % 8 == 0 && std::all_of(total, total + n, Column::IsSettled)) rows = -1;
      }
      ahead.Next(x);
      combiner.Add(x);
    });
    combiner.Finish();
    auto* to = reinterpret_cast<Result*>(out) + result;
    for (int64_t j = 0; j < n; ++j) to[j] = Result(total[j]);
  });
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_REDUCE_ROWS_H_
