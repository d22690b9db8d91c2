/*!
 * \file reducers.h
 * \brief The accumulators of reductions: Start for no elements, Add for one more, Merge for two.
 *
 * kOfPairs says whether the elements may be products of pairs.
 */
#ifndef CUDAACC_REDUCERS_H_
#define CUDAACC_REDUCERS_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "formulas.h"
#include "host_device.h"

namespace cudaacc {

/*! \brief Sums, products and means. Integers wrap, and so have no sign. */
template <typename C>
struct TotalReducer {
  static constexpr bool kOfPairs = true;
  using Element = C;
  using Acc = C;
  bool multiplies;
  bool divides; /*!< by the number of elements */

  CUDAACC_BOTH Acc Start() const { return static_cast<C>(multiplies ? 1 : 0); }
  CUDAACC_BOTH Acc Add(Acc acc, C x, int64_t) const { return Merge(acc, x); }
  CUDAACC_BOTH Acc Merge(Acc a, Acc b) const {
    return multiplies ? Reductions<C>::prod(a, b) : Reductions<C>::sum(a, b);
  }
  CUDAACC_BOTH C Result(Acc acc, int64_t count) const {
    return divides ? acc / static_cast<C>(count) : acc;
  }
};

/*! \brief Whether any element is not 0, or all are. */
struct LogicReducer {
  static constexpr bool kOfPairs = true;
  using Element = int64_t;
  using Acc = int32_t;
  bool any;

  CUDAACC_BOTH Acc Start() const { return any ? 0 : 1; }
  CUDAACC_BOTH Acc Add(Acc acc, int64_t x, int64_t) const { return Merge(acc, x != 0 ? 1 : 0); }
  CUDAACC_BOTH Acc Merge(Acc a, Acc b) const {
    return any ? Reductions<Acc>::any(a, b) : Reductions<Acc>::all(a, b);
  }
  CUDAACC_BOTH int64_t Result(Acc acc, int64_t) const { return acc; }
};

/*! \brief The largest or the smallest; NaN where there is one. */
template <typename C>
struct ExtremumReducer {
  static constexpr bool kOfPairs = false;
  using Element = C;
  using Acc = C;
  bool largest;
  C none; /*!< which no element is before */

  explicit ExtremumReducer(bool is_largest) : largest(is_largest) {
    using Limits = std::numeric_limits<C>;
    const C above = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const C below = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    none = largest ? below : above;
  }
  CUDAACC_BOTH Acc Start() const { return none; }
  CUDAACC_BOTH Acc Add(Acc acc, C x, int64_t) const { return Merge(acc, x); }
  CUDAACC_BOTH Acc Merge(Acc a, Acc b) const {
    return largest ? Reductions<C>::max(a, b) : Reductions<C>::min(a, b);
  }
  CUDAACC_BOTH C Result(Acc acc, int64_t) const { return acc; }
};

/*! \brief Variances and standard deviations, by running means. */
template <typename C>
struct VarianceReducer {
  static constexpr bool kOfPairs = false;
  using Element = C;
  struct Acc {
    C mean;
    C squares;
    int64_t count;
  };
  int64_t ddof;
  bool root;

  CUDAACC_BOTH Acc Start() const { return {0, 0, 0}; }
  CUDAACC_BOTH Acc Add(Acc acc, C x, int64_t) const {
    const C difference = x - acc.mean;
    acc.count += 1;
    acc.mean += difference / static_cast<C>(acc.count);
    acc.squares += difference * (x - acc.mean);
    return acc;
  }
  CUDAACC_BOTH Acc Merge(Acc a, Acc b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const C difference = b.mean - a.mean;
    const C share = static_cast<C>(b.count) / static_cast<C>(a.count + b.count);
    a.squares += b.squares + difference * difference * static_cast<C>(a.count) * share;
    a.mean += difference * share;
    a.count += b.count;
    return a;
  }
  CUDAACC_BOTH C Result(Acc acc, int64_t count) const {
    const int64_t degrees = count > ddof ? count - ddof : 0;
    const C variance = acc.squares / static_cast<C>(degrees);
    return root ? std::sqrt(variance) : variance;
  }
};

/*! \brief Where the first of the largest or smallest is; where the first NaN is, if there is one.
 */
template <typename C>
struct ArgReducer {
  static constexpr bool kOfPairs = false;
  using Element = C;
  struct Acc {
    C value;
    int64_t position; /*!< below 0 for none */
  };
  bool largest;

  CUDAACC_BOTH Acc Start() const { return {0, -1}; }
  CUDAACC_BOTH Acc Add(Acc acc, C x, int64_t position) const { return Merge(acc, {x, position}); }
  CUDAACC_BOTH Acc Merge(Acc a, Acc b) const {
    if (a.position < 0) return b;
    if (b.position < 0) return a;
    const Acc first = a.position < b.position ? a : b;
    const Acc later = a.position < b.position ? b : a;
    const C found = largest ? Reductions<C>::argmax(first.value, later.value)
                            : Reductions<C>::argmin(first.value, later.value);
    return found != 0 ? later : first;
  }
  CUDAACC_BOTH int64_t Result(Acc acc, int64_t) const { return acc.position; }
};

}  // namespace cudaacc

#endif  // CUDAACC_REDUCERS_H_
