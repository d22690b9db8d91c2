/*!
 * \file elementwise.cc
 * \brief Elementwise operators on operands of any kind.
 */
#include "op/elementwise/elementwise.h"

#include "op/kernels/elementwise/gather.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Spans shorter than this are not worth bringing together. */
constexpr int64_t kFewElements = 32;

template <int Count>
void WalkAll(InnerLoop loop, const DLTensor* inputs, const DLTensor& out, bool is_light) {
  StridedLoop<Count + 1> walk(TensorShape(out));
  walk.Set(0, out);
  int64_t items[Count + 1] = {ItemSize(out.dtype)};
  for (int i = 0; i < Count; ++i) {
    items[i + 1] = ItemSize(inputs[i].dtype);
    walk.Set(i + 1, inputs[i]);
  }
  walk.RunParallel([&](char* const* data, const int64_t* strides, int64_t n) {
    RunStrided(loop, items, Count + 1, data, strides, n, is_light);
  });
}

InnerLoop LoopFor(const LoopTable& table, DLDataType dtype) {
  return table.loops[CheckedIndexOfDType(dtype)];
}

}  // namespace

void RunStrided(InnerLoop loop, const int64_t* items, int count, char* const* data,
                const int64_t* strides, int64_t n, bool is_light) {
  bool is_dense = strides[0] == items[0] || strides[0] == 0;
  for (int i = 1; i < count; ++i) is_dense &= strides[i] == items[i] || strides[i] == 0;
  if (is_dense || strides[0] == 0 || n < kFewElements) return loop(data, strides, n);
  // AVX-512 alone writes several elements apart at a time. Small ones are many in a register.
  static const bool writes_many = HostCpuLevel() >= CpuLevel::kAvx512;
  const bool writes_each = strides[0] != items[0] && items[0] >= 4 && !writes_many;
  if (is_light && writes_each) return loop(data, strides, n);
  RunGathered(loop, items, count, data, strides, n);
}

int SideOf(const DLTensor& number, DLDataType dtype) {
  const int64_t value = *static_cast<const int64_t*>(TensorData(number));
  const int unused = 64 - dtype.bits;
  if (number.dtype == kUInt64 && value < 0) return dtype == kUInt64 ? 0 : 1;
  if (dtype.code == kDLUInt) {
    return value < 0 ? -1 : static_cast<uint64_t>(value) > UINT64_MAX >> unused ? 1 : 0;
  }
  return value < INT64_MIN >> unused ? -1 : value > INT64_MAX >> unused ? 1 : 0;
}

void Walk(InnerLoop loop, const DLTensor* inputs, int count, const DLTensor& out, bool is_light) {
  if (count == 1) {
    WalkAll<1>(loop, inputs, out, is_light);
  } else {
    WalkAll<2>(loop, inputs, out, is_light);
  }
}

void InferBinary(const InferCall& call, const NoAttributes&) {
  const auto& op = *static_cast<const BinaryOp*>(call.data);
  const DLDataType dtype = call.in[0].dtype;
  if (LoopFor(op.table, dtype) == nullptr) {
    MXNET_THROW("TypeError") << "not supported for data types " << DataTypeName(call.in[0].given)
                             << " and " << DataTypeName(call.in[1].given) << op.hint;
  }
  const ShapeView shapes[2] = {ShapeOf(call.in[0]), ShapeOf(call.in[1])};
  DimBuffer shape;
  BroadcastShapes(shapes, 2, &shape);
  SetSpec(ResultDType(op.result, dtype), shape.view(), call.out);
}

void CheckBinary(const CheckCall& call, const NoAttributes&) {
  const auto& op = *static_cast<const BinaryOp*>(call.data);
  const bool is_checked = op.check_integers != nullptr && IsIntDType(call.in[0].dtype);
  if (is_checked) op.check_integers(op, call.in[1]);
}

void RunBinary(const RunCall& call, const NoAttributes& none) {
  const auto& op = *static_cast<const BinaryOp*>(call.data);
  CheckBinary({call.in, call.num_in, call.data}, none);
  Walk(LoopFor(op.table, call.in[0].dtype), call.in, 2, call.out[0], op.table.is_light);
}

void InferUnary(const InferCall& call, const NoAttributes&) {
  const auto& op = *static_cast<const UnaryOp*>(call.data);
  const DLDataType dtype = call.in[0].dtype;
  if (LoopFor(op.table, dtype) == nullptr) {
    MXNET_THROW("TypeError") << "not supported for data type " << DataTypeName(call.in[0].given)
                             << op.hint;
  }
  SetSpec(ResultDType(op.result, dtype), ShapeOf(call.in[0]), call.out);
}

void RunUnary(const RunCall& call, const NoAttributes&) {
  const auto& op = *static_cast<const UnaryOp*>(call.data);
  Walk(LoopFor(op.table, call.in[0].dtype), call.in, 1, call.out[0]);
}

}  // namespace op
}  // namespace mxnet
