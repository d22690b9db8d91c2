/*!
 * \file reduce.h
 * \brief The loops of a reduction for every type of elements, and how a call runs them.
 */
#ifndef MXNET_SRC_OP_REDUCTION_REDUCE_H_
#define MXNET_SRC_OP_REDUCTION_REDUCE_H_

#include <algorithm>

#include "op/reduction/reduce_rows.h"
#include "op/reduction/reduce_span.h"

namespace mxnet {
namespace op {

/*! \brief Results from number `begin` on, before `end`: each from its elements. */
template <typename Reducer, typename T>
void ReduceLines(const Reduction& r, int64_t begin, int64_t end, char* out) {
  using Result = typename Reducer::template Result<T>;
  auto* to = reinterpret_cast<Result*>(out);
  const int outer = std::max(r.reduced().ndim - 1, 0);
  const int64_t n = r.reduced().ndim == 0 ? 1 : r.reduced()[outer];
  const int64_t stride = r.reduced().ndim == 0 ? 0 : r.reduced_strides()[outer];
  int64_t result = begin;
  const auto reduce = [&](const char* first) {
    auto total = StartAt<Reducer, T>(first);
    ForEachOffset(first, r.reduced(), r.reduced_strides(), outer, [&](const char* line) {
      total = Reducer::template Merge<T>(total, ReduceLine<Reducer, T>(r, line, stride, n, result));
    });
    to[result++] = Result(total);
  };
  ForEachOffset(r.data(), r.kept(), r.kept_strides(), r.kept().ndim, reduce, begin, end - begin);
}

/*! \brief All of a reduction into a row-major result; a large one on several threads. */
template <typename Reducer, typename T>
void ReduceAll(const Reduction& r, char* out) {
  if (r.out_size() == 0) return;
  if (r.count() == 0) {
    using Result = typename Reducer::template Result<T>;
    auto* to = reinterpret_cast<Result*>(out);
    std::fill(to, to + r.out_size(), Result(Reducer::template Start<T>(Computed<T>{})));
    return;
  }
  if (r.reduces_rows()) {
    return ForResults(r, ResultsAbreast(r), [&](int64_t begin, int64_t end) {
      ReduceRows<Reducer, T>(r, begin, end, out);
    });
  }
  // Of long spans the parts of each are shared.
  if (r.count() >= kLongSpan) return ReduceLines<Reducer, T>(r, 0, r.out_size(), out);
  ForResults(r, 1,
             [&](int64_t begin, int64_t end) { ReduceLines<Reducer, T>(r, begin, end, out); });
}

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

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_REDUCE_H_
