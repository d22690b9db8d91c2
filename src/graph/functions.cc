/*!
 * \file functions.cc
 * \brief Plans and kernels as Python has them.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/plan.h"
#include "graph/plan_builder.h"
#include "op/parallel/parallel.h"
#include "op/tensor/cast.h"

MXNET_DECLARE_CLASS(mxnet::graph::Plan, "mx.graph.CompiledPlan");
MXNET_DECLARE_CLASS(mxnet::graph::PlanBuilder, "mx.graph.PlanBuilder");

namespace mxnet {
namespace graph {
namespace {

using op::KernelOutput;
using runtime::Any;
using runtime::PackedFunc;
using runtime::Tuple;

using Shapes = std::vector<std::vector<int64_t>>;

Shapes ShapesOf(const Kernel& kernel) {
  Shapes shapes;
  for (const KernelOutput& output : kernel.outputs()) shapes.push_back(output.shape);
  return shapes;
}

std::vector<DLDataType> TypesOf(const Kernel& kernel) {
  std::vector<DLDataType> types;
  for (const KernelOutput& output : kernel.outputs()) types.push_back(output.dtype);
  return types;
}

/*! \brief A kernel that calls a function with copies of its inputs. */
struct FunctionKernel {
  PackedFunc function;

  void Run(const DLTensor* in, int num_in, DLTensor* out, int num_out, void*) const {
    std::vector<NDArray> owned;
    std::vector<MXNetValue> values(static_cast<size_t>(num_in));
    std::vector<int> type_codes(static_cast<size_t>(num_in), kMXNetNull);
    for (int i = 0; i < num_in; ++i) {
      const auto at = static_cast<size_t>(i);
      values[at].v_handle = nullptr;
      if (in[i].ndim < 0) continue;
      owned.push_back(op::Contiguous(in[i]));
      values[at].v_handle = owned.back().get();
      type_codes[at] = kMXNetNDArrayHandle;
    }
    const Any result = function.CallPacked(values.data(), type_codes.data(), num_in).any();
    const auto results = result.As<std::vector<NDArray>>();
    if (static_cast<int>(results.size()) != num_out) {
      MXNET_THROW("RuntimeError") << "it gave " << results.size() << " arrays, expected "
                                  << num_out;
    }
    for (int i = 0; i < num_out; ++i) {
      const NDArray& array = results[static_cast<size_t>(i)];
      if (array.dtype() != out[i].dtype || array.shape() != runtime::TensorShape(out[i])) {
        MXNET_THROW("RuntimeError")
            << "output " << i << " is " << DataTypeName(array.dtype()) << array.shape().str()
            << ", expected " << DataTypeName(out[i].dtype) << runtime::TensorShape(out[i]).str();
      }
      op::CopyCast(array.tensor(), out[i]);
    }
  }
};

Ref<Kernel> MakeFunctionKernel(std::string name, PackedFunc function,
                               const std::vector<std::vector<int64_t>>& shapes,
                               const std::vector<DLDataType>& dtypes) {
  if (shapes.size() != dtypes.size()) {
    MXNET_THROW("ValueError") << shapes.size() << " shapes and " << dtypes.size() << " types";
  }
  std::vector<KernelOutput> outputs;
  for (size_t i = 0; i < shapes.size(); ++i) outputs.push_back({dtypes[i], shapes[i]});
  return op::MakeKernel(std::move(name), std::nullopt, std::move(outputs),
                        std::unique_ptr<FunctionKernel>(new FunctionKernel{std::move(function)}));
}

/*! \brief What a kernel gives for arrays, None for inputs that are not given. */
std::vector<NDArray> RunKernel(const Ref<Kernel>& kernel,
                               const std::vector<std::optional<NDArray>>& inputs) {
  PlanBuilder builder;
  std::vector<int64_t> values;
  std::vector<NDArray> given;
  for (const std::optional<NDArray>& input : inputs) {
    if (!input) {
      values.push_back(-1);
      continue;
    }
    given.push_back(*input);
    values.push_back(
        builder.AddInput({input->shape().begin(), input->shape().end()}, input->dtype()));
  }
  std::vector<int64_t> outputs;
  const int64_t first = builder.AddStep(kernel, values, kernel->name());
  for (size_t i = 0; i < kernel->outputs().size(); ++i) {
    outputs.push_back(first + static_cast<int64_t>(i));
  }
  return builder.Build(outputs)->Run(given);
}

/*! \brief Steps as (name, implementation, shapes of inputs and outputs). */
using StepInfo = std::tuple<std::string, std::string, Shapes, Shapes, int64_t>;

