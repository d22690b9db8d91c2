/*!
 * \file round_decimals.cc
 * \brief round: to a number of decimals.
 */
#include <cmath>

#include "op/argument/arguments.h"
#include "op/elementwise/elementwise.h"
#include "op/schema/describe.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Rounds n floats in place, to decimals of which `scale` makes whole numbers. */
template <typename T>
struct RoundBody {
  static MXNET_ALWAYS_INLINE void Run(T* x, int64_t n, double scale_of_all, int64_t decimals) {
    using C = Computed<T>;
    const C scale = static_cast<C>(scale_of_all);
    const auto round = [&](const auto& formula) {
      for (int64_t i = 0; i < n; ++i) x[i] = T(formula(Load<T>(x[i])));
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
void RoundFloats(T* x, int64_t n, int64_t decimals) {
  static const auto run = ForCpu<RoundBody<T>>();
  run(x, n, std::pow(10.0, std::abs(static_cast<double>(decimals))), decimals);
}

/*! \brief Integers have no decimals; to tens, hundreds and so on they round by way of double. */
template <typename T>
void RoundIntegers(T* x, int64_t n, int64_t decimals) {
  if (decimals >= 0) return;
  const double scale = std::pow(10.0, -static_cast<double>(decimals));
  for (int64_t i = 0; i < n; ++i) {
    x[i] = static_cast<T>(std::nearbyint(static_cast<double>(x[i]) / scale) * scale);
  }
}

void RoundInPlace(const DLTensor& array, int64_t decimals) {
  const int64_t size = TensorSize(array);
  void* data = TensorData(array);
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplexType<T>) {
      using Part = typename T::value_type;
      RoundFloats(static_cast<Part*>(data), 2 * size, decimals);
    } else if constexpr (kIsFloatType<T>) {
      RoundFloats(static_cast<T*>(data), size, decimals);
    } else if constexpr (kIsIntType<T>) {
      RoundIntegers(static_cast<T*>(data), size, decimals);
    }
  });
}

struct RoundAttributes {
  int64_t decimals;
};

void InferRound(const InferCall& call, const RoundAttributes&) {
  const DLDataType dtype = call.in[0].dtype;
  SetSpec(IsBoolDType(dtype) ? kFloat16 : dtype, ShapeOf(call.in[0]), call.out);
}

void RunRound(const RunCall& call, const RoundAttributes& attributes) {
  CopyCast(call.in[0], call.out[0]);
  RoundInPlace(call.out[0], attributes.decimals);
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
