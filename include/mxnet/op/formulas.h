/*!
 * \file mxnet/op/formulas.h
 * \brief The formulas of elementwise operators, as functions in C++ for the CPU, and for a device
 * where the compiler is one of CUDA or HIP.
 */
#ifndef MXNET_OP_FORMULAS_H_
#define MXNET_OP_FORMULAS_H_

#include <cmath>
#include <type_traits>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define MXNET_FORMULA_SIDES __host__ __device__
#else
#define MXNET_FORMULA_SIDES
#endif
// What is compiled for an instruction set has its formulas compiled for that, too.
#ifdef __GNUC__
#define MXNET_FORMULA_INLINE inline __attribute__((always_inline))
#else
#define MXNET_FORMULA_INLINE inline
#endif

namespace mxnet {
namespace op {
namespace details {

/*! \brief The unsigned types beside a type that is computed in; formulas of floats have none. */
template <typename C, bool = std::is_integral<C>::value && !std::is_same<C, bool>::value>
struct FormulaWords {
  using U = unsigned;
  using W = unsigned;
};
template <typename C>
struct FormulaWords<C, true> {
  using U = std::make_unsigned_t<C>;
  using W = std::common_type_t<U, unsigned>;
};

// Each for float and double, which names of C are not.
#define MXNET_FORMULA_FUNCTION(name) using std::name;
#include <mxnet/op/formulas.inc>

/*! \brief See mxnet/op/formulas.inc; the formula of `add` for integers is add_Int. */
template <typename C_>
struct Formulas {
  using C = C_;
  using U = typename FormulaWords<C>::U;
  using W = typename FormulaWords<C>::W;
  static constexpr unsigned BITS = 8 * sizeof(C);

#define MXNET_FORMULA_HELPER(name, ...) MXNET_FORMULA_SIDES static inline __VA_ARGS__
#define MXNET_FORMULA(name, family, ...)                                              \
  MXNET_FORMULA_SIDES static MXNET_FORMULA_INLINE auto name##_##family(               \
      [[maybe_unused]] C a, [[maybe_unused]] C b = C(), [[maybe_unused]] C c = C()) { \
    return __VA_ARGS__;                                                               \
  }
#include <mxnet/op/formulas.inc>
};

}  // namespace details

using details::Formulas;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_FORMULAS_H_
