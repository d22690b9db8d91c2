/*!
 * \file adapter.cc
 * \brief Executes calls of operators: arguments to inputs and attributes, infer, outputs, run.
 */
#include <mxnet/op/operator.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/stl.h>

#include <utility>

#include "api/argument/arguments.h"
#include "api/argument/out.h"
#include "api/call/anywhere.h"
#include "api/call/blocks.h"
#include "api/call/host_attributes.h"
#include "api/call/operator_call.h"
#include "api/call/outputs.h"
#include "api/call/parts.h"
#include "api/call/tensor_spec.h"
#include "api/call/type_of_out.h"
#include "api/call/view_call.h"
#include "op/tensor/cast.h"
#include "runtime/core/function.h"
#include "runtime/core/operator.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief A span of a few elements on the stack, of more on the heap; none is initialized. */
template <typename T, int kFew>
class Run {
 public:
  explicit Run(int size) : many_(size > kFew ? new T[static_cast<size_t>(size)] : nullptr) {}
  T* get() { return __builtin_expect(many_ == nullptr, 1) ? few_ : many_.get(); }

 private:
  std::unique_ptr<T[]> many_;
  T few_[kFew];
};

constexpr int kFewTensors = 6;

/*!
 * \brief Where outputs are made: by the argument; in the current context where there is such a
 * parameter and the function does not follow its input; else with the inputs.
 */
Context OutputContext(const MXNetArgs& args, CallParts<CallInputs>* parts) {
  if (parts->context >= 0) return args[parts->context].As<Context>();
  const uint64_t flags = static_cast<const FunctionObject*>(args.func)->info->view().flags;
  const bool follows = !parts->has_context || (flags & kMXNetFuncFollowsInput) != 0;
  Context ctx{kDLCPU, 0};
  if (follows && parts->inputs.FindContext(&ctx)) return ctx;
  return follows && parts->inputs.size() > 0 ? ctx : CurrentContext();
}

NDArray Workspace(const MXNetOperator& op, const MXNetTensorSpec* specs, int num_in,
                  const void* attributes) {
  size_t bytes = 0;
  if (op.workspace != nullptr) {
    Check(op.workspace(op.self, specs, num_in, attributes, &bytes));
  }
  const auto extent = static_cast<int64_t>(bytes);
  if (extent < 0) MXNET_THROW("MemoryError") << "a workspace of " << bytes << " bytes";
  return bytes == 0 ? NDArray() : NDArray::Empty(ShapeView(&extent, 1), kUInt8);
}

void CheckNoOut(const MXNetArgs& args, int out, int count) {
  if (out < 0) return;
  MXNET_THROW("TypeError") << args[out].text() << " has to be None: there are " << count
                           << " outputs";
}

/*! \brief The inputs of a call in the types that the operator wants, and the specs of those. */
struct TypedInputs {
  TypedInputs(const TypeRule& rule, CallInputs* inputs)
      : specs(inputs->size()), tensors(inputs->size()) {
    inputs->Specs(rule, specs.get());
  }
  Run<MXNetTensorSpec, kFewTensors> specs;
  Run<DLTensor, kFewTensors> tensors;
};

/*! \brief Executes the call of an elementwise operator in blocks; the NULL array where not. */
NDArray RunInBlocks(const MXNetOperator& op, const MXNetArgs& args, CallParts<CallInputs>* parts,
                    const void* attributes, TypedInputs* inputs, const MXNetTensorSpec& spec,
                    Context ctx) {
  const int num_in = parts->inputs.size();
  MXNetTensorSpec* const specs = inputs->specs.get();
  DLTensor* const tensors = inputs->tensors.get();
  parts->inputs.TensorsToConvert(specs, tensors);
  const bool makes = parts->out < 0;
  const BlockCall call{op, attributes, specs, tensors, num_in, spec.dtype};
  if (makes && !ConvertsInputs(call)) return NDArray();
  NDArray out = makes ? Output(spec, ctx, false).Finish() : TargetOf(spec, args[parts->out], op);
  return TryInBlocks(call, out.tensor()) ? out : NDArray();
}

