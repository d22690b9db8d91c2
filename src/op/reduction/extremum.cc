/*!
 * \file extremum.cc
 * \brief max, min, any, all.
 */
#include "op/kernels/reduction/extremum.h"

#include <limits>

#include "op/reduction/extremum.h"
#include "op/schema/describe.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The largest or smallest element. */
template <typename Op>
struct ExtremumReducer {
  static constexpr bool kReads = false;
  // So many that the compiler keeps the loop over them, which it can vectorize with its NaN test.
  template <typename T>
  static constexpr int kLanes = kIsFloatType<T> ? 64 : 16;
  static constexpr int64_t kBlock = int64_t{1} << 16;
  template <typename T>
  using Acc = Computed<T>;
  template <typename T>
  using Result = T;
  template <typename T>
  static Acc<T> Start(Computed<T> first) {
    return first;
  }
  template <typename T>
  static Acc<T> Combine(Acc<T> a, Computed<T> x) {
    return Op::Apply(a, x);
  }
  /*! \brief Whether further elements make no difference; asked of bools only. */
  static bool IsSettled(bool total) { return Op::Apply(total, !total) == total; }
  template <typename T>
  static Acc<T> Merge(Acc<T> a, Acc<T> b) {
    return Combine<T>(a, b);
  }
};

template <bool kLargest, typename T>
struct DenseExtremum {
  static constexpr bool kExists = kHasExtremum<T>;
  static T Run(const T* x, int64_t n) {
    bool has_nan = false;
    const T extremum = ExtremumOf<kLargest>(x, n, &has_nan);
    return has_nan ? std::numeric_limits<T>::quiet_NaN() : extremum;
  }
};

template <bool kLargest, typename T>
struct ExtremumRows {
  using Run = void (*)(const char* const* rows, int64_t n, Computed<T>* total);
  static Run Find() {
    static_assert(kRowsOfExtremum == kRowsAtOnce);
    if constexpr (kHasVectorExtremum<T>) return internal::VectorExtremumOf<kLargest, T>().rows;
    return nullptr;
  }
  static Run FindEven() {
    if constexpr (kHasVectorExtremum<T>) return internal::VectorExtremumOf<kLargest, T>().even_rows;
    return nullptr;
  }
};

using MaxReducer = ExtremumReducer<reductions::max>;
using MinReducer = ExtremumReducer<reductions::min>;

}  // namespace

template <typename T>
struct DenseReducer<MaxReducer, T> : DenseExtremum<true, T> {};
template <typename T>
struct DenseReducer<MinReducer, T> : DenseExtremum<false, T> {};
template <typename T>
struct DenseRows<MaxReducer, T> : ExtremumRows<true, T> {};
template <typename T>
struct DenseRows<MinReducer, T> : ExtremumRows<false, T> {};

namespace {

/*! \brief Whether any element is true, which begins with false, or all are. */
template <typename Op, bool kNeutral>
struct TruthReducer {
  static constexpr bool kReads = false;
  template <typename T>
  static constexpr int kLanes = 16;
  static constexpr int64_t kBlock = int64_t{1} << 16;
  template <typename T>
  using Acc = bool;
  template <typename T>
  using Result = bool;
  template <typename T>
  static bool Start(Computed<T>) {
    return kNeutral;
  }
  template <typename T>
  static bool Combine(bool a, Computed<T> x) {
    return Op::Apply(a, x != Computed<T>(0));
  }
  static bool IsSettled(bool total) { return total != kNeutral; }
  template <typename T>
  static bool Merge(bool a, bool b) {
    return Op::Apply(a, b);
  }
};

using AnyReducer = TruthReducer<reductions::any, false>;
using AllReducer = TruthReducer<reductions::all, true>;

/*! \brief Truth in words of the elements' size, which are combined without being packed. */
template <typename T>
using TruthWord =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/*! \brief Whether any of a span of elements is true, or false, which is zero. */
template <typename T, bool kIsTrue>
struct AnyThatIs {
  static MXNET_ALWAYS_INLINE bool Run(const Stored<T>* x, int64_t n) {
    // A few elements at a time, to stop at the first block that says it; the first is short.
    int64_t block = 128 / sizeof(T);
    for (int64_t begin = 0; begin < n; begin += block, block = 2048 / sizeof(T)) {
      const int64_t end = std::min(n, begin + block);
      TruthWord<T> found = 0;
      for (int64_t i = begin; i < end; ++i) {
        found |= static_cast<TruthWord<T>>((Load<T>(x[i]) != Computed<T>(0)) == kIsTrue);
      }
      if (found != 0) return true;
    }
    return false;
  }
};

}  // namespace

