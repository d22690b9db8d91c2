/*!
 * \file kernels.cc
 * \brief Runs a single kernel on the bytes that it takes, which plans do not do.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace testing {
namespace {

using mxnet::op::Kernel;
using mxnet::op::KernelOutput;
using mxnet::runtime::Any;
using mxnet::runtime::NDArray;
using mxnet::runtime::Ref;

constexpr size_t kAlignment = 64;

/*! \brief Memory that is aligned as kernels expect it. */
std::unique_ptr<void, void (*)(void*)> Workspace(size_t bytes) {
  void* data = nullptr;
  if (bytes > 0 && posix_memalign(&data, kAlignment, bytes) != 0) throw std::bad_alloc();
  return {data, &std::free};
}

NDArray EmptyFor(const KernelOutput& output) {
  if (output.bytes == 0) return NDArray::Empty(output.shape, output.dtype);
  const int64_t bytes[] = {static_cast<int64_t>(output.bytes)};
  return NDArray::Empty({bytes, 1}, mxnet::runtime::kUInt8);
}

std::vector<NDArray> RunKernel(const Kernel& kernel, const std::vector<NDArray>& inputs) {
  std::vector<DLTensor> in;
  for (const NDArray& input : inputs) {
    if (input.ctx().device_type != kDLCPU || !mxnet::runtime::IsContiguous(input.tensor())) {
      MXNET_THROW("ValueError") << "inputs: expected row-major arrays on the CPU";
    }
    in.push_back(input.tensor());
    in.back().data = mxnet::runtime::TensorData(input.tensor());
    in.back().byte_offset = 0;
  }
  std::vector<NDArray> outputs;
  std::vector<DLTensor> out;
  for (const KernelOutput& output : kernel.outputs()) {
    outputs.push_back(EmptyFor(output));
    out.push_back(outputs.back().tensor());
  }
  const MXNetKernel& plain = kernel.kernel();
  const auto workspace = Workspace(plain.workspace_bytes);
  MXNET_CHECK_CALL(plain.run(plain.state, in.data(), static_cast<int>(in.size()), out.data(),
                             static_cast<int>(out.size()), workspace.get()));
  return outputs;
}

MXNET_REGISTER_API("testing.run_kernel")
    .describe("Runs a kernel once. What is not row-major is passed as the bytes that it takes.")
    .arg("kernel", "Made for inputs of these shapes and types, which it does not look at.")
    .arg("inputs", "Row-major arrays on the CPU.")
    .name_errors()
    .release_gil()
    // Any, as the stubs of this library know no class of mx.
    .set_body_typed([](const Any& kernel, const std::vector<NDArray>& inputs) {
      return RunKernel(*kernel.As<Ref<Kernel>>(), inputs);
    });

}  // namespace
}  // namespace testing