void RunOne(const MXNetOperator& op, const MXNetArgs& args, CallParts<CallInputs>* parts,
            const void* attributes, TypedInputs* inputs, const OutputSpecs& specs,
            MXNetRetValue* ret) {
  const int num_in = parts->inputs.size();
  const Context ctx = OutputContext(args, parts);
  if ((op.properties & (kMXNetOpZeros | kMXNetOpAnywhere)) != 0) {
    *ret = Output(specs[0], ctx, (op.properties & kMXNetOpZeros) != 0).Finish();
    return;
  }
  if (__builtin_expect(IsForBlocks(op, specs[0]), 0)) {
    NDArray out = RunInBlocks(op, args, parts, attributes, inputs, specs[0], ctx);
    if (out.defined()) {
      *ret = std::move(out);
      return;
    }
  }
  const NDArray workspace = Workspace(op, inputs->specs.get(), num_in, attributes);
  parts->inputs.Tensors(inputs->specs.get(), inputs->tensors.get());
  const DLTensor* tensors = inputs->tensors.get();
  const bool zeros = (op.properties & kMXNetOpZeroed) != 0;
  Output output = parts->out < 0 ? Output(specs[0], ctx, zeros)
                                 : Output(specs[0], ctx, args[parts->out], op, tensors, num_in);
  DLTensor written = output.tensor();
  Check(op.run(op.self, tensors, num_in, attributes, &written, 1,
               workspace.defined() ? workspace.data() : nullptr));
  *ret = output.Finish();
}

void RunMany(const MXNetOperator& op, const MXNetArgs& args, CallParts<CallInputs>* parts,
             const void* attributes, TypedInputs* inputs, const OutputSpecs& specs,
             MXNetRetValue* ret) {
  CheckNoOut(args, parts->out, specs.size());
  const int num_in = parts->inputs.size();
  const Context ctx = OutputContext(args, parts);
  const NDArray workspace = Workspace(op, inputs->specs.get(), num_in, attributes);
  parts->inputs.Tensors(inputs->specs.get(), inputs->tensors.get());
  std::vector<Output> outputs;
  std::vector<DLTensor> written;
  for (int i = 0; i < specs.size(); ++i) {
    outputs.emplace_back(specs[i], ctx, (op.properties & kMXNetOpZeroed) != 0);
    written.push_back(outputs.back().tensor());
  }
  Check(op.run(op.self, inputs->tensors.get(), num_in, attributes, written.data(), specs.size(),
               workspace.defined() ? workspace.data() : nullptr));
  std::vector<Any> results;
  for (Output& output : outputs) {
    results.push_back(runtime::details::AnyOfObject(output.Finish()));
  }
  *ret = Tuple(std::move(results));
}

bool AreKnown(const OutputSpecs& specs) {
  bool known = true;
  for (int i = 0; i < specs.size(); ++i) known &= IsKnown(ShapeOf(specs[i]));
  return known;
}

void CallInFull(const MXNetOperator& op, const MXNetArgs& args, MXNetRetValue* ret) {
  CallParts<CallInputs> parts;
  ReadParts(op, args, &parts);
  CallAttributes attributes(op, args);
  TypedInputs inputs(RuleOf(op, args, parts, attributes), &parts.inputs);
  const int num_in = parts.inputs.size();
  const auto [count, is_one] = CountOutputs(op, inputs.specs.get(), num_in, attributes.get());
  OutputSpecs specs(op, count, inputs.specs.get(), num_in);
  const bool by_elements = (op.properties & kMXNetOpDataDependent) != 0;
  if (__builtin_expect(!by_elements, 1)) {
    Check(op.infer(op.self, inputs.specs.get(), num_in, attributes.get(), specs.data(),
                   specs.size()));
    if (const auto wider = WiderTypeOfOut(op, args, parts, specs.data())) {
      return CallInFull(op, ArgsWithType(args, parts.dtype, *wider).args(), ret);
    }
  }
  if (__builtin_expect(op.measure != nullptr, 0) && (by_elements || !AreKnown(specs))) {
    parts.inputs.Tensors(inputs.specs.get(), inputs.tensors.get());
    Check(op.measure(op.self, inputs.tensors.get(), num_in, attributes.get(), specs.data(),
                     specs.size()));
  }
  if (__builtin_expect(is_one, 1)) {
    RunOne(op, args, &parts, attributes.get(), &inputs, specs, ret);
  } else {
    RunMany(op, args, &parts, attributes.get(), &inputs, specs, ret);
  }
}