template <typename T>
struct DenseReducer<AnyReducer, T> {
  static constexpr bool kExists = true;
  static bool Run(const T* x, int64_t n) {
    static const auto run = ForCpu<AnyThatIs<T, true>>();
    return run(reinterpret_cast<const Stored<T>*>(x), n);
  }
};
template <typename T>
struct DenseReducer<AllReducer, T> {
  static constexpr bool kExists = true;
  static bool Run(const T* x, int64_t n) {
    static const auto run = ForCpu<AnyThatIs<T, false>>();
    return !run(reinterpret_cast<const Stored<T>*>(x), n);
  }
};

template <typename Op, bool kNeutral, typename T>
struct ColumnReducer<TruthReducer<Op, kNeutral>, T> {
  using Acc = TruthWord<T>;
  static Acc Start(const char*) { return kNeutral; }
  static Acc Combine(Acc total, Computed<T> x) {
    return Op::OfTruths(total, static_cast<Acc>(x != Computed<T>(0)));
  }
  static bool IsSettled(Acc total) { return total != Acc{kNeutral}; }
};

namespace {

constexpr Extremum kMax{ReduceLoops<MaxReducer>(), "maximum"};
constexpr Extremum kMin{ReduceLoops<MinReducer>(), "minimum"};
constexpr Extremum kAny{ReduceLoops<AnyReducer>(), nullptr};
constexpr Extremum kAll{ReduceLoops<AllReducer>(), nullptr};

void InferExtremum(const InferCall& call, const ReduceAttributes& attributes) {
  const auto& op = *static_cast<const Extremum*>(call.data);
  const ShapeView shape = ShapeOf(call.in[0]);
  SetReduced(op.table.results[CheckedIndexOfDType(call.in[0].dtype)], shape, attributes, call.out);
  if (op.identity_of != nullptr && ReducedCount(shape, attributes.axis) == 0) {
    MXNET_THROW("ValueError") << "zero-size array to reduction operation " << op.identity_of
                              << " which has no identity";
  }
}

void RunExtremum(const RunCall& call, const ReduceAttributes& attributes) {
  const auto& op = *static_cast<const Extremum*>(call.data);
  ReduceInto(op.table, Reduction(call.in[0], attributes.axis), call.in[0].dtype, call.out[0]);
}

#define MXNET_REGISTER_REDUCTION(Name, Doc, Op)                                      \
  MXNET_REGISTER_OPERATOR("_npi." Name, ReduceAttributes)                            \
      .describe(Doc)                                                                 \
      .input("a", "Elements to reduce.")                                             \
      .attribute("axis", &ReduceAttributes::axis, nullptr, MXNET_AXIS_DOC)           \
      .out()                                                                         \
      .attribute("keepdims", &ReduceAttributes::keepdims, false, MXNET_KEEPDIMS_DOC) \
      .release_gil(kReleaseGilBytes)                                                 \
      .data(&(Op))                                                                   \
      .infer(&InferExtremum)                                                         \
      .run(&RunExtremum)

MXNET_REGISTER_REDUCTION("max",
                         "Largest element over axes; NaN where there is one. ValueError for no "
                         "elements.",
                         kMax);
MXNET_REGISTER_REDUCTION("min",
                         "Smallest element over axes; NaN where there is one. ValueError for no "
                         "elements.",
                         kMin);
MXNET_REGISTER_REDUCTION("any", "Whether any element over axes is true, that is not zero, as bool.",
                         kAny);
MXNET_REGISTER_REDUCTION("all",
                         "Whether all elements over axes are true, that is not zero, as bool.",
                         kAll);

}  // namespace
}  // namespace op
}  // namespace mxnet
