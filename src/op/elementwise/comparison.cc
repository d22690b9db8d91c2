/*!
 * \file comparison.cc
 * \brief Comparisons, right by value for integers of any types.
 */
#include "op/kernels/elementwise/comparison.h"

#include "op/elementwise/elementwise.h"
#include "op/semantics/input_types.h"
#include "op/semantics/order.h"

namespace mxnet {
namespace op {
namespace {

struct Equal : formulas::equal {
  static constexpr int kPredicate = MXNET_PREDICATE(EQ_OQ);
};
struct NotEqual : formulas::not_equal {
  static constexpr int kPredicate = MXNET_PREDICATE(NEQ_UQ);
};
struct Less : formulas::less {
  static constexpr int kPredicate = MXNET_PREDICATE(LT_OQ);
  using formulas::less::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> a, std::complex<Part> b) {
    return LessValue(a, b);
  }
};
struct LessEqual : formulas::less_equal {
  static constexpr int kPredicate = MXNET_PREDICATE(LE_OQ);
  using formulas::less_equal::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> a, std::complex<Part> b) {
    return LessEqualValue(a, b);
  }
};
struct Greater : formulas::greater {
  static constexpr int kPredicate = MXNET_PREDICATE(GT_OQ);
  using formulas::greater::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> a, std::complex<Part> b) {
    return GreaterValue(a, b);
  }
};
struct GreaterEqual : formulas::greater_equal {
  static constexpr int kPredicate = MXNET_PREDICATE(GE_OQ);
  using formulas::greater_equal::Apply;
  template <typename Part>
  static bool Apply(std::complex<Part> a, std::complex<Part> b) {
    return GreaterEqualValue(a, b);
  }
};

/*! \brief Compares int64 with uint64: below zero the signed one is less, else both are unsigned. */
template <typename Op, typename A, typename B>
void MixedRun(char* const* data, const int64_t* strides, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const A a = LoadAt<A>(data[1] + i * strides[1]);
    const B b = LoadAt<B>(data[2] + i * strides[2]);
    bool result;
    if (a < A(0) || b < B(0)) {
      result = Op::Apply(a < A(0) ? 0 : 1, b < B(0) ? 0 : 1);
    } else {
      result = Op::Apply(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
    }
    *reinterpret_cast<bool*>(data[0] + i * strides[0]) = result;
  }
}

/*! \brief Begins with what the functions of every binary operator read. */
struct Comparison {
  BinaryOp op;
  InnerLoop signed_unsigned;
  InnerLoop unsigned_signed;
};

template <typename Op>
Comparison MakeComparison() {
  BinaryOp op = BinaryOf<Op, ComplexTypes>();
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) {
    op.table.loops[kIndexFloat32] = &WideComparison<Op, float>;
    op.table.loops[kIndexFloat64] = &WideComparison<Op, double>;
    op.table.loops[kIndexInt64] = &WideComparison<Op, int64_t>;
  } else if (HostCpuLevel() >= CpuLevel::kAvx2) {
    op.table.loops[kIndexFloat32] = &NarrowComparison<Op, float>;
    op.table.loops[kIndexFloat64] = &NarrowComparison<Op, double>;
    op.table.loops[kIndexInt64] = &NarrowComparison<Op, int64_t>;
  }
#endif
  return {op, &MixedRun<Op, int64_t, uint64_t>, &MixedRun<Op, uint64_t, int64_t>};
}

bool IsSigned(DLDataType dtype) { return dtype.code == kDLInt; }

bool IsPythonInt(const MXNetTensorSpec& input) {
  return input.ndim == 0 && input.weak == kMXNetWeakInt;
}

