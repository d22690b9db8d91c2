/*!
 * \file loops.h
 * \brief Inner loops of elementwise operators, in tables by the type of the elements.
 */
#ifndef MXNET_SRC_OP_KERNELS_ELEMENTWISE_LOOPS_H_
#define MXNET_SRC_OP_KERNELS_ELEMENTWISE_LOOPS_H_

#include <type_traits>

#include "op/kernels/cpu.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

/* ---- element types in loops ---- */

/*! \brief What T is computed with: float for the two-byte floats. */
template <typename T>
using Computed = std::conditional_t<kIsHalfType<T>, float, T>;

/*! \brief What is read for T: a byte for bool, because foreign arrays hold others than 0 and 1. */
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <typename T>
inline Computed<T> Load(Stored<T> value) noexcept {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  if constexpr (!std::is_same_v<T, bool>) return static_cast<Computed<T>>(value);
}

template <typename T>
inline Computed<T> LoadAt(const char* address) noexcept {
  return Load<T>(*reinterpret_cast<const Stored<T>*>(address));
}

/*! \brief Unsigned type at least as wide as int, in which the arithmetic of T wraps. */
template <typename T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

/*! \brief What is stored for the result of Op on T: bool stays bool, float narrows back. */
template <typename T, typename R>
using ResultOf = std::conditional_t<kIsHalfType<T> && std::is_same_v<R, float>, T, R>;

template <typename... Ts>
struct TypeList {};
using BoolType = TypeList<bool>;
using SignedTypes = TypeList<int8_t, int16_t, int32_t, int64_t>;
using UnsignedTypes = TypeList<uint8_t, uint16_t, uint32_t, uint64_t>;
using FloatTypes = TypeList<Half, BFloat16, float, double>;
using ComplexTypes = TypeList<Complex64, Complex128>;
using RealTypes = TypeList<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                           uint64_t, Half, BFloat16, float, double>;

/*! \brief Inner loops by the DTypeIndex of the inputs; NULL where the operator has none. */
struct LoopTable {
  InnerLoop loops[kNumDTypes]{};
  /*! \brief Whether an element takes so little that it may be computed alone: an instruction. */
  bool is_light{false};
};

/* ---- inner loops ---- */

/*! \brief out[i] = Op(a[i], b[i]); out is either one of the inputs or apart from both. */
template <typename Op, typename T>
struct BinaryBody {
  static MXNET_ALWAYS_INLINE void Run(char* const* data, const int64_t* strides, int64_t n) {
    using C = Computed<T>;
    using R = ResultOf<T, decltype(Op::Apply(C(), C()))>;
    constexpr int64_t kIn = sizeof(T);
    constexpr int64_t kOut = sizeof(R);
    auto* out = reinterpret_cast<R*>(data[0]);
    auto* a = reinterpret_cast<const Stored<T>*>(data[1]);
    auto* b = reinterpret_cast<const Stored<T>*>(data[2]);
    if (strides[0] == kOut && strides[1] == kIn && strides[2] == kIn) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = R(Op::Apply(Load<T>(a[i]), Load<T>(b[i])));
    } else if (strides[0] == kOut && strides[1] == kIn && strides[2] == 0) {
      const C right = Load<T>(*b);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = R(Op::Apply(Load<T>(a[i]), right));
    } else if (strides[0] == kOut && strides[1] == 0 && strides[2] == kIn) {
      const C left = Load<T>(*a);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = R(Op::Apply(left, Load<T>(b[i])));
    } else {
      char* to = data[0];
      const char* from_a = data[1];
      const char* from_b = data[2];
      // Copies, as what is written might be the strides for all that the compiler knows.
      const int64_t step = strides[0];
      const int64_t step_a = strides[1];
      const int64_t step_b = strides[2];
#pragma GCC unroll 4
      for (int64_t i = 0; i < n; ++i) {
        *reinterpret_cast<R*>(to) = R(Op::Apply(LoadAt<T>(from_a), LoadAt<T>(from_b)));
        to += step;
        from_a += step_a;
        from_b += step_b;
      }
    }
  }
};

/*! \brief out[i] = Op(x[i]); out is either the input or apart from it. */
template <typename Op, typename T>
struct UnaryBody {
  static MXNET_ALWAYS_INLINE void Run(char* const* data, const int64_t* strides, int64_t n) {
    using C = Computed<T>;
    using R = ResultOf<T, decltype(Op::Apply(C()))>;
    if (strides[0] == sizeof(R) && strides[1] == sizeof(T)) {
      auto* out = reinterpret_cast<R*>(data[0]);
      auto* x = reinterpret_cast<const Stored<T>*>(data[1]);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = R(Op::Apply(Load<T>(x[i])));
      return;
    }
    char* to = data[0];
    const char* from = data[1];
    const int64_t step = strides[0];
    const int64_t step_from = strides[1];
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i, to += step, from += step_from) {
      *reinterpret_cast<R*>(to) = R(Op::Apply(LoadAt<T>(from)));
    }
  }
};

