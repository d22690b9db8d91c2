/*!
 * \file transfers.cc
 * \brief Copies between the host, a device, and another device; views of the host.
 */
#include "acc/device/transfers.h"

#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "acc/device/arrays.h"
#include "acc/device/table.h"

namespace mxnet {
namespace acc {
namespace {

bool OnHost(const NDArray& array) { return array.ctx().device_type == kDLCPU; }

bool IsRowMajor(const NDArray& array) { return IsContiguous(array.tensor()); }

/*! \brief Copies between tensors of the host, axis by axis. */
void CopyOnHost(char* target, const int64_t* target_strides, const char* source,
                const int64_t* source_strides, ShapeView shape, int64_t item) {
  if (shape.size() == 0) {
    std::memcpy(target, source, static_cast<size_t>(item));
    return;
  }
  const ShapeView rest(shape.data() + 1, shape.size() - 1);
  const bool is_row = rest.size() == 0 && target_strides[0] == 1 && source_strides[0] == 1;
  if (is_row) {
    std::memcpy(target, source, static_cast<size_t>(shape[0] * item));
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    CopyOnHost(target + i * target_strides[0] * item, target_strides + 1,
               source + i * source_strides[0] * item, source_strides + 1, rest, item);
  }
}

void CopyOnHost(const NDArray& target, const NDArray& source) {
  CopyOnHost(static_cast<char*>(TensorData(target.tensor())), target.strides().data(),
             static_cast<const char*>(TensorData(source.tensor())), source.strides().data(),
             source.shape(), ItemSize(source.dtype()));
}

NDArray RowMajorOnHost(const NDArray& array) {
  if (OnHost(array) && IsRowMajor(array)) return array;
  NDArray copy = NDArray::Empty(array.shape(), array.dtype(), kHost);
  CopyArray(copy, array);
  return copy;
}

/*!
 * \brief The bytes of the device's memory that a view of any strides lies in, brought to the host.
 *
 * For devices whose copies take row-major tensors only.
 */
class Mirror {
 public:
  Mirror(const NDArray& view, Device* device) : device_(device), memory_(MemoryOf(view)) {
    const Span span = SpanOf(view.tensor());
    bytes_.resize(static_cast<size_t>(span.size));
    const MXTensor whole = TensorOf(view);
    shape_ = span.size;
    on_device_.struct_size = sizeof(on_device_);
    on_device_.tensor = {whole.tensor.data,
                         whole.tensor.device,
                         1,
                         MXAccDataType{kMXAccUInt, 8, 1},
                         &shape_,
                         &stride_,
                         whole.tensor.byte_offset + static_cast<uint64_t>(span.begin)};
    on_host_ = on_device_;
    on_host_.tensor.data = bytes_.data();
    on_host_.tensor.device = MXAccDevice{kMXAccHost, 0};
    on_host_.tensor.byte_offset = 0;
    first_ = bytes_.data() - span.begin;
    device_->CopyToHost(&on_host_, &on_device_, memory_);
  }
  /*! \brief The view's first element. */
  char* first() { return first_; }
  void WriteBack() { device_->CopyToDevice(&on_device_, &on_host_, {memory_, true}); }

 private:
  Device* device_;
  DeviceMemory* memory_;
  std::vector<char> bytes_;
  char* first_;
  int64_t shape_;
  int64_t stride_{1};
  MXTensor on_device_{};
  MXTensor on_host_{};
};

void FromDevice(const NDArray& target, const NDArray& source, Device* device) {
  if (!IsRowMajor(source) && !device->takes_strides()) {
    Mirror mirror(source, device);
    CopyOnHost(static_cast<char*>(TensorData(target.tensor())), target.strides().data(),
               mirror.first(), source.strides().data(), source.shape(), ItemSize(source.dtype()));
    return;
  }
  if (!IsRowMajor(target) && !device->takes_strides()) {
    return CopyOnHost(target, RowMajorOnHost(source));
  }
  MXTensor to = TensorOf(target);
  const MXTensor from = TensorOf(source);
  device->CopyToHost(&to, &from, MemoryOf(source));
}

void ToDevice(const NDArray& target, const NDArray& source, Device* device) {
  if (!IsRowMajor(target) && !device->takes_strides()) {
    Mirror mirror(target, device);
    CopyOnHost(mirror.first(), target.strides().data(),
               static_cast<const char*>(TensorData(source.tensor())), source.strides().data(),
               source.shape(), ItemSize(source.dtype()));
    mirror.WriteBack();
    return;
  }
  const NDArray packed =
      IsRowMajor(source) || device->takes_strides() ? source : RowMajorOnHost(source);
  MXTensor to = TensorOf(target);
  const MXTensor from = TensorOf(packed);
  device->CopyToDevice(&to, &from, AllOf(target));
}

Device* DeviceOf(const InUse& accelerator, const NDArray& array) {
  return accelerator->device(array.ctx().device_id);
}

/*! \brief Between two devices of one library, where it can; false elsewhere. */
bool TryWithin(const NDArray& target, const NDArray& source) {
  if (target.ctx().device_type != source.ctx().device_type) return false;
  const InUse accelerator(target.ctx());
  Device* device = DeviceOf(accelerator, target);
  const bool row_major = IsRowMajor(target) && IsRowMajor(source);
  if (!row_major && !device->takes_strides()) return false;
  MXTensor to = TensorOf(target);
  const MXTensor from = TensorOf(source);
  return device->TryCopyWithin(&to, &from, AllOf(target), MemoryOf(source));
}

/*! \brief Releases the array that a view of the host is of. By ReleaseBase, RootOf would take the
 * view for one in the accelerator's memory. */
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

NDArray Borrowed(const DLTensor& tensor) {
  return NDArray(ObjectRef::Steal(NewForeignArray(tensor, nullptr, [](void*, size_t) {})));
}

int64_t ByteCount(const NDArray& array) { return array.size() * ItemSize(array.dtype()); }

void CopyArray(const NDArray& target, const NDArray& source) {
  if (source.size() == 0) return;
  if (OnHost(target) && OnHost(source)) return CopyOnHost(target, source);
  if (OnHost(target)) {
    const InUse accelerator(source.ctx());
    return FromDevice(target, source, DeviceOf(accelerator, source));
  }
  if (!OnHost(source)) {
    if (!MayShare(target, source) && TryWithin(target, source)) return;
    return CopyArray(target, RowMajorOnHost(source));
  }
  const InUse accelerator(target.ctx());
  ToDevice(target, source, DeviceOf(accelerator, target));
}

bool TryCopyWithin(const NDArray& target, const NDArray& source) {
  return source.size() == 0 || (!MayShare(target, source) && TryWithin(target, source));
}

NDArray InContext(const NDArray& array, Context ctx) {
  if (array.ctx() == ctx) return array;
  NDArray copy = NDArray::Empty(array.shape(), array.dtype(), ctx);
  CopyArray(copy, array);
  return copy;
}

bool TryCopyOnDevice(const NDArray& array, NDArray* copy) {
  NDArray made = NDArray::Empty(array.shape(), array.dtype(), array.ctx());
  if (array.size() != 0 && !TryWithin(made, array)) return false;
  *copy = std::move(made);
  return true;
}

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
