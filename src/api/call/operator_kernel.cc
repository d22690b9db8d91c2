/*!
 * \file operator_kernel.cc
 * \brief Operators as kernels, for plans: arguments are read, and outputs inferred, once.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/stl.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/call/outputs.h"
#include "api/call/parts.h"
#include "api/call/tensor_spec.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The inputs of a kernel: specs of what comes with each run, and arrays and numbers. */
class KernelInputs {
 public:
  void Add(const MXNetArgValue& arg, ArrayUse use = ArrayUse::kOperand) {
    Ref<TensorSpec> spec;
    const bool comes = arg.TryAs(&spec) == Match::kOk;
    specs_.Add(arg, use);
    items_.push_back({comes ? next_++ : kConstant, std::make_optional<MXNetArgValue>(arg), use});
  }
  [[noreturn]] void AddRows(const MXNetArgValue& arg) {
    MXNET_THROW("TypeError") << arg.text() << ": expected a sequence of arrays";
  }
  void AddNone() {
    specs_.AddNone();
    items_.push_back({kNone, std::nullopt, ArrayUse::kOperand});
  }

  /*! \brief The specs by rule. TypeError where one that comes with a run has to be converted. */
  const std::vector<MXNetTensorSpec>& Specs(const TypeRule& rule) {
    const std::vector<MXNetTensorSpec>& specs = specs_.Specs(rule);
    for (size_t i = 0; i < specs.size(); ++i) {
      if (items_[i].source < 0 || specs[i].dtype == specs[i].given) continue;
      MXNET_THROW("TypeError") << items_[i].arg->text() << ": a kernel does not convert "
                               << DataTypeName(specs[i].given) << " to "
                               << DataTypeName(specs[i].dtype);
    }
    return specs;
  }

  /*! \brief Which input of a run each is, kNone for one that is not given, or kConstant. */
  std::vector<int> Sources() const {
    std::vector<int> sources;
    for (const Item& item : items_) sources.push_back(item.source);
    return sources;
  }
  /*! \brief The arrays and numbers, of the types of their specs, in order. */
  std::vector<NDArray> Constants(const std::vector<MXNetTensorSpec>& specs) const {
    std::vector<NDArray> constants;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].source != kConstant) continue;
      Operand operand(*items_[i].arg, items_[i].use);
      if (operand.is_array()) {
        constants.push_back(Contiguous(operand.TensorAs(specs[i].dtype)));
      } else {
        constants.push_back(NDArray::Empty(ShapeView(), specs[i].dtype));
        operand.StoreScalar(specs[i].dtype, constants.back().data());
      }
    }
    return constants;
  }

  static constexpr int kConstant = -1;
  static constexpr int kNone = -2;

 private:
  struct Item {
    int source;
    std::optional<MXNetArgValue> arg;
    ArrayUse use;
  };

  SpecInputs specs_;
  std::vector<Item> items_;
  int next_{0};
};

/*! \brief An operator with its attributes, and constants among its inputs. */
struct OperatorKernel {
  PackedFunc function; /*!< keeps the operator */
  const MXNetOperator* op;
  std::unique_ptr<CallAttributes> attributes;
  std::vector<int> sources;
  std::vector<NDArray> constants;
  bool is_plain; /*!< all inputs come with the run, in order */

  void Run(const DLTensor* in, int num_in, DLTensor* out, int num_out, void* workspace) const {
    if ((op->properties & (kMXNetOpZeros | kMXNetOpZeroed)) != 0) {
      for (int i = 0; i < num_out; ++i) SetZero(out[i]);
    }
    if ((op->properties & kMXNetOpZeros) != 0) return;
    if (is_plain) {
      Check(op->run(op->self, in, num_in, attributes->get(), out, num_out, workspace));
      return;
    }
    constexpr size_t kFew = 16;
    DLTensor few[kFew];
    std::vector<DLTensor> many;
    if (sources.size() > kFew) many.resize(sources.size());
    DLTensor* inputs = sources.size() > kFew ? many.data() : few;
    size_t constant = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] >= 0) {
        inputs[i] = in[sources[i]];
      } else if (sources[i] == KernelInputs::kConstant) {
        inputs[i] = constants[constant++].tensor();
      } else {
        inputs[i] = DLTensor{};
        inputs[i].ndim = -1;
      }
    }
    Check(op->run(op->self, inputs, static_cast<int>(sources.size()), attributes->get(), out,
                  num_out, workspace));
  }

 private:
  static void SetZero(const DLTensor& out) {
    const auto bytes = static_cast<size_t>(TensorSize(out) * ItemSize(out.dtype));
    if (bytes != 0) std::memset(runtime::TensorData(out), 0, bytes);
  }
};

