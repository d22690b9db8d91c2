/*!
 * \file softmax.cc
 * \brief softmax and log_softmax.
 *
 * oneDNN is fast along an axis that comes last and is dense. It lets NaN and infinity make NaN only
 * of their own elements, so that what becomes of them is added to all along the axis.
 */
#include <cmath>
#include <iterator>

#include "operators.h"
#include "passes.h"

namespace onednn {
namespace {

/*! \brief With rows shorter than this, arrays of this size are slower than on the CPU. */
constexpr int64_t kLongRow = 64;
constexpr int64_t kManyElements = 4096;

/*! \brief Which axis it is; none of an array without axes, which has one element. */
std::vector<bool> TheAxis(const MXAccOperator& op, size_t ndim) {
  const std::optional<AttributeValue> axis = FindAttribute(op, "axis");
  if (axis && axis->kind != AttributeValue::Kind::kInt) Unsupported("an axis that is no integer");
  const int64_t given = axis ? axis->integer : -1;
  const auto axes = static_cast<int64_t>(ndim == 0 ? 1 : ndim);
  if (given < -axes || given >= axes) Unsupported("an axis that is not there");
  std::vector<bool> is_axis(ndim, false);
  if (ndim != 0) is_axis[static_cast<size_t>(given < 0 ? given + axes : given)] = true;
  return is_axis;
}

void CheckTypes(const MXAccOperator& op, const Array& data, const Array& out) {
  CheckFloat(data);
  CheckFloat(out);
  const std::optional<AttributeValue> dtype = FindAttribute(op, "dtype");
  const bool asked = dtype && dtype->kind == AttributeValue::Kind::kText;
  const char* name = SameType(out.dtype, kFloat32)    ? "float32"
                     : out.dtype.code == kMXAccBfloat ? "bfloat16"
                                                      : "float16";
  if (asked ? dtype->text != name : !SameType(data.dtype, out.dtype)) {
    Unsupported("an output of another type than the result's");
  }
}

/*! \brief The data over the temperature, where there is one. */
Array Divided(const MXAccOperator& op, const Array& data, Plan* plan) {
  const std::optional<AttributeValue> given = FindAttribute(op, "temperature");
  if (!given || given->kind == AttributeValue::Kind::kNull) return data;
  const auto temperature = static_cast<float>(NumberOf(*given, "temperature"));
  if (!std::isfinite(temperature) || temperature == 0) {
    Unsupported("a temperature that is 0 or not finite");
  }
  if (temperature == 1) return data;
  const Array divided = plan->Scratch(kFloat32, data.shape);
  const Array divisor = plan->Constant(kFloat32, temperature, data.shape);
  // oneDNN is slow at dividing arrays of two types.
  const bool is_single = SameType(data.dtype, kFloat32);
  if (!is_single) plan->Convert(data, divided);
  AddBinaryPass({algorithm::binary_div, {}}, is_single ? data : divided, divisor, divided, plan);
  return divided;
}

/*! \brief Makes rows (rows, length) with NaN all NaN. */
void AddSpread(bool log, const Array& rows, Plan* plan) {
  Array marks = rows;
  if (log) {
    // Logarithms may be infinite: 0 * 1 / (x == x) is what can be added up.
    marks = plan->Scratch(rows.dtype, rows.shape);
    const Pass mark{algorithm::binary_eq,
                    {{algorithm::eltwise_pow, false, 1, -1}, {algorithm::eltwise_linear, false}}};
    AddBinaryPass(mark, rows, rows, marks, plan);
  }
  const Array sums = plan->Scratch(rows.dtype, {rows.shape[0]});
  AddRowsPass(algorithm::reduction_sum, marks, sums, plan);
  if (!log) AddUnaryPass(algorithm::eltwise_linear, 0, 0, sums, sums, plan);
  const Array column = Broadcast(Shaped(sums, {rows.shape[0], 1}), rows.shape);
  AddBinaryPass({algorithm::binary_add, {}}, rows, column, rows, plan);
}

void AddAlongAxis(bool log, const MXAccOperator& op, Plan* plan) {
  const Array data = TheInput(op);
  const Array out = TheOutput(op);
  CheckTypes(op, data, out);
  if (data.shape != out.shape) {
    throw Failure(kMXAccBadArgument, "the output is not of the shape of the result");
  }
  const std::vector<bool> axis = TheAxis(op, data.shape.size());
  const Array ordered = Ordered(out, axis);
  const int64_t length = ordered.shape.empty() ? 1 : ordered.shape.back();
  const Dims shape{SizeOf(out.shape) / length, length};
  if (!IsDense(ordered)) Unsupported("an output whose elements along the axis are no dense rows");
  if (length < kLongRow && SizeOf(shape) > kManyElements) Unsupported("many short rows");
  const Array from = Shaped(plan->Dense(Divided(op, Ordered(data, axis), plan)), shape);
  const Array to = Shaped(ordered, shape);
  const dnnl::softmax_forward::primitive_desc desc(
      Engine(), dnnl::prop_kind::forward_inference,
      log ? algorithm::softmax_log : algorithm::softmax_accurate, DescOf(from), DescOf(to), 1,
      AttributesWith(), true);
  if (!IsFast(desc)) Unsupported("oneDNN has only its reference code for it on this processor");
  plan->Add(desc, dnnl::softmax_forward(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  AddSpread(log, to, plan);
}

void AddSoftmax(const MXAccOperator& op, Plan* plan) { AddAlongAxis(false, op, plan); }
void AddLogSoftmax(const MXAccOperator& op, Plan* plan) { AddAlongAxis(true, op, plan); }

constexpr Entry kEntries[] = {{"log_softmax", AddLogSoftmax}, {"softmax", AddSoftmax}};

}  // namespace

Family Softmaxes() { return {kEntries, std::size(kEntries), 0, ElementsOf}; }

}  // namespace onednn