std::vector<StepInfo> Steps(const Plan& plan) {
  const PlanParts& parts = plan.parts();
  const auto shapes = [&](const std::vector<int>& tensors) {
    Shapes found;
    for (int tensor : tensors) {
      if (tensor >= 0) found.push_back(parts.tensors[static_cast<size_t>(tensor)].shape);
    }
    return found;
  };
  std::vector<StepInfo> steps;
  for (const PlanStep& step : parts.steps) {
    steps.emplace_back(step.name, step.kernel->name(), shapes(step.inputs), shapes(step.outputs),
                       step.kernel->workspace_bytes());
  }
  return steps;
}

Tuple RunAsTuple(const Plan& plan, const std::vector<NDArray>& inputs) {
  std::vector<Any> outputs;
  outputs.reserve(plan.parts().outputs.size());
  for (NDArray& output : plan.Run(inputs)) {
    outputs.push_back(runtime::details::ToAny(std::move(output)));
  }
  return Tuple(std::move(outputs));
}

std::optional<Tuple> TryRun(const Plan& plan, const std::vector<NDArray>& inputs) {
  if (!plan.Takes(inputs)) return std::nullopt;
  return RunAsTuple(plan, inputs);
}

int64_t ConstantBytes(const Plan& plan) {
  std::map<const void*, size_t> found;
  const auto add = [&](const void* data, size_t bytes) {
    found[data] = std::max(found[data], bytes);
  };
  for (const NDArray& array : plan.parts().constants) {
    add(runtime::TensorData(array.tensor()),
        static_cast<size_t>(array.size() * runtime::ItemSize(array.dtype())));
  }
  for (const PlanStep& step : plan.parts().steps) {
    for (const op::KernelConstant& one : step.kernel->constants()) add(one.data, one.bytes);
  }
  size_t bytes = 0;
  for (const auto& one : found) bytes += one.second;
  return static_cast<int64_t>(bytes);
}

/*! \brief Memory as (bytes, first step, last step, offset, whether it is workspace). */
using BlockInfo = std::tuple<int64_t, int64_t, int64_t, int64_t, bool>;

std::vector<BlockInfo> Blocks(const Plan& plan) {
  std::vector<BlockInfo> blocks;
  for (const PlanBlock& block : plan.parts().blocks) {
    blocks.emplace_back(static_cast<int64_t>(block.bytes), block.first, block.last,
                        static_cast<int64_t>(block.offset), block.is_workspace);
  }
  return blocks;
}

MXNET_REGISTER_CLASS(Kernel, "mx.graph.Kernel")
    .describe("Work on tensors of fixed shapes and types: a step of a plan.")
    .def_property("name", &Kernel::name, "The implementation, as profiles call it.")
    .def_property("workspace_bytes", &Kernel::workspace_bytes,
                  "Bytes of memory that it needs while it runs.")
    .def_property("shapes", &ShapesOf, "The shapes of its outputs.")
    .def_property("dtypes", &TypesOf, "The element types of its outputs.")
    .def("run", &RunKernel, "Runs it alone; outputs are new arrays.")
    .arg("inputs", "Arrays, row-major, and None for inputs that are not given.");

MXNET_REGISTER_CLASS(Plan, "mx.graph.CompiledPlan")
    .describe("Kernels in order, and where in memory each reads and writes.")
    .def("run", &Plan::Run, "The outputs for these inputs, as new arrays.")
    .arg("inputs", "Arrays of the shapes and types that the plan was made for.")
    .release_gil()
    .def("run_as_tuple", &RunAsTuple,
         "The same as a tuple, of which `returning` says what class the arrays have.")
    .arg("inputs", "Arrays of the shapes and types that the plan was made for.")
    .release_gil()
    .def("try_run", &TryRun,
         "The outputs as a tuple; None for other inputs than the plan was made for.")
    .arg("inputs", "Arrays.")
    .release_gil()
    .def(
        "run_one",
        [](const Plan& plan, const std::vector<NDArray>& inputs) {
          return std::move(plan.Run(inputs).at(0));
        },
        "The first output.")
    .arg("inputs", "Arrays of the shapes and types that the plan was made for.")
    .release_gil()
    .def(
        "profile",
        [](const Plan& plan, const std::vector<NDArray>& inputs) {
          std::vector<int64_t> times;
          std::vector<NDArray> outputs = plan.Profile(inputs, &times);
          return std::make_tuple(std::move(outputs), std::move(times));
        },
        "The outputs, and the nanoseconds that each step took.")
    .arg("inputs", "Arrays of the shapes and types that the plan was made for.")
    .release_gil()
    .def("keep_outputs", &Plan::KeepOutputs,
         "Has runs write all outputs, not large ones alone, to those of an earlier run that nobody "
         "has any more.")
    .def("run_beside_openmp", &Plan::RunBesideOpenMP,
         "Has long runs take the threads of the OpenMP of the library that calls them, where these "
         "are awake, see mx.use_openmp.")
    .def(
        "share_memory",
        [](Plan& plan, const Ref<Plan>& forward,
           const std::vector<std::pair<int64_t, int64_t>>& saved) {
          plan.ShareMemory(forward.get(), saved);
        },
        "Has this backward plan write gradients where the values lie that a forward plan has saved "
        "for it and that are not needed any more.")
    .arg("forward", "The forward plan. Both keep their outputs.")
    .arg("saved", "Pairs of an output of it and an input of this plan.")
    .def("run_last", &Plan::RunLast,
         "As run; inputs that are saved values may be written to, as nobody reads them any more.")
    .arg("inputs", "Arrays of the shapes and types that the plan was made for.")
    .release_gil()
    .def_property("steps", &Steps,
                  "The steps, each with its name, implementation, the shapes of what it reads and "
                  "writes, and the bytes of its workspace.")
    .def_property(
        "blocks", &Blocks,
        "What the memory of a run is for: for each block its bytes, the first and the "
        "last step that need it, its offset, and whether it is the workspace of a kernel.")
    .def_property(
        "slices", [](const Plan& plan) { return plan.parts().slices; },
        "How often the steps are run, each time for a part of the first axis of inputs and "
        "outputs: the shapes of steps are those of one.")
    .def_property("arena_bytes", &Plan::MostBytes,
                  "Bytes of memory that each run that is under way takes for intermediate results.")
    .def_property("constant_bytes", &ConstantBytes,
                  "Bytes of the arrays that its kernels read besides what runs are given, and of "
                  "what they have packed.");

