/*!
 * \file round_decimals.cc
 * \brief round: to a number of decimals.
 */
#include "op/elementwise/round_decimals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "op/elementwise/elementwise.h"
#include "op/schema/describe.h"

namespace mxnet {
namespace op {
namespace {

/*!
 * \brief Rounds n floats to decimals of which `scale` makes whole numbers; out is x or apart from
 * it.
 */
template <typename T>
struct RoundBody {
  static MXNET_ALWAYS_INLINE void Run(const T* x, T* out, int64_t n, double scale_of_all,
                                      int64_t decimals) {
    using C = Computed<T>;
    const C scale = static_cast<C>(scale_of_all);
    const auto round = [&](const auto& formula) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = T(formula(Load<T>(x[i])));
    };
    using Of = Formulas<C>;
    if (decimals == 0) return round([](C a) { return Of::rint_Float(a); });
    if (decimals > 0) return round([&](C a) { return Of::round_decimals_Float(a, scale); });
    // Apart, for loops without a branch.
    if (std::isinf(scale)) return round([&](C a) { return Of::round_tens_Float(a, scale); });
    round([&](C a) { return Of::round_tens_Float(a, scale); });
  }
};

template <typename T>
void RoundFloats(const void* from, void* to, int64_t n, int64_t decimals) {
  static const auto run = ForCpu<RoundBody<T>>();
  const double scale = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  auto* x = static_cast<const T*>(from);
  auto* out = static_cast<T*>(to);
  if (n < kFewForThreads) return run(x, out, n, scale, decimals);
  InParallel(n, kElementsTimed, [&](int64_t begin, int64_t end) {
    run(x + begin, out + begin, end - begin, scale, decimals);
  });
}

/*! \brief Integers have no decimals; to tens, hundreds and so on they round by way of double. */
template <typename T>
void RoundIntegers(const void* from, void* to, int64_t n, int64_t decimals) {
  auto* x = static_cast<const T*>(from);
  auto* out = static_cast<T*>(to);
  if (decimals >= 0) {
    if (x != out) std::copy_n(x, n, out);
    return;
  }
  const double scale = std::pow(10.0, -static_cast<double>(decimals));
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<T>(std::nearbyint(static_cast<double>(x[i]) / scale) * scale);
  }
}

/*! \brief Rounds row-major elements of one type; out is x or apart from it. */
void RoundDense(const DLTensor& x, const DLTensor& out, int64_t decimals) {
  const int64_t size = TensorSize(out);
  const void* from = TensorData(x);
  void* to = TensorData(out);
  DispatchDType(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplexType<T>) {
      RoundFloats<typename T::value_type>(from, to, 2 * size, decimals);
    } else if constexpr (kIsFloatType<T>) {
      RoundFloats<T>(from, to, size, decimals);
    } else if constexpr (kIsIntType<T>) {
      RoundIntegers<T>(from, to, size, decimals);
    }
  });
}

}  // namespace

void RoundInto(const DLTensor& x, int64_t decimals, const DLTensor& out) {
  const bool is_apart = !MayOverlap(x, out) || SameElements(x, out);
  if (IsContiguous(x) && x.dtype == out.dtype && is_apart) {
    return RoundDense(x, out, decimals);
  }
  // Elements that lie apart are brought together as those of an elementwise operator.
  static const LoopTable rint = UnaryFormulaLoops<formulas::rint>();
  const InnerLoop loop = rint.loops[CheckedIndexOfDType(x.dtype)];
  if (decimals == 0 && x.dtype == out.dtype && is_apart && loop != nullptr) {
    return Walk(loop, &x, 1, out);
  }
  CopyCast(x, out);
  RoundDense(out, out, decimals);
}

namespace {

struct RoundAttributes {
  int64_t decimals;
};

void InferRound(const InferCall& call, const RoundAttributes&) {
  const DLDataType dtype = call.in[0].dtype;
  SetSpec(IsBoolDType(dtype) ? kFloat16 : dtype, ShapeOf(call.in[0]), call.out);
}

void RunRound(const RunCall& call, const RoundAttributes& attributes) {
  RoundInto(call.in[0], attributes.decimals, call.out[0]);
}

MXNET_REGISTER_OPERATOR("_npi.round", RoundAttributes)
    .describe(
        "Round to a number of decimals, of two nearest ones to the even one.\n\n"
        "The result has the shape and type of a; float16 for bool.")
    .input("a", kArrayDoc)
    .attribute("decimals", &RoundAttributes::decimals, 0,
               "How many; negative ones are digits before the point.")
    .out()
    .properties(kMXNetOpElementwise)
    .release_gil(kReleaseBytes)
    .infer(&InferRound)
    .run(&RunRound);

}  // namespace
}  // namespace op
}  // namespace mxnet