/*! \brief Integers that have no common type keep theirs, as does a Python int beside integers. */
void PromoteComparison(MXNetTensorSpec* in, int, const NoAttributes&) {
  const InputType a = TypeOf(in[0]);
  const InputType b = TypeOf(in[1]);
  const bool integers = IsIntDType(a.dtype) && IsIntDType(b.dtype);
  if (integers && (IsPythonInt(in[0]) || IsPythonInt(in[1]))) {
    in[0].dtype = a.dtype;
    in[1].dtype = b.dtype;
  } else if (IsSigned(a.dtype) && b.dtype == kUInt64) {
    in[0].dtype = kInt64;
    in[1].dtype = kUInt64;
  } else if (a.dtype == kUInt64 && IsSigned(b.dtype)) {
    in[0].dtype = kUInt64;
    in[1].dtype = kInt64;
  } else {
    in[0].dtype = in[1].dtype = CommonOf(a, b);
  }
}

DLTensor TensorOver(const void* element, DLDataType dtype) {
  return {const_cast<void*>(element), Context{kDLCPU, 0}, 0, dtype, nullptr, nullptr, 0};
}

/*! \brief Compares with a Python int, which is input `number`, that may be beyond the other's type.
 */
void CompareWithNumber(const LoopTable& table, const DLTensor* in, int number,
                       const DLTensor& out) {
  const DLDataType dtype = in[1 - number].dtype;
  DLTensor inputs[2] = {in[0], in[1]};
  const auto side = static_cast<int8_t>(SideOf(in[number], dtype));
  const int8_t middle = 0;
  ElementBuffer element;
  if (side != 0) {
    // It compares alike with every element.
    inputs[number] = TensorOver(&side, kInt8);
    inputs[1 - number] = TensorOver(&middle, kInt8);
  } else {
    inputs[number] = TensorOver(&element, dtype);
    CopyCast(in[number], inputs[number]);
  }
  Walk(table.loops[CheckedIndexOfDType(inputs[0].dtype)], inputs, 2, out);
}

void RunComparison(const RunCall& call, const NoAttributes& attributes) {
  const auto& comparison = *static_cast<const Comparison*>(call.data);
  const DLDataType a = call.in[0].dtype;
  const DLDataType b = call.in[1].dtype;
  if (a == b) return RunBinary(call, attributes);
  if (a.bits == 64 && b.bits == 64) {
    const bool signed_first = IsSigned(a);
    return Walk(signed_first ? comparison.signed_unsigned : comparison.unsigned_signed, call.in, 2,
                call.out[0]);
  }
  CompareWithNumber(comparison.op.table, call.in, a.bits == 64 ? 0 : 1, call.out[0]);
}

const Comparison kEqual = MakeComparison<Equal>();
const Comparison kNotEqual = MakeComparison<NotEqual>();
const Comparison kLess = MakeComparison<Less>();
const Comparison kLessEqual = MakeComparison<LessEqual>();
const Comparison kGreater = MakeComparison<Greater>();
const Comparison kGreaterEqual = MakeComparison<GreaterEqual>();

#define MXNET_COMPARE_DOC(Relation)                                                       \
  "Whether x1 " Relation                                                                  \
  " x2, elementwise, as bool. Integers of different types, and Python integers of any "   \
  "size, compare by value; complex numbers by real, then imaginary part; NaN is unequal " \
  "to everything."

#define MXNET_REGISTER_COMPARISON(Name, Relation, Of)               \
  MXNET_REGISTER_BINARY(Name, MXNET_COMPARE_DOC(Relation), (Of).op) \
      .types(&PromoteComparison)                                    \
      .run(&RunComparison)

MXNET_REGISTER_COMPARISON("equal", "is equal to", kEqual);
MXNET_REGISTER_COMPARISON("not_equal", "differs from", kNotEqual);
MXNET_REGISTER_COMPARISON("less", "is less than", kLess);
MXNET_REGISTER_COMPARISON("less_equal", "is less than or equal to", kLessEqual);
MXNET_REGISTER_COMPARISON("greater", "is greater than", kGreater);
MXNET_REGISTER_COMPARISON("greater_equal", "is greater than or equal to", kGreaterEqual);

}  // namespace
}  // namespace op
}  // namespace mxnet
