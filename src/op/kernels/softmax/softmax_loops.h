/*!
 * \file softmax_loops.h
 * \brief Softmax, and its logarithm, of row-major numbers along one of their axes.
 *
 * Each step is a loop of its own over as many numbers as the nearest caches hold, so that
 * exponentials are taken of long spans, however short the lines are. A NaN needs no care where the
 * peak is looked for: it makes its own exponential NaN, and by the sum its whole line.
 */
#ifndef MXNET_SRC_OP_KERNELS_SOFTMAX_SOFTMAX_LOOPS_H_
#define MXNET_SRC_OP_KERNELS_SOFTMAX_SOFTMAX_LOOPS_H_

#include <algorithm>
#include <cmath>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/vector_math.h"

namespace mxnet {
namespace op {

/*! \brief What the lines of a call have in common. */
template <typename T>
struct SoftmaxRule {
  bool log;      /*!< whether the logarithm is wanted */
  T temperature; /*!< what numbers are divided by; not 0 */
};

namespace internal {

/*! \brief Numbers in the loops between two exponentials: they stay in the first cache. */
constexpr int64_t kSoftmaxRun = 2048;
/*! \brief Numbers of a tile of columns: they stay in the second cache. */
constexpr int64_t kSoftmaxTile = 1 << 15;
/*! \brief Independent partial results, enough for some vector registers. */
constexpr int kSoftmaxLanes = 32;

template <typename T>
MXNET_ALWAYS_INLINE T Larger(T a, T b) {
  return a > b ? a : b;
}

template <typename T>
MXNET_ALWAYS_INLINE T Smaller(T a, T b) {
  return a < b ? a : b;
}

/*! \brief out[i] = x[i] - peaks, divided by the temperature. */
template <typename T>
MXNET_ALWAYS_INLINE T Lowered(T x, T peak, T temperature) {
  // The division comes last: of the largest number it cannot overflow, being that of 0.
  return temperature == T(1) ? x - peak : (x - peak) / temperature;
}

/*! \brief peaks[r] is the number of line r whose exponential will be the largest. */
template <typename T>
struct LinePeaks {
  static MXNET_ALWAYS_INLINE void Run(const T* x, int64_t lines, int64_t n, bool smallest,
                                      T* peaks) {
    for (int64_t r = 0; r < lines; ++r, x += n) {
      peaks[r] = smallest ? Reduce(x, n, &Smaller<T>) : Reduce(x, n, &Larger<T>);
    }
  }

