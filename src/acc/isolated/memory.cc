/*!
 * \file memory.cc
 * \brief Memory in the process that has the library, and copies.
 */
#include <algorithm>
#include <cstring>

#include "acc/isolated/library.h"
#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

char* FirstOf(const MXAccDLTensor& tensor) {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

/*! \brief What a handle points to: memory in a process. */
struct Library::Block {
  uint64_t handle;
  uint64_t generation;
};

bool Library::Holds(const void* data) {
  return static_cast<const Block*>(data)->generation == generation_;
}

MXAccStatus Library::Alloc(int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                           void** out) {
  if (memory != kMXAccDeviceMemory) {
    return Failure(kMXAccUnsupported, "memory of its process has no address in this one");
  }
  const Turn turn(this);
  Writer request(Request::kAlloc);
  request.Number(dev_id);
  request.Number<uint64_t>(size);
  request.Number<uint64_t>(alignment);
  Reader answer("");
  if (MXAccStatus status = Ask(request, &answer)) return status;
  *out = new Block{answer.Number<uint64_t>(), generation_};
  return nullptr;
}

void Library::Free(int32_t dev_id, void* data) {
  const std::unique_ptr<Block> block(static_cast<Block*>(data));
  std::lock_guard<std::recursive_timed_mutex> lock(calls_);
  if (block->generation != generation_) return;
  Writer request(Request::kFree);
  request.Number(dev_id);
  request.Number(block->handle);
  Tell(request);
}

MXAccStatus Library::HandleOf(const MXTensor& tensor, uint64_t* handle) const {
  *handle = 0;
  if (SizeOf(tensor.tensor) == 0 || tensor.tensor.data == nullptr) return nullptr;
  return HandleOf(tensor.tensor.data, handle);
}

MXAccStatus Library::HandleOf(const void* data, uint64_t* handle) const {
  const auto* block = static_cast<const Block*>(data);
  if (block->generation != generation_) {
    return Failure(kMXAccFailed, "the array was lost when the process of the accelerator ended");
  }
  *handle = block->handle;
  return nullptr;
}

MXAccStatus Library::CopyPiece(Request direction, int32_t dev_id, const MXTensor& on_device,
                               char* on_host, size_t size) {
  uint64_t handle;
  if (MXAccStatus status = HandleOf(on_device, &handle)) return status;
  const bool to_device = direction == Request::kCopyToAcc;
  if (to_device) std::memcpy(process_->shared()->data(), on_host, size);
  Writer request(direction);
  request.Number(dev_id);
  request.Tensor(on_device, handle);
  if (MXAccStatus status = AskOnce(request)) return status;
  if (!to_device) std::memcpy(on_host, process_->shared()->data(), size);
  return nullptr;
}

MXAccStatus Library::CopyEach(Request direction, int32_t dev_id, const MXTensor* on_device,
                              const MXTensor* on_host, int32_t count) {
  const Turn turn(this);
  for (int32_t i = 0; i < count; ++i) {
    const size_t size = SizeOf(on_host[i].tensor);
    char* first = FirstOf(on_host[i].tensor);
    if (size == 0) continue;
    if (size <= kSharedSize) {
      if (MXAccStatus status = CopyPiece(direction, dev_id, on_device[i], first, size)) {
        return status;
      }
      continue;
    }
    for (size_t at = 0; at < size; at += kSharedSize) {
      auto part = static_cast<int64_t>(std::min(kSharedSize, size - at));
      int64_t step = 1;
      MXTensor bytes = on_device[i];
      bytes.tensor.ndim = 1;
      bytes.tensor.dtype = MXAccDataType{kMXAccUInt, 8, 1};
      bytes.tensor.shape = &part;
      bytes.tensor.strides = &step;
      bytes.tensor.byte_offset += at;
      MXAccStatus status =
          CopyPiece(direction, dev_id, bytes, first + at, static_cast<size_t>(part));
      if (status != nullptr) return status;
    }
  }
  return nullptr;
}

MXAccStatus Library::CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                               int32_t count, MXAccStream) {
  return CopyEach(Request::kCopyToAcc, dev_id, targets, sources, count);
}

MXAccStatus Library::CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                 int32_t count, MXAccStream) {
  return CopyEach(Request::kCopyFromAcc, dev_id, sources, targets, count);
}

MXAccStatus Library::CopyWithinAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                   int32_t count, MXAccStream) {
  const Turn turn(this);
  Writer request(Request::kCopyWithinAcc);
  request.Number(dev_id);
  request.Number(count);
  for (int32_t i = 0; i < count; ++i) {
    for (const MXTensor* tensor : {static_cast<const MXTensor*>(targets + i), sources + i}) {
      uint64_t handle;
      if (MXAccStatus status = HandleOf(*tensor, &handle)) return status;
      request.Tensor(*tensor, handle);
    }
  }
  return AskOnce(request);
}

MXAccStatus Library::Zero(int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                          MXAccStream, uint64_t) {
  const Turn turn(this);
  uint64_t handle;
  if (MXAccStatus status = HandleOf(data, &handle)) return status;
  Writer request(Request::kZero);
  request.Number(dev_id);
  request.Number(handle);
  request.Number(byte_offset);
  request.Number<uint64_t>(size);
  return AskOnce(request);
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
