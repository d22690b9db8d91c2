/*!
 * \file view_call.cc
 * \brief Calls of operators that give views.
 */
#include "api/call/view_call.h"

#include <mxnet/op/operator.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/signals.h>

#include <utility>
#include <vector>

#include "api/argument/operand.h"
#include "api/call/operator_call.h"
#include "api/call/outputs.h"
#include "op/tensor/strided.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief What a view, its description and its Python object take. */
constexpr int64_t kBytesOfView = 512;

/*! \brief What shows the elements of an input from its first one on, before view has said how. */
DLTensor OverInput(const DLTensor& input, const MXNetTensorSpec& spec, int64_t* strides) {
  return {input.data, input.device, spec.ndim, spec.dtype, spec.shape, strides, 0};
}

NDArray ViewOf(const NDArray& array, const DLTensor& out, uint64_t properties) {
  // An array without elements may have no memory, whose address cannot be added to.
  char* data = static_cast<char*>(out.data);
  if (out.byte_offset != 0) data += static_cast<int64_t>(out.byte_offset);
  const auto ndim = static_cast<size_t>(out.ndim);
  NDArray view = array.View(data, {out.shape, ndim}, {out.strides, ndim}, out.dtype);
  return (properties & kMXNetOpReadOnly) != 0 ? AsReadOnly(std::move(view)) : view;
}

/*! \brief An output that has elements of its own. */
NDArray Copy(const MXNetOperator& op, const DLTensor& input, const void* attributes,
             const MXNetTensorSpec& spec) {
  const bool zeros = (op.properties & kMXNetOpZeros) != 0;
  if (!zeros) CheckHost(input);
  if (!zeros && op.run == nullptr) {
    MXNET_THROW("RuntimeError") << "its view declines, and it has no run";
  }
  const bool zeroed = zeros || (op.properties & kMXNetOpZeroed) != 0;
  NDArray copy = Output(spec, input.device, zeroed).Finish();
  if (!zeros) {
    DLTensor out = copy.tensor();
    Check(op.run(op.self, &input, 1, attributes, &out, 1, nullptr));
  }
  return (op.properties & kMXNetOpReadOnlyCopy) != 0 ? AsReadOnly(std::move(copy)) : copy;
}

NDArray ViewOne(const MXNetOperator& op, const NDArray& array, const void* attributes,
                const MXNetTensorSpec& spec) {
  const DLTensor& input = array.tensor();
  DimBuffer strides;
  DLTensor out = OverInput(input, spec, strides.data);
  int kind = kMXNetViewNone;
  Check(op.view(op.self, &input, attributes, &out, 1, &kind));
  if (kind == kMXNetViewInput) return array;
  if (kind == kMXNetViewMade) return ViewOf(array, out, op.properties);
  return Copy(op, input, attributes, spec);
}

Tuple ViewMany(const MXNetOperator& op, const NDArray& array, const void* attributes,
               const OutputSpecs& specs) {
  const DLTensor& input = array.tensor();
  const auto count = static_cast<size_t>(specs.size());
  const auto ndim = static_cast<size_t>(input.ndim);
  std::vector<int64_t> strides(count * ndim);
  std::vector<DLTensor> outs;
  outs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    outs.push_back(OverInput(input, specs[static_cast<int>(i)], strides.data() + i * ndim));
  }
  int kind = kMXNetViewNone;
  Check(op.view(op.self, &input, attributes, outs.data(), specs.size(), &kind));
  if (kind != kMXNetViewMade) {
    MXNET_THROW("RuntimeError") << "an operator with several outputs makes views of all";
  }
  std::vector<Any> views;
  for (const DLTensor& out : outs) {
    if (views.size() % kSignalInterval == 0) CheckSignals();
    views.push_back(runtime::details::AnyOfObject(ViewOf(array, out, op.properties)));
  }
  return Tuple(std::move(views));
}

}  // namespace

void CallView(const MXNetOperator& op, const MXNetArgs& args, MXNetRetValue* ret) {
  const NDArray array = ToArray(args[0]);
  const CallAttributes attributes(op, args);
  const DLTensor& input = array.tensor();
  const MXNetTensorSpec spec{input.dtype, input.dtype, input.ndim, kMXNetWeakNone, input.shape};
  const auto [count, is_one] = CountOutputs(op, &spec, 1, attributes.get());
  CheckRoomFor(count, kBytesOfView);
  OutputSpecs specs(op, count, &spec, 1);
  Check(op.infer(op.self, &spec, 1, attributes.get(), specs.data(), count));
  if (!is_one) {
    *ret = ViewMany(op, array, attributes.get(), specs);
    return;
  }
  *ret = ViewOne(op, array, attributes.get(), specs[0]);
}

}  // namespace op
}  // namespace mxnet
