#include "onednn/primitive.h"

#include <mxnet/runtime/class.h>

namespace mxnet {
namespace onednn {
namespace {

MaybeLayout LayoutOf(const Desc& desc, DLDataType dtype) {
  if (IsPlain(desc)) return std::nullopt;
  return Ref<Layout>::Make(desc, dtype);
}

}  // namespace

bool IsReference(const std::string& implementation) {
  return implementation.rfind("ref", 0) == 0 || implementation.find(":ref") != std::string::npos;
}

Maker::Maker(std::string name)
    : name_(std::move(name)), scope_(NumThreads()), steps_(std::make_unique<Steps>(NumThreads())) {}

void Maker::Expect(double nanoseconds) {
  // Threads take longer to begin and to end together.
  constexpr double kFew = 10000;
  if (nanoseconds >= kFew || one_thread_) return;
  one_thread_.emplace(1);
  steps_->UseOneThread();
}

Argument Maker::Bind(int name, const Operand& operand, const Desc& lies, const Desc& desc) {
  if (operand.is_constant()) {
    return {name, desc, steps_->Constant(operand.constant, lies, desc)};
  }
  // As it is offered, where that is what the primitive reads, seen in whichever shape.
  const Desc wanted = desc == lies ? operand.Offered() : desc.reshape(operand.shape);
  inputs_.push_back(LayoutOf(wanted, operand.dtype));
  kernel_inputs_.push_back({operand.dtype, operand.shape, inputs_.back().has_value()});
  return {name, desc, {Location::Kind::kInput, inputs_.size() - 1}};
}

Argument Maker::Output(int name, const Desc& desc, DLDataType dtype, Dims shape) {
  outputs_.push_back(LayoutOf(desc, dtype));
  op::KernelOutput output;
  output.dtype = dtype;
  output.shape = std::move(shape);
  if (outputs_.back()) output.bytes = desc.get_size();
  kernel_outputs_.push_back(std::move(output));
  return {name, desc, {Location::Kind::kOutput, outputs_.size() - 1}};
}

void Maker::Add(const dnnl::primitive_desc_base& desc, std::vector<Argument> arguments) {
  if (implementation_.empty()) implementation_ = desc.impl_info_str();
  steps_->Add(desc, std::move(arguments));
}

void Maker::AllowInPlace(const Argument& input, const Argument& output) {
  if (input.location.kind != Location::Kind::kInput || input.desc != output.desc) return;
  kernel_outputs_[output.location.index].in_place = static_cast<int>(input.location.index);
}

Ref<Primitive> Maker::Finish() {
  const size_t workspace = steps_->workspace_bytes();
  const bool is_reference = !trusts_reference_ && IsReference(implementation_);
  steps_->Expect(static_cast<int>(inputs_.size()), static_cast<int>(outputs_.size()));
  Ref<op::Kernel> kernel =
      op::MakeKernel("onednn." + name_ + " " + implementation_, std::move(kernel_inputs_),
                     std::move(kernel_outputs_), std::move(steps_), workspace);
  return Ref<Primitive>::Make(Primitive{std::move(kernel), std::move(inputs_), std::move(outputs_),
                                        implementation_, is_reference});
}

namespace {

MXNET_REGISTER_CLASS(Primitive, "mx.onednn.Primitive")
    .describe("A kernel of oneDNN, with the layouts that it reads and writes.")
    .def_readonly("kernel", &Primitive::kernel, "What a plan runs.")
    .def_readonly("inputs", &Primitive::inputs,
                  "The layout that each input has to be brought to; None for row-major.")
    .def_readonly("outputs", &Primitive::outputs, "The layout of each output.")
    .def_property(
        "output", [](const Primitive& self) { return self.outputs.at(0); },
        "The layout of the first output; None for row-major.")
    .def_readonly("implementation", &Primitive::implementation, "As oneDNN calls it.")
    .def_readonly("is_reference", &Primitive::is_reference,
                  "Whether it is slow, as oneDNN has but code for reference.");

}  // namespace
}  // namespace onednn
}  // namespace mxnet
