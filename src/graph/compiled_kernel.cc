/*!
 * \file compiled_kernel.cc
 * \brief Kernels of functions that were compiled for one plan, and get their addresses afterwards.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/thread_memory.h"

namespace mxnet {
namespace graph {

/*! \brief What a compiled kernel calls: tiles from begin on, before end. */
using TileFunction = void (*)(const void* const* in, void* const* out, void* work, int64_t begin,
                              int64_t end);

/*! \brief A function that may not be compiled yet. */
struct CompiledFunction {
  TileFunction call{nullptr};
};

}  // namespace graph
}  // namespace mxnet

MXNET_DECLARE_CLASS(mxnet::graph::CompiledFunction, "mx.graph.CompiledFunction");

namespace mxnet {
namespace graph {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::Ref;

struct CompiledKernel {
  Ref<CompiledFunction> function;
  int64_t tiles;
  size_t thread_bytes;
  mutable op::Pace pace{};

  void Run(const DLTensor* in, int num_in, DLTensor* out, int num_out, void*) const {
    const TileFunction call = function->call;
    if (call == nullptr) MXNET_THROW("RuntimeError") << "the kernel has not been compiled";
    std::vector<const void*> inputs;
    inputs.reserve(static_cast<size_t>(num_in));
    for (int i = 0; i < num_in; ++i) inputs.push_back(in[i].ndim < 0 ? nullptr : in[i].data);
    std::vector<void*> outputs;
    outputs.reserve(static_cast<size_t>(num_out));
    for (int i = 0; i < num_out; ++i) outputs.push_back(out[i].data);
    if (tiles == 0) return;
    InParallelWith(
        thread_bytes, tiles,
        [&](void* work, int64_t begin, int64_t end) {
          call(inputs.data(), outputs.data(), work, begin, end);
        },
        &pace);
  }
};

void CheckSpecs(const std::vector<std::vector<int64_t>>& shapes,
                const std::vector<DLDataType>& dtypes) {
  if (shapes.size() != dtypes.size()) {
    MXNET_THROW("ValueError") << "mx.graph.compiled_kernel: " << shapes.size() << " shapes and "
                              << dtypes.size() << " types";
  }
}

Ref<Kernel> MakeCompiledKernel(std::string name, const Ref<CompiledFunction>& function,
                               int64_t tiles, const std::vector<std::vector<int64_t>>& in_shapes,
                               const std::vector<DLDataType>& in_dtypes,
                               const std::vector<std::vector<int64_t>>& out_shapes,
                               const std::vector<DLDataType>& out_dtypes,
                               const std::vector<int64_t>& in_place, int64_t thread_bytes) {
  CheckSpecs(in_shapes, in_dtypes);
  CheckSpecs(out_shapes, out_dtypes);
  if (tiles < 0 || thread_bytes < 0) {
    MXNET_THROW("ValueError") << "mx.graph.compiled_kernel: expected tiles and thread_bytes from 0 "
                              << "on, got " << tiles << " and " << thread_bytes;
  }
  if (in_place.size() != out_shapes.size()) {
    MXNET_THROW("ValueError") << "mx.graph.compiled_kernel: in_place: expected "
                              << out_shapes.size() << " numbers, got " << in_place.size();
  }
  std::vector<KernelInput> inputs;
  for (size_t i = 0; i < in_shapes.size(); ++i) inputs.push_back({in_dtypes[i], in_shapes[i]});
  std::vector<KernelOutput> outputs;
  for (size_t i = 0; i < out_shapes.size(); ++i) {
    if (in_place[i] < -1 || in_place[i] >= static_cast<int64_t>(in_shapes.size())) {
      MXNET_THROW("ValueError") << "mx.graph.compiled_kernel: in_place: there is no input "
                                << in_place[i];
    }
    outputs.push_back({out_dtypes[i], out_shapes[i], 0, static_cast<int>(in_place[i])});
  }
  return op::MakeKernel(std::move(name), std::move(inputs), std::move(outputs),
                        std::unique_ptr<CompiledKernel>(new CompiledKernel{
                            function, tiles, static_cast<size_t>(thread_bytes)}));
}

MXNET_REGISTER_CLASS(CompiledFunction, "mx.graph.CompiledFunction")
    .describe("A function of machine code, which kernels may have before it is compiled.")
    .def_init<>()
    .def(
        "bind",
        [](CompiledFunction& function, int64_t address) {
          if (address == 0) MXNET_THROW("ValueError") << "bind: address: there is nothing at 0";
          function.call = reinterpret_cast<TileFunction>(address);
        },
        "Says where it is; before any plan with it runs.")
    .arg("address",
         "Of a C function: void (const void *const *in, void *const *out, void *work, "
         "int64_t begin, int64_t end).");

MXNET_REGISTER_API("mx.graph.compiled_kernel")
    .describe("A kernel of a compiled function, whose tiles may run on several threads.")
    .add_argument("name", "str", "What profiles call it.")
    .add_argument("function", "mx.graph.CompiledFunction", "What is called; bound before it runs.")
    .add_argument("tiles", "int", "Independent pieces of the work.")
    .add_argument("in_shapes", "Sequence[Sequence[int]]", "The shapes of its inputs, row-major.")
    .add_argument("in_dtypes", "Sequence[DTypeLike]", "Their element types.")
    .add_argument("out_shapes", "Sequence[Sequence[int]]", "The shapes of its outputs.")
    .add_argument("out_dtypes", "Sequence[DTypeLike]", "Their element types.")
    .add_argument("in_place", "Sequence[int]",
                  "For each output, the input whose memory it may lie in; -1 for none.")
    .add_argument("thread_bytes", "int", "Memory that each thread works in, aligned to 64 bytes.")
    .returns("mx.graph.Kernel")
    .set_body_typed(&MakeCompiledKernel);

}  // namespace
}  // namespace graph
}  // namespace mxnet
