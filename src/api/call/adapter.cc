/*!
 * \file adapter.cc
 * \brief Carries out calls of operators: arguments to inputs and attributes, infer, outputs, run.
 */
#include <mxnet/op/operator.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/stl.h>

#include <utility>

#include "api/call/operator_call.h"
#include "api/call/outputs.h"
#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "runtime/core/function.h"
#include "runtime/core/operator.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief A run of a few elements on the stack, of more on the heap; none is initialized. */
template <typename T, int kFew>
class Run {
 public:
  explicit Run(int size) : many_(size > kFew ? new T[static_cast<size_t>(size)] : nullptr) {}
  T* get() { return __builtin_expect(many_ == nullptr, 1) ? few_ : many_.get(); }

 private:
  std::unique_ptr<T[]> many_;
  T few_[kFew];
};

constexpr int kFewTensors = 4;

void Check(int status) {
  if (__builtin_expect(status != 0, 0)) throw Error::FromLast();
}

/*! \brief The arguments of a call by their roles. */
template <typename Inputs>
struct CallParts {
  Inputs inputs;
  int out{-1};
  int context{-1};
  int dtype{-1};
};

template <typename Inputs>
void AddSequence(const MXNetArgs& args, int index, Inputs* inputs) {
  const MXNetArgValue arg = args[index];
  if (arg.type_code() == kMXNetIntTuple || arg.type_code() == kMXNetIntList) {
    const MXNetIntArray& ints = arg.value().v_ints;
    for (size_t i = 0; i < ints.size; ++i) {
      MXNetValue item;
      item.v_int64 = ints.data[i];
      inputs->Add(MXNetArgValue(item, kMXNetInt, args.func, index));
    }
    return;
  }
  MXNetAnyArray items{nullptr, 0};
  if (!ItemsOf(arg.value(), arg.type_code(), &items)) {
    MXNET_THROW("TypeError") << arg.text() << " expected a sequence of arrays, got "
                             << arg.type_name();
  }
  for (size_t i = 0; i < items.size; ++i) {
    inputs->Add(MXNetArgValue(items.data[i].value, items.data[i].type_code, args.func, index));
  }
}

template <typename Inputs>
void ReadParts(const MXNetArgs& args, CallParts<Inputs>* parts) {
  const auto& params = static_cast<const FunctionObject*>(args.func)->info->body_params();
  const int size = static_cast<int>(params.size());
  for (int i = 0; i < size; ++i) {
    switch (params[static_cast<size_t>(i)]->role) {
      case kMXNetRoleArray: {
        const bool is_optional = (params[static_cast<size_t>(i)]->flags & kMXNetParamOptional) != 0;
        if (is_optional && args.type_codes[i] == kMXNetNull) {
          parts->inputs.AddNone();
        } else {
          parts->inputs.Add(args[i]);
        }
        break;
      }
      case kMXNetRoleArrays:
        AddSequence(args, i, &parts->inputs);
        break;
      case kMXNetRoleOut:
        if (args.type_codes[i] != kMXNetNull) parts->out = i;
        break;
      case kMXNetRoleContext:
        if (args.type_codes[i] != kMXNetNull) parts->context = i;
        break;
      case kMXNetRoleDType:
        if (args.type_codes[i] != kMXNetNull) parts->dtype = i;
        break;
      default:
        break;
    }
  }
}

template <typename Inputs>
TypeRule RuleOf(const MXNetOperator& op, const MXNetArgs& args, const CallParts<Inputs>& parts) {
  const bool asks = op.type_rule == kMXNetTypesNumbersByDType && parts.dtype >= 0;
  return {op.type_rule, asks, asks ? DTypeOf(args[parts.dtype]) : DLDataType{}};
}

/*! \brief Where outputs are made: by the argument, else with the inputs, else the current one. */
Context PlaceOf(const MXNetArgs& args, CallParts<CallInputs>* parts) {
  if (parts->context >= 0) return args[parts->context].As<Context>();
  Context ctx{kDLCPU, 0};
  if (parts->inputs.FindContext(&ctx)) return ctx;
  return parts->inputs.size() == 0 ? CurrentContext() : ctx;
}

