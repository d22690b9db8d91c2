/*!
 * \file reduce_span.h
 * \brief Loops that reduce elements at even steps to one result.
 */
#ifndef MXNET_SRC_OP_REDUCTION_REDUCE_SPAN_H_
#define MXNET_SRC_OP_REDUCTION_REDUCE_SPAN_H_

#include <algorithm>
#include <atomic>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/gather.h"
#include "op/parallel/parallel.h"
#include "op/reduction/reduction.h"

namespace mxnet {
namespace op {

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

/*!
 * \brief ReduceSpan of a long span that an element can settle: its first block is looked at before
 * others are asked to help, and all stop at the next block when one has settled it.
 */
template <typename Reducer, typename T, typename Blocks>
bool ReduceLongTruth(Blocks blocks, const char* x, int64_t stride, int64_t n) {
  constexpr int64_t kBlock = Reducer::kBlock;
  const bool first = blocks.Run(x, stride, kBlock);
  if (Reducer::IsSettled(first)) return first;
  std::atomic<bool> total{first};
  InParallel((n - 1) / kBlock, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin + 1; i <= end; ++i) {
      if (Reducer::IsSettled(total.load(std::memory_order_relaxed))) return;
      const int64_t count = std::min(kBlock, n - i * kBlock);
      const bool found = blocks.Run(x + i * kBlock * stride, stride, count);
      if (Reducer::IsSettled(found)) total.store(found, std::memory_order_relaxed);
    }
  });
  return total;
}

/*! \brief ReduceSpan, of a long span on several threads. */
template <typename Reducer, typename T, typename Blocks>
typename Reducer::template Acc<T> ReduceAnySpan(Blocks blocks, const char* x, int64_t stride,
                                                int64_t n) {
  if (n < kLongSpan) return ReduceSpan<Reducer, T>(blocks, x, stride, n);
  if constexpr (std::is_same_v<typename Reducer::template Acc<T>, bool>) {
    return ReduceLongTruth<Reducer, T>(blocks, x, stride, n);
  } else {
    return ReduceLongSpan<Reducer, T>(blocks, x, stride, n);
  }
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

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_REDUCE_SPAN_H_
