/*!
 * \file dlpack.cc
 * \brief Arrays from and to DLPack.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/tensor_check.h>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/devices.h"
#include "runtime/ndarray/ndarray.h"

namespace mxnet {
namespace runtime {
namespace {

template <typename Managed>
void ReleaseManaged(void* tensor, size_t) {
  auto* managed = static_cast<Managed*>(tensor);
  if (managed->deleter != nullptr) managed->deleter(managed);
}

/*! \brief What an exported tensor holds: the array, whose shape and strides it points into. */
template <typename Managed>
struct Exported {
  Managed managed;

  static Managed* Of(ArrayObject* array) {
    auto* exported = new Exported();
    exported->managed.dl_tensor = array->visible.tensor;
    exported->managed.manager_ctx = array;
    exported->managed.deleter = &Delete;
    details::Retain(&array->visible.header);
    return &exported->managed;
  }

  /*! \brief The array that a tensor holds; NULL where it is not one that this runtime exported. */
  static ArrayObject* ArrayOf(const Managed& tensor) {
    return tensor.deleter == &Delete ? static_cast<ArrayObject*>(tensor.manager_ctx) : nullptr;
  }

 private:
  static void Delete(Managed* self) {
    details::Release(static_cast<MXNetObject*>(self->manager_ctx));
    delete reinterpret_cast<Exported*>(self);
  }
};

/*! \brief Waits for the device's work on an array, of which consumers of the tensor do not know. */
void AwaitContent(const ArrayObject* array) {
  if (array->visible.tensor.device.device_type == kDLCPU) return;
  DeviceProvider* provider = device_provider.load(std::memory_order_acquire);
  if (provider != nullptr) provider->AwaitContent(array);
}

template <typename Managed>
ArrayObject* Import(Managed* tensor) {
  CheckTensor(tensor->dl_tensor, "the tensor");
  ArrayObject* source = Exported<Managed>::ArrayOf(*tensor);
  if (source != nullptr && tensor->dl_tensor.device.device_type != kDLCPU) {
    // As a view of the exported array: the provider finds the memory of a device by its array.
    auto* root = const_cast<ArrayObject*>(RootOf(source));
    ArrayObject* view = NewForeignArray(tensor->dl_tensor, root, &ReleaseBase);
    details::Retain(&root->visible.header);
    tensor->deleter(tensor);
    return view;
  }
  return NewForeignArray(tensor->dl_tensor, tensor, &ReleaseManaged<Managed>);
}

MXNET_REGISTER_API("ffi.check_tensor")
    .describe("Raises ValueError or TypeError where a tensor of others cannot be what it says.")
    .add_argument("tensor", "int", "Address of a DLTensor.")
    .add_argument("name", "str", "What the message calls it.")
    .set_body_typed([](uint64_t tensor, const std::string& name) {
      CheckTensor(*reinterpret_cast<const DLTensor*>(static_cast<uintptr_t>(tensor)), name);
    });

}  // namespace
}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::ArrayObject;
using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;

int MXNetNDArrayFromDLPack(DLManagedTensorVersioned* tensor, MXNetNDArrayHandle* out) {
  return Guard([&] {
    RequireNotNull(tensor, "MXNetNDArrayFromDLPack", "tensor");
    RequireNotNull(out, "MXNetNDArrayFromDLPack", "out");
    if (tensor->version.major != DLPACK_MAJOR_VERSION) {
      MXNET_THROW("BufferError") << "the tensor has version " << tensor->version.major << "."
                                 << tensor->version.minor << " of DLPack, this runtime reads "
                                 << "version " << DLPACK_MAJOR_VERSION;
    }
    // Before the import, which may end the tensor.
    const bool read_only = (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    ArrayObject* array = mxnet::runtime::Import(tensor);
    if (read_only) array->visible.flags |= kMXNetNDArrayReadOnly;
    *out = array;
  });
}

int MXNetNDArrayFromDLPackLegacy(DLManagedTensor* tensor, MXNetNDArrayHandle* out) {
  return Guard([&] {
    RequireNotNull(tensor, "MXNetNDArrayFromDLPackLegacy", "tensor");
    RequireNotNull(out, "MXNetNDArrayFromDLPackLegacy", "out");
    *out = mxnet::runtime::Import(tensor);
  });
}

int MXNetNDArrayToDLPack(MXNetNDArrayHandle array, DLManagedTensorVersioned** out) {
  return Guard([&] {
    RequireNotNull(array, "MXNetNDArrayToDLPack", "array");
    RequireNotNull(out, "MXNetNDArrayToDLPack", "out");
    auto* object = static_cast<ArrayObject*>(array);
    mxnet::runtime::AwaitContent(object);
    auto* tensor = mxnet::runtime::Exported<DLManagedTensorVersioned>::Of(object);
    tensor->version = DLPackVersion{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    const bool read_only = (object->visible.flags & kMXNetNDArrayReadOnly) != 0;
    tensor->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    *out = tensor;
  });
}

int MXNetNDArrayToDLPackLegacy(MXNetNDArrayHandle array, DLManagedTensor** out) {
  return Guard([&] {
    RequireNotNull(array, "MXNetNDArrayToDLPackLegacy", "array");
    RequireNotNull(out, "MXNetNDArrayToDLPackLegacy", "out");
    auto* object = static_cast<ArrayObject*>(array);
    if ((object->visible.flags & kMXNetNDArrayReadOnly) != 0) {
      MXNET_THROW("BufferError") << "a read-only array cannot be exported without a DLPack version "
                                 << "that can say so; ask for max_version=(1, 0), or pass a copy";
    }
    mxnet::runtime::AwaitContent(object);
    *out = mxnet::runtime::Exported<DLManagedTensor>::Of(object);
  });
}
