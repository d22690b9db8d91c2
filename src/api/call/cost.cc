/*!
 * \file cost.cc
 * \brief What a call of an operator costs, told without executing it.
 */
#include <mxnet/op/extent.h>

#include "api/call/host_attributes.h"
#include "api/call/parts.h"
#include "api/call/tensor_spec.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Numbers of bytes and operations, which are extents: symbolic where shapes are. */
struct Cost {
  int64_t bytes{0};
  int64_t operations{0};
};

/*! \brief The elements of tensors; what they take is added to the bytes of a cost. */
template <typename Specs>
int64_t AddTensors(const Specs& specs, Cost* cost) {
  int64_t elements = 0;
  for (const auto& [shape, dtype] : specs) {
    const int64_t size = SizeOf(shape);
    elements = AddExtent(elements, size);
    cost->bytes = AddExtent(cost->bytes, MultiplyExtent(size, ItemSize(dtype)));
  }
  return elements;
}

using Shapes = std::vector<std::pair<ShapeView, DLDataType>>;

Cost CostOf(const MXNetArgs& all) {
  // Throws what is wrong with the arguments.
  const std::vector<TensorSpec> outputs = InferSpecs(all);
  const PackedFunc func = all[0].As<PackedFunc>();
  const MXNetFunctionHandle handle = func.get();
  const MXNetOperator& op = *static_cast<const MXNetOperator*>(
      static_cast<const runtime::FunctionObject*>(handle)->info->view().op);
  const HostAttributes given(handle, all.values + 1, all.type_codes + 1, all.size() - 1);
  CallParts<SpecInputs> parts;
  ReadParts(op, given.args(), &parts);
  const CallAttributes attributes(op, given.args());
  const std::vector<MXNetTensorSpec>& inputs =
      parts.inputs.Specs(RuleOf(op, given.args(), parts, attributes));

  Cost cost;
  Shapes read;
  Shapes written;
  for (const MXNetTensorSpec& spec : inputs) {
    if (spec.ndim >= 0) read.emplace_back(ShapeOf(spec), spec.dtype);
  }
  for (const TensorSpec& spec : outputs) {
    written.emplace_back(ShapeView(spec.extents().data(), spec.extents().size()), spec.dtype());
  }
  const int64_t elements_read = AddTensors(read, &cost);
  const int64_t elements_written = AddTensors(written, &cost);
  if (op.operations != nullptr) {
    Check(op.operations(op.self, inputs.data(), static_cast<int>(inputs.size()), attributes.get(),
                        &cost.operations));
  } else if (op.view == nullptr) {
    const bool is_elementwise = (op.properties & kMXNetOpElementwise) != 0;
    cost.operations = is_elementwise || read.empty() ? elements_written : elements_read;
  }
  return cost;
}

MXNET_REGISTER_API("mx.op.cost")
    .describe("The bytes and operations of a call of an operator; mx.op.cost says which count.")
    .add_argument("operator", "ffi.Function", "The operator.")
    .add_variadic("args", "Any", "Its arguments in order.")
    .returns("Sequence[int | str]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const Cost cost = CostOf(args);
      *ret = std::vector<TensorSpec::Extent>{TensorSpec::Written(cost.bytes),
                                             TensorSpec::Written(cost.operations)};
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
