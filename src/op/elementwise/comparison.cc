/*!
 * \file comparison.cc
 * \brief Comparisons, right by value for integers of any types.
 */
#include "op/kernels/elementwise/comparison.h"

#include "op/argument/operand.h"
#include "op/argument/out.h"
#include "op/elementwise/elementwise.h"
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
  }
#endif
  return {op, &MixedRun<Op, int64_t, uint64_t>, &MixedRun<Op, uint64_t, int64_t>};
}

bool IsSigned(DLDataType dtype) { return dtype.code == kDLInt; }

/*! \brief int64 and uint64, whose common type would be float64, are compared as they are. */
InnerLoop MixedLoop(const Comparison& comparison, DLDataType a, DLDataType b) {
  if (IsSigned(a) && b == kUInt64) return comparison.signed_unsigned;
  if (a == kUInt64 && IsSigned(b)) return comparison.unsigned_signed;
  return nullptr;
}

/*! \brief Where a scalar lies beside the values of dtype: -1 below, 1 above, 0 among them. */
int8_t SideOf(const Operand& scalar, DLDataType dtype) {
  if (scalar.kind() != WeakKind::kInt || !IsIntDType(dtype)) return 0;
  const int64_t value = scalar.int_value();
  if (!scalar.is_large_uint() && value < 0) {
    if (dtype.code == kDLUInt) return -1;
    return value < -(int64_t{1} << (dtype.bits - 2)) * 2 ? -1 : 0;
  }
  const int digits = dtype.bits - (dtype.code == kDLInt ? 1 : 0);
  return digits < 64 && static_cast<uint64_t>(value) >> digits != 0 ? 1 : 0;
}

DLTensor TensorOver(const void* element, DLDataType dtype) {
  return {const_cast<void*>(element), Context{kDLCPU, 0}, 0, dtype, nullptr, nullptr, 0};
}

/*! \brief Compares inputs of types of their own, into a new array or `out`. */
void CompareInto(InnerLoop loop, const Operand& a, const Operand& b, const DLTensor* inputs,
                 const MXNetArgs& args, MXNetRetValue* ret) {
  const ShapeView shapes[2] = {a.shape(), b.shape()};
  DimBuffer shape;
  BroadcastShapes(shapes, 2, &shape);
  NDArray result = NDArray::Empty(shape.view(), kBool, ContextOf(a, b));
  Walk(loop, inputs, 2, result.tensor());
  ReturnInto(std::move(result), args[2], ret);
}

/*! \brief A scalar beyond the other operand's type compares alike with every element. */
bool CompareOutOfRange(const Comparison& comparison, const Operand& a, const Operand& b,
                       const MXNetArgs& args, MXNetRetValue* ret) {
  if (a.is_array() == b.is_array()) return false;
  const int8_t left = a.is_array() ? int8_t{0} : SideOf(a, b.dtype());
  const int8_t right = b.is_array() ? int8_t{0} : SideOf(b, a.dtype());
  if (left == 0 && right == 0) return false;
  const DLTensor inputs[2] = {TensorOver(&left, kInt8), TensorOver(&right, kInt8)};
  CompareInto(comparison.op.table.loops[kIndexInt8], a, b, inputs, args, ret);
  return true;
}

bool CompareMixedSigns(const Comparison& comparison, Operand* a, Operand* b, const MXNetArgs& args,
                       MXNetRetValue* ret) {
  const InnerLoop loop = MixedLoop(comparison, a->dtype(), b->dtype());
  if (loop == nullptr || a->is_array() != b->is_array()) return false;
  const bool signed_first = IsSigned(a->dtype());
  const DLTensor inputs[2] = {a->TensorAs(signed_first ? kInt64 : kUInt64),
                              b->TensorAs(signed_first ? kUInt64 : kInt64)};
  CompareInto(loop, *a, *b, inputs, args, ret);
  return true;
}

/*! \brief Besides what is quick of all operators, integers that have no common type. */
bool QuickCompare(const void* data, const MXNetArgs& args, MXNetRetValue* ret) {
  const auto& comparison = *static_cast<const Comparison*>(data);
  if (QuickBinary(&comparison.op, args, ret)) return true;
  Operand a(args[0]);
  Operand b(args[1]);
  return CompareOutOfRange(comparison, a, b, args, ret) ||
         CompareMixedSigns(comparison, &a, &b, args, ret);
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

#define MXNET_REGISTER_COMPARISON(Name, Relation, Of) \
  MXNET_REGISTER_BINARY(Name, MXNET_COMPARE_DOC(Relation), (Of).op).quick(&QuickCompare)

MXNET_REGISTER_COMPARISON("equal", "is equal to", kEqual);
MXNET_REGISTER_COMPARISON("not_equal", "differs from", kNotEqual);
MXNET_REGISTER_COMPARISON("less", "is less than", kLess);
MXNET_REGISTER_COMPARISON("less_equal", "is less than or equal to", kLessEqual);
MXNET_REGISTER_COMPARISON("greater", "is greater than", kGreater);
MXNET_REGISTER_COMPARISON("greater_equal", "is greater than or equal to", kGreaterEqual);

}  // namespace
}  // namespace op
}  // namespace mxnet
