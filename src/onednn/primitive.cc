#include "onednn/primitive.h"

namespace mxnet {
namespace onednn {
namespace {

MaybeLayout LayoutOf(const Desc& desc, DLDataType dtype) {
  if (IsPlain(desc)) return std::nullopt;
  return Layout(desc, dtype);
}

}  // namespace

bool IsReference(const std::string& implementation) {
  return implementation.rfind("ref", 0) == 0 || implementation.find(":ref") != std::string::npos;
}

Maker::Maker(const std::string& name) : scope_(NumThreads()) {
  made_.name = "onednn." + name;
  made_.steps = std::make_unique<Steps>(NumThreads());
}

void Maker::Expect(double nanoseconds) {
  // Threads take longer to begin and to end together.
  constexpr double kFew = 10000;
  if (nanoseconds >= kFew || one_thread_) return;
  one_thread_.emplace(1);
  made_.steps->UseOneThread();
}

Argument Maker::Bind(int name, const Operand& operand, const Desc& lies, const Desc& desc) {
  if (operand.is_constant()) {
    const Constant& constant = *operand.constant;
    return {name, desc,
            constant.weight != nullptr ? made_.steps->Constant(constant.weight->Packed(lies, desc))
                                       : made_.steps->Constant(constant.data, lies, desc)};
  }
  // As it is offered, where that is what the primitive reads, seen in whichever shape.
  const Desc wanted = desc == lies ? operand.Offered() : desc.reshape(operand.shape);
  made_.input_layouts.push_back(LayoutOf(wanted, operand.dtype));
  const bool any_layout = made_.input_layouts.back().has_value();
  const size_t bytes = any_layout ? wanted.get_size() : 0;
  made_.inputs.push_back({operand.dtype, operand.GivenShape(), any_layout, bytes});
  return {name, desc, {Location::Kind::kInput, made_.inputs.size() - 1}};
}

Argument Maker::BindPacked(int name, const Operand& operand, const Desc& lies, const Desc& desc) {
  if (operand.is_constant()) return Bind(name, operand, lies, desc);
  return Brought(Bind(name, operand, lies, lies), desc);
}

Argument Maker::Brought(const Argument& from, const Desc& desc) {
  if (from.desc == desc) return from;
  Argument to = Temporary(from.name, desc);
  Copy(from, to);
  return to;
}

void Maker::Copy(const Argument& from, const Argument& to) {
  const dnnl::reorder::primitive_desc desc(Engine(), from.desc, Engine(), to.desc,
                                           AttributesWith());
  // Not by Add: what a Primitive is called says what it computes.
  made_.steps->Add(
      desc, {{DNNL_ARG_FROM, from.desc, from.location}, {DNNL_ARG_TO, to.desc, to.location}});
}

Argument Maker::Output(int name, const Desc& desc, DLDataType dtype, Dims shape) {
  made_.output_layouts.push_back(LayoutOf(desc, dtype));
  op::KernelOutput output;
  output.dtype = dtype;
  output.shape = std::move(shape);
  if (made_.output_layouts.back()) output.bytes = desc.get_size();
  made_.outputs.push_back(std::move(output));
  return {name, desc, {Location::Kind::kOutput, made_.outputs.size() - 1}};
}

void Maker::Add(const dnnl::primitive_desc_base& desc, std::vector<Argument> arguments) {
  if (made_.implementation.empty()) made_.implementation = desc.impl_info_str();
  made_.steps->Add(desc, std::move(arguments));
}

void Maker::AllowInPlace(const Argument& input, const Argument& output) {
  if (input.location.kind != Location::Kind::kInput || input.desc != output.desc) return;
  made_.outputs[output.location.index].in_place = static_cast<int>(input.location.index);
}

Primitive Maker::Finish() {
  made_.name += " " + made_.implementation;
  made_.is_reference = !trusts_reference_ && IsReference(made_.implementation);
  made_.steps->Expect(static_cast<int>(made_.inputs.size()),
                      static_cast<int>(made_.outputs.size()));
  return std::move(made_);
}

}  // namespace onednn
}  // namespace mxnet
