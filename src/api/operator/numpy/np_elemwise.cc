/*!
 * \file np_elemwise.cc
 * \brief Elementwise operators on operands of any kind: conversion, broadcasting, out.
 */
#include "api/operator/numpy/np_elemwise.h"

#include "op/kernels/elementwise/gather.h"

namespace mxnet {
namespace op {
namespace {

[[noreturn]] void ThrowNoLoop(const char* hint, DLDataType a, DLDataType b) {
  MXNET_THROW("TypeError") << "not supported for data types " << DataTypeName(a) << " and "
                           << DataTypeName(b) << hint;
}

/*! \brief The type each operand is converted to. */
DLDataType LoopDType(TypeRule rule, const Operand& a, const Operand& b) {
  if (rule == TypeRule::kBool) {
    const bool alike = a.is_array() && b.is_array() && a.dtype() == b.dtype();
    return alike ? a.dtype() : kBool;
  }
  if (rule == TypeRule::kFloat) {
    // bfloat16 takes part by its own rules, and a Python scalar has no float of its own.
    const bool own_floats = a.dtype() != kBFloat16 && b.dtype() != kBFloat16;
    if (own_floats && a.is_array() && b.is_array()) {
      return PromoteTypes(FloatOfDType(a.dtype()), FloatOfDType(b.dtype()));
    }
    return FloatOfDType(ResultType(a, b));
  }
  const DLDataType common = ResultType(a, b);
  if (rule == TypeRule::kCommonNoBool && IsBoolDType(common)) return kInt8;
  if (rule == TypeRule::kTrueDivide && (IsBoolDType(common) || IsIntDType(common))) {
    return kFloat64;
  }
  return common;
}

/*! \brief Converts an operand to a loop's type; a scalar needs room in *buffer. */
LoopInput Convert(Operand* operand, DLDataType dtype, ElementBuffer* buffer) {
  if (operand->is_array()) return {&operand->TensorAs(dtype), nullptr};
  operand->StoreScalar(dtype, buffer);
  return {nullptr, buffer};
}

/*! \brief Runs shorter than this are not worth bringing together. */
constexpr int64_t kFewElements = 32;

template <int Count>
void WalkLoop(InnerLoop loop, const LoopInput* inputs, const DLTensor& target) {
  StridedLoop<Count + 1> walk(TensorShape(target));
  walk.Set(0, target);
  int64_t items[Count + 1] = {ItemSize(target.dtype)};
  for (int i = 0; i < Count; ++i) {
    if (inputs[i].tensor != nullptr) {
      items[i + 1] = ItemSize(inputs[i].tensor->dtype);
      walk.Set(i + 1, *inputs[i].tensor);
    } else {
      items[i + 1] = 0;
      walk.SetScalar(i + 1, inputs[i].scalar);
    }
  }
  walk.Run([&](char* const* data, const int64_t* strides, int64_t n) {
    bool reads_dense = true;
    for (int i = 1; i <= Count; ++i) reads_dense &= strides[i] == items[i] || strides[i] == 0;
    // Results that have to be scattered again take as long as the loop over what lies apart.
    const bool writes_dense = strides[0] == items[0];
    if (reads_dense || !writes_dense || n < kFewElements) return loop(data, strides, n);
    RunGathered(loop, items, Count + 1, data, strides, n);
  });
}

void Walk(InnerLoop loop, const LoopInput* inputs, int count, const DLTensor& target) {
  if (count == 1) {
    WalkLoop<1>(loop, inputs, target);
  } else {
    WalkLoop<2>(loop, inputs, target);
  }
}

/*! \brief Whether the loop can write to out at once: right type, and no input changes under it. */
bool WritesDirectly(const LoopInput* inputs, int count, const DLTensor& out, DLDataType dtype) {
  if (out.dtype != dtype || !IsAligned(out)) return false;
  for (int i = 0; i < count; ++i) {
    const DLTensor* input = inputs[i].tensor;
    if (input != nullptr && MayOverlap(*input, out) && !SameElements(*input, out)) return false;
  }
  return true;
}

}  // namespace

NDArray CheckedOut(const MXNetArgValue& out, ShapeView shape, DLDataType dtype) {
  if (out.type_code() != kMXNetNDArrayHandle) {
    MXNET_THROW("TypeError") << out.text() << " expected an array of this package or None, got "
                             << (out.type_name() == "ndarray" ? "a foreign array"
                                                              : out.type_name());
  }
  NDArray array = out.As<NDArray>();
  if (array.read_only()) MXNET_THROW("ValueError") << out.text() << " is read-only";
  if (array.shape() != shape) {
    MXNET_THROW("ValueError") << out.text() << " has shape " << array.shape().str()
                              << ", but the result has shape " << shape.str();
  }
  if (!CanCastSameKind(dtype, array.dtype())) {
    MXNET_THROW("TypeError") << out.text() << ": Cannot cast output from dtype('"
                             << DataTypeName(dtype) << "') to dtype('"
                             << DataTypeName(array.dtype()) << "') with casting rule 'same_kind'";
  }
  return array;
}

void ReturnInto(NDArray result, const MXNetArgValue& out, MXNetRetValue* ret) {
  if (out.is_null()) {
    *ret = std::move(result);
    return;
  }
  NDArray target = CheckedOut(out, result.shape(), result.dtype());
  CopyCast(result.tensor(), target.tensor());
  *ret = std::move(target);
}

void RunLoop(InnerLoop loop, const LoopInput* inputs, int count, ShapeView shape, DLDataType dtype,
             Context ctx, const MXNetArgValue& out, MXNetRetValue* ret) {
  if (out.is_null()) {
    NDArray result = NDArray::Empty(shape, dtype, ctx);
    Walk(loop, inputs, count, result.tensor());
    *ret = std::move(result);
    return;
  }
  const NDArray target = CheckedOut(out, shape, dtype);
  if (WritesDirectly(inputs, count, target.tensor(), dtype)) {
    Walk(loop, inputs, count, target.tensor());
  } else {
    const NDArray result = NDArray::Empty(shape, dtype, ctx);
    Walk(loop, inputs, count, result.tensor());
    CopyCast(result.tensor(), target.tensor());
  }
  *ret = target;
}

void RunBinaryAny(const BinaryOp& op, const MXNetArgs& args, MXNetRetValue* ret) {
  Operand a(args[0]);
  Operand b(args[1]);
  const DLDataType dtype = LoopDType(op.rule, a, b);
  const InnerLoop loop = op.table.loops[IndexOfDType(dtype)];
  if (loop == nullptr) ThrowNoLoop(op.hint, a.dtype(), b.dtype());
  const Context ctx = ContextOf(a, b);
  const ShapeView shapes[2] = {a.shape(), b.shape()};
  DimBuffer shape;
  BroadcastShapes(shapes, 2, &shape);
  AnnounceResult(shape.view(), ResultDType(op.result, dtype), ctx);
  ElementBuffer buffers[2];
  const LoopInput inputs[2] = {Convert(&a, dtype, &buffers[0]), Convert(&b, dtype, &buffers[1])};
  if (op.check_integers != nullptr && IsIntDType(dtype)) {
    op.check_integers(op, b.TensorAs(dtype));
  }
  RunLoop(loop, inputs, 2, shape.view(), ResultDType(op.result, dtype), ctx, args[2], ret);
}

void RunUnaryAny(const UnaryOp& op, const MXNetArgs& args, MXNetRetValue* ret) {
  Operand x(args[0]);
  DLDataType dtype = x.dtype();
  if (op.rule == TypeRule::kFloat) dtype = FloatOfDType(dtype);
  if (op.rule == TypeRule::kCommonNoBool && IsBoolDType(dtype)) dtype = kInt8;
  const InnerLoop loop = op.table.loops[IndexOfDType(dtype)];
  if (loop == nullptr) {
    MXNET_THROW("TypeError") << "not supported for data type " << DataTypeName(x.dtype())
                             << op.hint;
  }
  ElementBuffer buffer;
  const DimBuffer shape(x.shape());
  const LoopInput input = Convert(&x, dtype, &buffer);
  RunLoop(loop, &input, 1, shape.view(), ResultDType(op.result, dtype), x.ctx(), args[1], ret);
}

}  // namespace op
}  // namespace mxnet
