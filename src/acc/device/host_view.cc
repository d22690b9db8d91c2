/*!
 * \file host_view.cc
 * \brief Views of accelerators' memory for the CPU.
 */
#include "acc/device/host_view.h"

#include <mxnet/runtime/registry.h>

#include "acc/device/arrays.h"
#include "acc/device/table.h"
#include "runtime/ndarray/ndarray.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief Another function than ReleaseBase, which would make the view one of the accelerator's. */
void ReleaseArray(void* array, size_t) { details::Release(static_cast<MXNetObject*>(array)); }

MXNET_REGISTER_API("runtime.host_visible")
    .describe("Whether the CPU may read and write the memory of an array where it is.")
    .arg("array", "Any array.")
    .set_body_typed(&IsHostVisible);

MXNET_REGISTER_API("runtime.host_view")
    .describe(
        "An array of the host over the same memory, once the work under way is done; the array "
        "itself where it is of the host, None where the CPU cannot read it.")
    .arg("array", "Any array.")
    .returns("ndarray | None")
    .release_gil(0)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      NDArray view = HostView(args[0].As<NDArray>());
      if (view.get() != nullptr) *ret = std::move(view);
    });

}  // namespace

bool IsHostVisible(const NDArray& array) {
  if (array.ctx().device_type == kDLCPU) return true;
  const InUse accelerator(array.ctx());
  return accelerator->device(array.ctx().device_id)->host_visible();
}

NDArray HostView(const NDArray& array) {
  if (array.ctx().device_type == kDLCPU) return array;
  const InUse accelerator(array.ctx());
  Device* device = accelerator->device(array.ctx().device_id);
  if (!device->host_visible()) return NDArray();
  device->Settle();
  device->CheckContent(*MemoryOf(array));
  DLTensor tensor = array.tensor();
  tensor.device = kHost;
  auto* object = static_cast<MXNetObject*>(array.get());
  ArrayObject* view = NewForeignArray(tensor, object, &ReleaseArray);
  details::Retain(object);
  if (array.read_only()) view->visible.flags |= kMXNetNDArrayReadOnly;
  return NDArray(ObjectRef::Steal(view));
}

}  // namespace acc
}  // namespace mxnet