int CountOutputs(const MXNetOperator& op, const MXNetTensorSpec* specs, int num_in,
                 const void* attributes) {
  int count = op.num_outputs;
  if (count >= 0) return count;
  Check(op.count_outputs(op.self, specs, num_in, attributes, &count));
  if (count < 0)
    MXNET_THROW("RuntimeError") << "the operator says that it has " << count << " outputs";
  return count;
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

/*! \brief The inputs of a call in the types that the operator wants, and the specs of those. */
struct TypedInputs {
  TypedInputs(const TypeRule& rule, CallInputs* inputs)
      : specs(inputs->size()), tensors(inputs->size()) {
    inputs->Specs(rule, specs.get());
  }
  Run<MXNetTensorSpec, kFewTensors> specs;
  Run<DLTensor, kFewTensors> tensors;
};

void RunOne(const MXNetOperator& op, const MXNetArgs& args, CallParts<CallInputs>* parts,
            const void* attributes, TypedInputs* inputs, const OutputSpecs& specs,
            MXNetRetValue* ret) {
  const int num_in = parts->inputs.size();
  const Context ctx = PlaceOf(args, parts);
  if ((op.properties & (kMXNetOpZeros | kMXNetOpAnywhere)) != 0) {
    *ret = Output(specs[0], ctx, (op.properties & kMXNetOpZeros) != 0).Finish();
    return;
  }
  // Before the inputs are converted, with which the shapes of their specs may go.
  const NDArray workspace = Workspace(op, inputs->specs.get(), num_in, attributes);
  parts->inputs.Tensors(inputs->specs.get(), inputs->tensors.get());
  const DLTensor* tensors = inputs->tensors.get();
  Output output = parts->out < 0 ? Output(specs[0], ctx, false)
                                 : Output(specs[0], ctx, args[parts->out], op, tensors, num_in);
  DLTensor written = output.tensor();
  Check(op.run(op.self, tensors, num_in, attributes, &written, 1,
               workspace.defined() ? workspace.data() : nullptr));
  *ret = output.Finish();
}

void RunMany(const MXNetOperator& op, const MXNetArgs& args, CallParts<CallInputs>* parts,
             const void* attributes, TypedInputs* inputs, const OutputSpecs& specs,
             MXNetRetValue* ret) {
  if (parts->out >= 0) {
    MXNET_THROW("TypeError") << args[parts->out].text() << " has to be None: there are "
                             << specs.size() << " outputs";
  }
  const int num_in = parts->inputs.size();
  const Context ctx = PlaceOf(args, parts);
  const NDArray workspace = Workspace(op, inputs->specs.get(), num_in, attributes);
  parts->inputs.Tensors(inputs->specs.get(), inputs->tensors.get());
  std::vector<Output> outputs;
  std::vector<DLTensor> written;
  for (int i = 0; i < specs.size(); ++i) {
    outputs.emplace_back(specs[i], ctx, false);
    written.push_back(outputs.back().tensor());
  }
  Check(op.run(op.self, inputs->tensors.get(), num_in, attributes, written.data(), specs.size(),
               workspace.defined() ? workspace.data() : nullptr));
  std::vector<NDArray> results;
  for (Output& output : outputs) results.push_back(output.Finish());
  *ret = Array<NDArray>(std::move(results));
}

void CallInFull(const MXNetOperator& op, const MXNetArgs& args, MXNetRetValue* ret) {
  CallParts<CallInputs> parts;
  ReadParts(args, &parts);
  CallAttributes attributes(op, args);
  TypedInputs inputs(RuleOf(op, args, parts), &parts.inputs);
  const int num_in = parts.inputs.size();
  OutputSpecs specs(CountOutputs(op, inputs.specs.get(), num_in, attributes.get()));
  Check(
      op.infer(op.self, inputs.specs.get(), num_in, attributes.get(), specs.data(), specs.size()));
  if (__builtin_expect(specs.size() == 1, 1)) {
    RunOne(op, args, &parts, attributes.get(), &inputs, specs, ret);
  } else {
    RunMany(op, args, &parts, attributes.get(), &inputs, specs, ret);
  }
}

/*! \brief Runs body; what it throws is said of the function. */
template <typename Body>
int GuardedCall(MXNetFunctionHandle func, const Body& body) {
  return runtime::details::Guarded(
      body, [func](const Error& error) { return runtime::details::SetLastOf(func, error); });
}

int Call(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
         const int* type_codes, int num_args, MXNetValue* ret, int* ret_type_code) {
  return GuardedCall(func, [&] {
    MXNetRetValue result;
    CallInFull(*op, MXNetArgs{values, type_codes, num_args, func}, &result);
    result.MoveTo(ret, ret_type_code);
    return 0;
  });
}

int Infer(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
          const int* type_codes, int num_args, MXNetTensorSpec* outputs, int* num_out) {
  return GuardedCall(func, [&] {
    const MXNetArgs args{values, type_codes, num_args, func};
    CallParts<SpecInputs> parts;
    ReadParts(args, &parts);
    CallAttributes attributes(*op, args);
    const std::vector<MXNetTensorSpec>& specs = parts.inputs.Specs(RuleOf(*op, args, parts));
    const int num_in = static_cast<int>(specs.size());
    const int count = CountOutputs(*op, specs.data(), num_in, attributes.get());
    if (count <= *num_out) {
      Check(op->infer(op->self, specs.data(), num_in, attributes.get(), outputs, count));
    }
    *num_out = count;
    return 0;
  });
}

int ReadInts(const MXNetValue* value, int type_code, MXNetFunctionHandle func, int index,
             int64_t* out, int32_t* count, int32_t* single) {
  const auto read = [&] {
    const IntsArgument ints(MXNetArgValue(*value, type_code, func, index));
    if (ints.size() > kMaxNdim) {
      MXNET_THROW("ValueError") << MXNetArgValue(*value, type_code, func, index).text() << " has "
                                << ints.size() << " items, at most " << kMaxNdim << " are possible";
    }
    std::copy(ints.view().begin(), ints.view().end(), out);
    *count = ints.size();
    *single = ints.is_single() ? 1 : 0;
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
