/*!
 * \file np_elemwise_compare.cc
 * \brief Comparisons, right by value for integers of any types.
 */
#include "api/operator/numpy/kernels/comparison.h"
#include "api/operator/numpy/np_elemwise.h"
#include "api/operator/numpy/np_order.h"

namespace mxnet {
namespace op {
namespace {

struct Equal {
  static constexpr int kPredicate = MXNET_PREDICATE(EQ_OQ);
  template <typename T>
  static bool Apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  static constexpr int kPredicate = MXNET_PREDICATE(NEQ_UQ);
  template <typename T>
  static bool Apply(T a, T b) {
    return a != b;
  }
};
struct Less {
  static constexpr int kPredicate = MXNET_PREDICATE(LT_OQ);
  template <typename T>
  static bool Apply(T a, T b) {
    return LessValue(a, b);
  }
};
struct LessEqual {
  static constexpr int kPredicate = MXNET_PREDICATE(LE_OQ);
  template <typename T>
  static bool Apply(T a, T b) {
    return LessEqualValue(a, b);
  }
};
struct Greater {
  static constexpr int kPredicate = MXNET_PREDICATE(GT_OQ);
  template <typename T>
  static bool Apply(T a, T b) {
    return GreaterValue(a, b);
  }
};
struct GreaterEqual {
  static constexpr int kPredicate = MXNET_PREDICATE(GE_OQ);
  template <typename T>
  static bool Apply(T a, T b) {
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

struct Comparison {
  BinaryOp op;
  InnerLoop signed_unsigned;
  InnerLoop unsigned_signed;
};

template <typename Op>
Comparison MakeComparison() {
  LoopTable table =
      BinaryLoops<Op, BoolType, SignedTypes, UnsignedTypes, FloatTypes, ComplexTypes>();
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) {
    table.loops[kIndexFloat32] = &WideComparison<Op, float>;
    table.loops[kIndexFloat64] = &WideComparison<Op, double>;
  }
#endif
  return {{table, TypeRule::kCommon, ResultRule::kBool},
          &MixedRun<Op, int64_t, uint64_t>,
          &MixedRun<Op, uint64_t, int64_t>};
}

bool IsSigned(const Operand& x) { return x.dtype().code == kDLInt; }
bool IsUInt64(const Operand& x) { return x.dtype() == kUInt64; }

/*! \brief Where a scalar lies beside the values of dtype: -1 below, 1 above, 0 among them. */
int SideOf(const Operand& scalar, DLDataType dtype) {
  if (scalar.kind() != WeakKind::kInt || !IsIntDType(dtype)) return 0;
  const int64_t value = scalar.int_value();
  if (!scalar.is_large_uint() && value < 0) {
    if (dtype.code == kDLUInt) return -1;
    return value < -(int64_t{1} << (dtype.bits - 2)) * 2 ? -1 : 0;
  }
  const int digits = dtype.bits - (dtype.code == kDLInt ? 1 : 0);
  return digits < 64 && static_cast<uint64_t>(value) >> digits != 0 ? 1 : 0;
}

/*! \brief Runs a loop whose inputs are of their own types. */
void RunMixed(InnerLoop loop, const LoopInput& a, const LoopInput& b, const Operand& x1,
              const Operand& x2, const MXNetArgs& args, MXNetRetValue* ret) {
  const ShapeView shapes[2] = {x1.shape(), x2.shape()};
  DimBuffer shape;
  BroadcastShapes(shapes, 2, &shape);
  const LoopInput inputs[2] = {a, b};
  const Context ctx = ContextOf(x1, x2);
  RunLoop(loop, inputs, 2, shape.view(), kBool, ctx, args[2], ret);
}

/*! \brief A scalar beyond the other operand's type compares alike with every element. */
bool RunOutOfRange(const Comparison& comparison, const Operand& a, const Operand& b,
                   const MXNetArgs& args, MXNetRetValue* ret) {
  if (a.is_array() == b.is_array()) return false;
  const int8_t left = static_cast<int8_t>(a.is_array() ? 0 : SideOf(a, b.dtype()));
  const int8_t right = static_cast<int8_t>(b.is_array() ? 0 : SideOf(b, a.dtype()));
  if (left == 0 && right == 0) return false;
  RunMixed(comparison.op.table.loops[kIndexInt8], {nullptr, &left}, {nullptr, &right}, a, b, args,
           ret);
  return true;
}

/*! \brief int64 against uint64, whose common type would be float64. */
bool RunMixedSigns(const Comparison& comparison, Operand* a, Operand* b, const MXNetArgs& args,
                   MXNetRetValue* ret) {
  const bool signed_first = IsSigned(*a) && IsUInt64(*b);
  if (!signed_first && !(IsUInt64(*a) && IsSigned(*b))) return false;
  if (a->is_array() != b->is_array()) return false;
  const LoopInput left{&a->TensorAs(signed_first ? kInt64 : kUInt64), nullptr};
  const LoopInput right{&b->TensorAs(signed_first ? kUInt64 : kInt64), nullptr};
  RunMixed(signed_first ? comparison.signed_unsigned : comparison.unsigned_signed, left, right, *a,
           *b, args, ret);
  return true;
}

void RunComparison(const Comparison& comparison, const MXNetArgs& args, MXNetRetValue* ret) {
  if (RunBinaryDense(comparison.op, args, ret)) return;
  Operand a(args[0]);
  Operand b(args[1]);
  if (RunOutOfRange(comparison, a, b, args, ret)) return;
  if (RunMixedSigns(comparison, &a, &b, args, ret)) return;
  RunBinaryAny(comparison.op, args, ret);
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

MXNET_REGISTER_BINARY("equal", MXNET_COMPARE_DOC("is equal to"), RunComparison(kEqual, args, ret));
MXNET_REGISTER_BINARY("not_equal", MXNET_COMPARE_DOC("differs from"),
                      RunComparison(kNotEqual, args, ret));
MXNET_REGISTER_BINARY("less", MXNET_COMPARE_DOC("is less than"), RunComparison(kLess, args, ret));
MXNET_REGISTER_BINARY("less_equal", MXNET_COMPARE_DOC("is less than or equal to"),
                      RunComparison(kLessEqual, args, ret));
MXNET_REGISTER_BINARY("greater", MXNET_COMPARE_DOC("is greater than"),
                      RunComparison(kGreater, args, ret));
MXNET_REGISTER_BINARY("greater_equal", MXNET_COMPARE_DOC("is greater than or equal to"),
                      RunComparison(kGreaterEqual, args, ret));

}  // namespace
}  // namespace op
}  // namespace mxnet