MXNET_REGISTER_CLASS(PlanBuilder, "mx.graph.PlanBuilder")
    .describe("Makes a plan of inputs, constants, steps and views, which are added in order.")
    .def_init<>()
    .def("add_input", &PlanBuilder::AddInput, "Adds an input; returns its number.")
    .arg("shape", "Extents.")
    .arg("dtype", "Element type.")
    .def("add_constant", &PlanBuilder::AddConstant, "Adds an array; returns its number.")
    .arg("array", "Its elements may not change any more.")
    .def("add_step", &PlanBuilder::AddStep,
         "Adds a kernel; returns the number of its first output, which the others follow.")
    .arg("kernel", "What is run.")
    .arg("inputs", "The numbers of the values that it reads; -1 for one that is not given.")
    .arg("name", "What errors and profiles call the step.")
    .def("add_view", &PlanBuilder::AddView,
         "Adds the elements of another value in another layout; returns its number.")
    .arg("of", "The number of the other value.")
    .arg("shape", "Extents.")
    .arg("strides", "Strides in elements.")
    .arg("byte_offset", "From the first element of the other value to that of the view.")
    .def("strides", &PlanBuilder::Strides, "The strides of a value, in elements.")
    .arg("value", "Its number.")
    .def("build", &PlanBuilder::Build, "The plan; the builder is used up.")
    .arg("outputs", "The numbers of the values that it gives.")
    .def("build_sliced", &PlanBuilder::BuildSliced,
         "The plan, whose runs do the steps for each slice of the inputs and outputs along the "
         "first axis; the builder is used up.")
    .arg("outputs", "The numbers of the values that it gives, each of one slice.")
    .arg("slices", "How many there are.")
    .def("build_storing", &PlanBuilder::BuildStoring,
         "The plan, whose runs also write to inputs; the builder is used up.")
    .arg("outputs", "The numbers of the values that it gives.")
    .arg("stores",
         "Pairs of a value and an input, as the number of that among the inputs, to the memory of "
         "which the value is written.");

/*! \brief Those of Python, which has no scopes. */
thread_local std::vector<std::unique_ptr<op::OneThread>> one_thread_scopes;

void PlanForOneThread(bool begins) {
  if (begins) {
    one_thread_scopes.push_back(std::make_unique<op::OneThread>());
  } else if (!one_thread_scopes.empty()) {
    one_thread_scopes.pop_back();
  }
}

MXNET_REGISTER_API("mx.graph.plan_for_one_thread")
    .describe("Whether kernels that the calling thread makes from now on are for one thread.")
    .arg("begins", "True; False for the end of the last such time.")
    .set_body_typed(&PlanForOneThread);

MXNET_REGISTER_API("mx.graph.function_kernel")
    .describe("A kernel that calls a function with copies of its inputs.")
    .add_argument("name", "str", "What profiles call it.")
    .add_argument("function", "ffi.Function", "Takes arrays, and returns a list of arrays.")
    .add_argument("shapes", "Sequence[Sequence[int]]", "The shapes of its outputs.")
    .add_argument("dtypes", "Sequence[DTypeLike]", "The element types of its outputs.")
    .returns("mx.graph.Kernel")
    .set_body_typed(&MakeFunctionKernel);

}  // namespace
}  // namespace graph
}  // namespace mxnet
