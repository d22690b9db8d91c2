/*!
 * \file np_elemwise.h
 * \brief What elementwise operators are made of: tables of inner loops and the code that runs them.
 */
#ifndef MXNET_SRC_API_OPERATOR_NUMPY_NP_ELEMWISE_H_
#define MXNET_SRC_API_OPERATOR_NUMPY_NP_ELEMWISE_H_

#include <mxnet/op/operator.h>
#include <mxnet/runtime/registry.h>

#include "api/call/outputs.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/operand.h"
#include "op/kernels/cpu.h"

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

/*! \brief Inner loops by the DTypeIndex of the inputs; NULL where the operator has none. */
struct LoopTable {
  InnerLoop loops[kNumDTypes]{};
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

template <typename Op, typename T>
InnerLoop BinaryLoop() {
  if constexpr (kGainsFromCpu<T>) return ForCpu<BinaryBody<Op, T>>();
  return &BinaryRun<Op, T>;
}

template <typename Op, typename T>
InnerLoop UnaryLoop() {
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

/* ---- operators ---- */

enum class ResultRule {
  kSame, /*!< the loop type */
  kBool,
  kReal /*!< the component type of a complex type */
};

inline DLDataType ResultDType(ResultRule rule, DLDataType dtype) {
  if (rule == ResultRule::kSame) return dtype;
  return rule == ResultRule::kBool ? kBool : RealOfDType(dtype);
}

/*! \brief A binary operator. A loop of type T is the one two arrays of type T use. */
struct BinaryOp {
  LoopTable table;
  MXNetTypeRule rule{kMXNetTypesCommon};
  ResultRule result{ResultRule::kSame};
  const char* hint{""}; /*!< ends the message about an unsupported type */
  /*! \brief Throws for values of an integer operand x2 the operator refuses; may be NULL. */
  void (*check_integers)(const BinaryOp& op, const DLTensor& x2){nullptr};
};

struct UnaryOp {
  LoopTable table;
  MXNetTypeRule rule{kMXNetTypesCommon};
  ResultRule result{ResultRule::kSame};
  const char* hint{""};
};

/* ---- the functions of operators, whose data is a BinaryOp or a UnaryOp ---- */

void InferBinary(const InferCall& call, const NoAttributes&);
void RunBinary(const RunCall& call, const NoAttributes&);
/*! \brief Of dense operands that are alike, or of one and a number. */
bool QuickBinary(const void* data, const MXNetArgs& args, MXNetRetValue* ret);

void InferUnary(const InferCall& call, const NoAttributes&);
void RunUnary(const RunCall& call, const NoAttributes&);
/*! \brief Of a dense operand, into a new array. */
bool QuickUnary(const void* data, const MXNetArgs& args, MXNetRetValue* ret);

/*! \brief Runs a loop over operands that broadcast to the shape of out. */
void Walk(InnerLoop loop, const DLTensor* inputs, int count, const DLTensor& out);

/*! \brief Returns the result, or writes it to `out` where that is not None and returns that. */
void ReturnInto(NDArray result, const MXNetArgValue& out, MXNetRetValue* ret);

/* ---- registration ---- */

/*! \brief Elementwise work below this many bytes is not worth letting other threads run. */
constexpr int64_t kReleaseGilBytes = 1 << 16;

#define MXNET_BROADCAST_DOC                                                             \
  "\n\nThe operands broadcast together; the result has the broadcast shape. Raises "    \
  "ValueError for shapes that do not broadcast, TypeError for data types without this " \
  "operation, OverflowError for a Python integer beyond the data type of the other operand."

#define MXNET_FLOAT_DOC                                                                   \
  "\n\nIntegers and bool give a float: 8 bits and bool float16, 16 bits float32, others " \
  "float64."

#define MXNET_REGISTER_BINARY(Name, Doc, Op)                                     \
  MXNET_REGISTER_OPERATOR("_npi." Name, NoAttributes)                            \
      .describe(Doc MXNET_BROADCAST_DOC)                                         \
      .input("x1", "First operand.")                                             \
      .input("x2", "Second operand.")                                            \
      .out()                                                                     \
      .types((Op).rule)                                                          \
      .properties(kMXNetOpElementwise | kMXNetOpInPlace | kMXNetOpStridedOutput) \
      .release_gil(kReleaseGilBytes)                                             \
      .data(&(Op))                                                               \
      .infer(&InferBinary)                                                       \
      .run(&RunBinary)                                                           \
      .quick(&QuickBinary)

#define MXNET_REGISTER_UNARY(Name, Doc, Op)                                                   \
  MXNET_REGISTER_OPERATOR("_npi." Name, NoAttributes)                                         \
      .describe(Doc                                                                           \
                "\n\nThe result has the shape of x. Raises TypeError for data types without " \
                "this operation.")                                                            \
      .input("x", "Operand.")                                                                 \
      .out()                                                                                  \
      .types((Op).rule)                                                                       \
      .properties(kMXNetOpElementwise | kMXNetOpInPlace | kMXNetOpStridedOutput)              \
      .release_gil(kReleaseGilBytes)                                                          \
      .data(&(Op))                                                                            \
      .infer(&InferUnary)                                                                     \
      .run(&RunUnary)                                                                         \
      .quick(&QuickUnary)

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_OPERATOR_NUMPY_NP_ELEMWISE_H_
