/*!
 * \file kernel.cc
 * \brief Kernels as Python has them.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/stl.h>

namespace mxnet {
namespace op {
namespace {

using runtime::Any;

std::vector<std::vector<int64_t>> Shapes(const Kernel& kernel) {
  std::vector<std::vector<int64_t>> shapes;
  for (const KernelOutput& output : kernel.outputs()) shapes.push_back(output.shape);
  return shapes;
}

std::vector<DLDataType> Types(const Kernel& kernel) {
  std::vector<DLDataType> types;
  for (const KernelOutput& output : kernel.outputs()) types.push_back(output.dtype);
  return types;
}

MXNET_REGISTER_CLASS(Kernel, "mx.graph.Kernel")
    .describe("Work on tensors of fixed shapes and types: a step of a plan.")
    .def_property("name", &Kernel::name, "The implementation, as profiles call it.")
    .def_property("workspace_bytes", &Kernel::workspace_bytes,
                  "Bytes of memory that it needs while it runs.")
    .def_property("shapes", &Shapes, "The shapes of its outputs.")
    .def_property("dtypes", &Types, "The element types of its outputs.");

}  // namespace
}  // namespace op
}  // namespace mxnet