const MXNetOperator& OperatorOf(const PackedFunc& function) {
  const MXNetFuncInfo* info = nullptr;
  MXNET_CHECK_CALL(MXNetFuncGetInfo(function.get(), &info));
  if (info->op != nullptr) return *static_cast<const MXNetOperator*>(info->op);
  MXNET_THROW("NotImplementedError")
      << (info->name == nullptr ? "a function" : info->name) << " is no operator";
}

/*! \brief The arguments behind the first `skipped`, which are those of a function. */
MXNetArgs ArgsOf(const PackedFunc& function, const MXNetArgs& args, int skipped) {
  MXNetFunctionHandle handle = function.get();
  const auto* object = static_cast<const runtime::FunctionObject*>(handle);
  const auto expected = static_cast<int>(object->info->body_params().size());
  if (args.num_args - skipped != expected) {
    MXNET_THROW("TypeError") << "the operator takes " << expected << " arguments, got "
                             << args.num_args - skipped;
  }
  return {args.values + skipped, args.type_codes + skipped, expected, handle};
}

/*! \brief The input that the only output may lie in: one of its spec. */
int InPlaceInput(const MXNetOperator& op, const std::vector<MXNetTensorSpec>& inputs,
                 const std::vector<int>& sources, const OutputSpecs& outputs) {
  if ((op.properties & kMXNetOpInPlace) == 0 || outputs.size() != 1) return -1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_same = inputs[i].dtype == outputs[0].dtype && inputs[i].ndim == outputs[0].ndim &&
                         ShapeOf(inputs[i]) == ShapeOf(outputs[0]);
    if (sources[i] >= 0 && is_same) return sources[i];
  }
  return -1;
}

Ref<Kernel> MakeOperatorKernel(const PackedFunc& function, const MXNetArgs& args) {
  const MXNetOperator& op = OperatorOf(function);
  if (op.measure != nullptr && (op.properties & kMXNetOpDataDependent) != 0) {
    MXNET_THROW("NotImplementedError") << "outputs whose shape depends on elements";
  }
  CallParts<KernelInputs> parts;
  ReadParts(op, args, &parts);
  auto attributes = std::make_unique<CallAttributes>(op, args);
  const std::vector<MXNetTensorSpec>& specs =
      parts.inputs.Specs(RuleOf(op, args, parts, *attributes));
  const auto num_in = static_cast<int>(specs.size());
  const OutputCount count = CountOutputs(op, specs.data(), num_in, attributes->get());
  OutputSpecs inferred(op, count.count, specs.data(), num_in);
  Check(op.infer(op.self, specs.data(), num_in, attributes->get(), inferred.data(), count.count));
  if (op.run == nullptr && (op.properties & kMXNetOpZeros) == 0) {
    MXNET_THROW("NotImplementedError") << "an operator that gives views only";
  }
  size_t workspace = 0;
  if (op.workspace != nullptr) {
    Check(op.workspace(op.self, specs.data(), num_in, attributes->get(), &workspace));
  }
  std::vector<int> sources = parts.inputs.Sources();
  const int in_place = InPlaceInput(op, specs, sources, inferred);
  std::vector<KernelInput> inputs;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (sources[i] < 0) continue;
    inputs.push_back({specs[i].given, {specs[i].shape, specs[i].shape + specs[i].ndim}, true});
  }
  std::vector<KernelOutput> outputs;
  for (int i = 0; i < inferred.size(); ++i) {
    const MXNetTensorSpec& spec = inferred[i];
    if (!IsKnown(ShapeOf(spec))) {
      MXNET_THROW("NotImplementedError") << "outputs whose shape depends on elements";
    }
    outputs.push_back({spec.dtype, {spec.shape, spec.shape + spec.ndim}, 0, in_place});
  }
  bool is_plain = true;
  for (size_t i = 0; i < sources.size(); ++i) is_plain &= sources[i] == static_cast<int>(i);
  std::unique_ptr<OperatorKernel> state(
      new OperatorKernel{function, &op, std::move(attributes), std::move(sources),
                         parts.inputs.Constants(specs), is_plain});
  const MXNetFuncInfo* info = nullptr;
  MXNET_CHECK_CALL(MXNetFuncGetInfo(function.get(), &info));
  return MakeKernel(info->name, std::move(inputs), std::move(outputs), std::move(state), workspace);
}