  template <typename F>
  static MXNET_ALWAYS_INLINE T Reduce(const T* x, int64_t n, F choose) {
    T best = x[0];
    int64_t i = 1;
    if (n >= kSoftmaxLanes) {
      T lanes[kSoftmaxLanes];
      for (int l = 0; l < kSoftmaxLanes; ++l) lanes[l] = x[l];
      for (i = kSoftmaxLanes; i + kSoftmaxLanes <= n; i += kSoftmaxLanes) {
        for (int l = 0; l < kSoftmaxLanes; ++l) lanes[l] = choose(x[i + l], lanes[l]);
      }
      for (int l = 0; l < kSoftmaxLanes; ++l) best = choose(lanes[l], best);
    }
    for (; i < n; ++i) best = choose(x[i], best);
    return best;
  }
};

/*! \brief Lines of numbers less their peaks, over the temperature. out may be x. */
template <typename T>
struct LowerLines {
  static MXNET_ALWAYS_INLINE void Run(const T* x, T* out, int64_t lines, int64_t n, const T* peaks,
                                      T temperature) {
    for (int64_t r = 0; r < lines; ++r, x += n, out += n) {
      const T peak = peaks[r];
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = Lowered(x[i], peak, temperature);
    }
  }
};

/*! \brief Adds the numbers of each line to its sum. */
template <typename T>
struct AddLines {
  static MXNET_ALWAYS_INLINE void Run(const T* x, int64_t lines, int64_t n, double* sums) {
    for (int64_t r = 0; r < lines; ++r, x += n) {
      T sum = 0;
      int64_t i = 0;
      if (n >= kSoftmaxLanes) {
        T lanes[kSoftmaxLanes] = {};
        for (; i + kSoftmaxLanes <= n; i += kSoftmaxLanes) {
          for (int l = 0; l < kSoftmaxLanes; ++l) lanes[l] += x[i + l];
        }
        for (int width = kSoftmaxLanes / 2; width > 0; width /= 2) {
          for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
        }
        sum = lanes[0];
      }
      for (; i < n; ++i) sum += x[i];
      sums[r] += static_cast<double>(sum);
    }
  }
};

/*! \brief Lines of numbers over, or less, the total of each. */
template <typename T>
struct FinishLines {
  static MXNET_ALWAYS_INLINE void Run(T* x, int64_t lines, int64_t n, const T* totals, bool log) {
    for (int64_t r = 0; r < lines; ++r, x += n) {
      const T total = totals[r];
      if (log) {
        for (int64_t i = 0; i < n; ++i) x[i] -= total;
      } else {
        for (int64_t i = 0; i < n; ++i) x[i] /= total;
      }
    }
  }
};

/*! \brief The same four of columns: `width` of them, n numbers each that lie `step` apart. */
template <typename T>
struct ColumnPeaks {
  static MXNET_ALWAYS_INLINE void Run(const T* x, int64_t step, int64_t width, int64_t n,
                                      bool smallest, T* peaks) {
    for (int64_t j = 0; j < width; ++j) peaks[j] = x[j];
    for (int64_t i = 1; i < n; ++i) {
      x += step;
      if (smallest) {
        for (int64_t j = 0; j < width; ++j) peaks[j] = Smaller(x[j], peaks[j]);
      } else {
        for (int64_t j = 0; j < width; ++j) peaks[j] = Larger(x[j], peaks[j]);
      }
    }
  }
};

template <typename T>
struct LowerColumns {
  static MXNET_ALWAYS_INLINE void Run(const T* x, T* out, int64_t step, int64_t width, int64_t n,
                                      const T* peaks, T temperature) {
    for (int64_t i = 0; i < n; ++i, x += step, out += step) {
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) out[j] = Lowered(x[j], peaks[j], temperature);
    }
  }
};

template <typename T>
struct AddColumns {
  static MXNET_ALWAYS_INLINE void Run(const T* x, int64_t step, int64_t width, int64_t n,
                                      double* sums) {
    for (int64_t i = 0; i < n; ++i, x += step) {
      for (int64_t j = 0; j < width; ++j) sums[j] += static_cast<double>(x[j]);
    }
  }
};

template <typename T>
struct FinishColumns {
  static MXNET_ALWAYS_INLINE void Run(T* x, int64_t step, int64_t width, int64_t n, const T* totals,
                                      bool log) {
    for (int64_t i = 0; i < n; ++i, x += step) {
      if (log) {
#pragma GCC ivdep
        for (int64_t j = 0; j < width; ++j) x[j] -= totals[j];
      } else {
#pragma GCC ivdep
        for (int64_t j = 0; j < width; ++j) x[j] /= totals[j];
      }
    }
  }
};

/*! \brief out[i] = exp(x[i]); out is x or apart from it. */
template <typename T>
void ExpRun(const T* x, T* out, int64_t n) {
  static const VectorUnary<T> function = FindVectorUnary<T>("exp");
  if (function) return function(x, out, n);
  for (int64_t i = 0; i < n; ++i) out[i] = std::exp(x[i]);
}

/*! \brief From sums of exponentials what lines are divided by, or what is taken from them. */
template <typename T>
void TotalsOf(const double* sums, int64_t n, bool log, T* totals) {
  for (int64_t r = 0; r < n; ++r) totals[r] = static_cast<T>(log ? std::log(sums[r]) : sums[r]);
}

}  // namespace internal

/*! \brief Each of `lines` lines of n > 0 numbers, one after the other. out may be x. */
template <typename T>
void SoftmaxLines(const SoftmaxRule<T>& rule, const T* x, T* out, int64_t lines, int64_t n) {
  using namespace internal;  // NOLINT(build/namespaces)
  static const auto find_peaks = ForCpu<LinePeaks<T>>();
  static const auto lower = ForCpu<LowerLines<T>>();
  static const auto add = ForCpu<AddLines<T>>();
  static const auto finish = ForCpu<FinishLines<T>>();
  constexpr int64_t kLines = kSoftmaxRun / 8;
  T peaks[kLines];
  double sums[kLines];
  T exponentials[kSoftmaxRun];
  const int64_t most = std::min(kLines, std::max<int64_t>(kSoftmaxRun / n, 1));
  const int64_t run = std::min(n, kSoftmaxRun);
  for (int64_t done = 0; done < lines; done += most, x += most * n, out += most * n) {
    const int64_t some = std::min(most, lines - done);
    find_peaks(x, some, n, rule.temperature < 0, peaks);
    std::fill(sums, sums + some, 0);
    // Where there are several lines, a span is all of each.
    for (int64_t begin = 0; begin < n; begin += run) {
      const int64_t count = std::min(run, n - begin);
      lower(x + begin, out + begin, some, count, peaks, rule.temperature);
      T* const to = rule.log ? exponentials : out + begin;
      ExpRun(out + begin, to, some * count);
      add(to, some, count, sums);
    }
    TotalsOf(sums, some, rule.log, peaks);
    finish(out, some, n, peaks, rule.log);
  }
}

/*!
 * \brief n > 0 rows of `width` numbers, one after the other: each of the columns. out may be x.
 */
template <typename T>
void SoftmaxColumns(const SoftmaxRule<T>& rule, const T* x, T* out, int64_t n, int64_t width) {
  using namespace internal;  // NOLINT(build/namespaces)
  static const auto find_peaks = ForCpu<ColumnPeaks<T>>();
  static const auto lower = ForCpu<LowerColumns<T>>();
  static const auto add = ForCpu<AddColumns<T>>();
  static const auto finish = ForCpu<FinishColumns<T>>();
  constexpr int64_t kMost = kSoftmaxRun / 4;
  constexpr int64_t kLeast = 64;
  T peaks[kMost];
  double sums[kMost];
  T exponentials[kSoftmaxRun];
  const int64_t most =
      std::min({width, kMost, std::max(kLeast, kSoftmaxTile / n / kLeast * kLeast)});
  const int64_t rows = std::min(n, kSoftmaxRun / most);
  for (int64_t first = 0; first < width; first += most) {
    const int64_t some = std::min(most, width - first);
    find_peaks(x + first, width, some, n, rule.temperature < 0, peaks);
    std::fill(sums, sums + some, 0);
    for (int64_t begin = 0; begin < n; begin += rows) {
      const int64_t count = std::min(rows, n - begin);
      T* const lowered = out + begin * width + first;
      lower(x + begin * width + first, lowered, width, some, count, peaks, rule.temperature);
      const bool dense = some == width;
      T* const to = rule.log ? exponentials : lowered;
      const int64_t step = rule.log ? some : width;
      if (dense) {
        ExpRun(lowered, to, count * some);
      } else {
        for (int64_t i = 0; i < count; ++i) ExpRun(lowered + i * width, to + i * step, some);
      }
      add(to, step, some, count, sums);
    }
    TotalsOf(sums, some, rule.log, peaks);
    finish(out + first, width, some, n, peaks, rule.log);
  }
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SOFTMAX_SOFTMAX_LOOPS_H_