int Call(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
         const int* type_codes, int num_args, MXNetValue* ret, int* ret_type_code) {
  return GuardedCall(func, [&] {
    MXNetRetValue result;
    const MXNetArgs args{values, type_codes, num_args, func};
    if (op->view != nullptr) {
      CallView(*op, args, &result);
    } else {
      CallInFull(*op, args, &result);
    }
    result.MoveTo(ret, ret_type_code);
    return 0;
  });
}

/*! \brief Throws what a call throws of the arrays that it changes; a spec has nothing to change. */
void CheckMutated(const MXNetArgs& args) {
  const auto& params = static_cast<const FunctionObject*>(args.func)->info->body_params();
  for (int i = 0; i < args.size(); ++i) {
    const MXNetParamInfo& param = *params[static_cast<size_t>(i)];
    const bool is_input = param.role == kMXNetRoleArray;
    if (!is_input || (param.flags & kMXNetParamMutated) == 0) continue;
    if (Ref<TensorSpec> spec; args[i].TryAs(&spec) != Match::kOk) WritableTensor(args[i]);
  }
}

/*! \brief Throws what a call throws, of its context, numbers and `out`, once it has inferred. */
void CheckAsInferred(const MXNetOperator& op, const MXNetArgs& args, CallParts<SpecInputs>* parts,
                     MXNetTensorSpec* outputs) {
  if (parts->context >= 0) static_cast<void>(args[parts->context].As<Context>());
  const bool reads_elements = (op.properties & (kMXNetOpZeros | kMXNetOpAnywhere)) == 0;
  if (reads_elements) parts->inputs.CheckNumbers();
  if (parts->out >= 0 && reads_elements) InferOut(args[parts->out], op, outputs);
}

/*! \brief Writes the specs of outputs, if there are no more than there is room for: their number.
 */
int InferInFull(const MXNetOperator& op, const MXNetArgs& args, MXNetTensorSpec* outputs,
                int room) {
  CallParts<SpecInputs> parts;
  ReadParts(op, args, &parts);
  CallAttributes attributes(op, args);
  const std::vector<MXNetTensorSpec>& specs =
      parts.inputs.Specs(RuleOf(op, args, parts, attributes));
  const int num_in = static_cast<int>(specs.size());
  const auto [count, is_one] = CountOutputs(op, specs.data(), num_in, attributes.get());
  if (count > room) return count;
  Check(op.infer(op.self, specs.data(), num_in, attributes.get(), outputs, count));
  if (!is_one) CheckNoOut(args, parts.out, count);
  if (const auto wider = WiderTypeOfOut(op, args, parts, outputs)) {
    return InferInFull(op, ArgsWithType(args, parts.dtype, *wider).args(), outputs, room);
  }
  CheckAsInferred(op, args, &parts, outputs);
  return count;
}

int Infer(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
          const int* type_codes, int num_args, MXNetTensorSpec* outputs, int* num_out) {
  return GuardedCall(func, [&] {
    const HostAttributes given(func, values, type_codes, num_args);
    CheckMutated(given.args());
    *num_out = InferInFull(*op, given.args(), outputs, *num_out);
    return 0;
  });
}

int ReadInts(const MXNetValue* value, int type_code, MXNetFunctionHandle func, int index,
             int64_t* out, int64_t room, int64_t* count, int32_t* single) {
  const auto read = [&] {
    const IntsArgument ints(MXNetArgValue(*value, type_code, func, index));
    *count = static_cast<int64_t>(ints.view().size());
    *single = ints.is_single() ? 1 : 0;
    if (*count <= room) std::copy(ints.view().begin(), ints.view().end(), out);
    return 0;
  };
  return runtime::details::Guarded(read, [](const Error& error) { return error.SetLast(); });
}

const MXNetOperatorAdapter kAdapter{&Call, &Infer, &ReadInts};

/*! \brief Sets the adapter when the library is loaded. */
const struct SetAdapter {
  SetAdapter() { MXNetOperatorSetAdapter(&kAdapter); }
} set_adapter;

}  // namespace
}  // namespace op
}  // namespace mxnet