template <typename Op, typename T>
void BinaryRun(char* const* data, const int64_t* strides, int64_t n) {
  BinaryBody<Op, T>::Run(data, strides, n);
}

template <typename Op, typename T>
void UnaryRun(char* const* data, const int64_t* strides, int64_t n) {
  UnaryBody<Op, T>::Run(data, strides, n);
}

namespace internal {

/*! \brief Whether wider vectors make loops over T faster: T is computed with as it is stored. */
template <typename T>
constexpr bool kGainsFromCpu = !kIsHalfType<T> && !kIsComplexType<T>;

/*! \brief Whether they gain from AVX-512, which has what AVX2 lacks for integers of 64 bits. */
template <typename T>
constexpr bool kGainsFromWideCpu = std::is_integral_v<T> && sizeof(T) == 8;

template <typename Op, typename T>
InnerLoop BinaryLoop() {
  if constexpr (kGainsFromWideCpu<T>) return ForWideCpu<BinaryBody<Op, T>>();
  if constexpr (kGainsFromCpu<T>) return ForCpu<BinaryBody<Op, T>>();
  return &BinaryRun<Op, T>;
}

template <typename Op, typename T>
InnerLoop UnaryLoop() {
  if constexpr (kGainsFromWideCpu<T>) return ForWideCpu<UnaryBody<Op, T>>();
  if constexpr (kGainsFromCpu<T>) return ForCpu<UnaryBody<Op, T>>();
  return &UnaryRun<Op, T>;
}

template <typename Op, typename... Ts>
void FillBinary(LoopTable* table, TypeList<Ts...>) {
  ((table->loops[DTypeIndexOf<Ts>::value] = BinaryLoop<Op, Ts>()), ...);
}

template <typename Op, typename... Ts>
void FillUnary(LoopTable* table, TypeList<Ts...>) {
  ((table->loops[DTypeIndexOf<Ts>::value] = UnaryLoop<Op, Ts>()), ...);
}

template <typename Op, typename T>
void AddBinaryFormula(LoopTable* table) {
  if constexpr (Op::template kHas<Computed<T>>) {
    table->loops[DTypeIndexOf<T>::value] = BinaryLoop<Op, T>();
  }
}

template <typename Op, typename T>
void AddUnaryFormula(LoopTable* table) {
  if constexpr (Op::template kHas<Computed<T>>) {
    table->loops[DTypeIndexOf<T>::value] = UnaryLoop<Op, T>();
  }
}

template <typename Op, typename... Ts>
void AddBinaryFormulas(LoopTable* table, TypeList<Ts...>) {
  (AddBinaryFormula<Op, Ts>(table), ...);
}

template <typename Op, typename... Ts>
void AddUnaryFormulas(LoopTable* table, TypeList<Ts...>) {
  (AddUnaryFormula<Op, Ts>(table), ...);
}

}  // namespace internal

/*! \brief The binary loops of Op for the types of the lists, compiled for the processor. */
template <typename Op, typename... Lists>
LoopTable BinaryLoops() {
  LoopTable table;
  (internal::FillBinary<Op>(&table, Lists{}), ...);
  return table;
}

/*! \brief The unary loops of Op for the types of the lists, compiled for the processor. */
template <typename Op, typename... Lists>
LoopTable UnaryLoops() {
  LoopTable table;
  (internal::FillUnary<Op>(&table, Lists{}), ...);
  return table;
}

/*!
 * \brief The binary loops of Op, one of the formulas, for the real types that it is there for, and
 * for those of the lists.
 */
template <typename Op, typename... Lists>
LoopTable BinaryFormulaLoops() {
  LoopTable table = BinaryLoops<Op, Lists...>();
  internal::AddBinaryFormulas<Op>(&table, RealTypes{});
  return table;
}

/*! \brief The same of one operand. */
template <typename Op, typename... Lists>
LoopTable UnaryFormulaLoops() {
  LoopTable table = UnaryLoops<Op, Lists...>();
  internal::AddUnaryFormulas<Op>(&table, RealTypes{});
  return table;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_ELEMENTWISE_LOOPS_H_