/*! \brief The layout of a view: shape, strides in elements, bytes from the first element. */
using Layout = std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>;

/*! \brief The layouts that an operator shows of an input; none where it has to copy. */
std::vector<Layout> ViewLayouts(const PackedFunc& function, const std::vector<int64_t>& strides,
                                const MXNetArgs& args) {
  const MXNetOperator& op = OperatorOf(function);
  if (op.view == nullptr) return {};
  const auto input = args[0].As<Ref<TensorSpec>>();
  const std::vector<int64_t>& shape = input->extents();
  if (strides.size() != shape.size() || !IsKnown({shape.data(), shape.size()})) {
    MXNET_THROW("ValueError") << args[0].text() << " needs a known shape of " << strides.size()
                              << " extents, as many as there are strides";
  }
  CallAttributes attributes(op, args);
  const auto ndim = static_cast<int32_t>(shape.size());
  const MXNetTensorSpec spec{input->dtype(), input->dtype(), ndim, kMXNetWeakNone,
                             const_cast<int64_t*>(shape.data())};
  const OutputCount count = CountOutputs(op, &spec, 1, attributes.get());
  OutputSpecs specs(op, count.count, &spec, 1);
  Check(op.infer(op.self, &spec, 1, attributes.get(), specs.data(), count.count));
  // What an address would be is never looked at.
  const DLTensor tensor{nullptr,    Context{kDLCPU, 0}, ndim,
                        spec.dtype, spec.shape,         const_cast<int64_t*>(strides.data()),
                        0};
  std::vector<std::vector<int64_t>> rooms;
  std::vector<DLTensor> outs;
  for (int i = 0; i < specs.size(); ++i) {
    rooms.emplace_back(static_cast<size_t>(specs[i].ndim));
    outs.push_back({nullptr, tensor.device, specs[i].ndim, specs[i].dtype, specs[i].shape,
                    rooms.back().data(), 0});
  }
  int kind = kMXNetViewNone;
  Check(op.view(op.self, &tensor, attributes.get(), outs.data(), specs.size(), &kind));
  if (kind == kMXNetViewInput) return {{shape, strides, 0}};
  std::vector<Layout> layouts;
  for (size_t i = 0; kind == kMXNetViewMade && i < outs.size(); ++i) {
    const MXNetTensorSpec& of = specs[static_cast<int>(i)];
    layouts.emplace_back(std::vector<int64_t>(of.shape, of.shape + of.ndim), rooms[i],
                         static_cast<int64_t>(outs[i].byte_offset));
  }
  return layouts;
}

MXNET_REGISTER_API("mx.graph.operator_kernel")
    .describe(
        "An operator as a kernel. Of its inputs, those that are specs come with each run, in "
        "order; arrays and numbers are constants.")
    .add_argument("operator", "ffi.Function", "The operator.")
    .add_variadic("args", "Any", "All arguments of its body, in order.")
    .returns("mx.graph.Kernel")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto function = args[0].As<PackedFunc>();
      *ret = MakeOperatorKernel(function, ArgsOf(function, args, 1));
    });

MXNET_REGISTER_API("mx.graph.view_layouts")
    .describe(
        "What an operator shows of its first argument, without a copy: for each output its shape, "
        "strides in elements, and the bytes from the first element to its own. Empty where the "
        "operator gives no views, or none of such strides.")
    .add_argument("operator", "ffi.Function", "The operator.")
    .add_argument("strides", "Sequence[int]", "Those of the first argument, in elements.")
    .add_variadic("args", "Any", "All arguments of its body, in order; the first one is a spec.")
    .returns("Sequence[tuple[Sequence[int], Sequence[int], int]]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto function = args[0].As<PackedFunc>();
      *ret = ViewLayouts(function, args[1].As<std::vector<int64_t>>(), ArgsOf(function, args, 2));
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
