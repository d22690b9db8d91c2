#include "memory.h"

#include <mutex>

namespace opencl {

void* Memory::Alloc(cl_context context, size_t size) {
  Buffer buffer = MakeBuffer(context, size);
  void* handle = buffer.get();
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  blocks_.emplace(handle, Block{std::move(buffer), size});
  used_ += size;
  return handle;
}

bool Memory::Free(void* handle) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto found = blocks_.find(handle);
  if (found == blocks_.end()) return false;
  used_ -= found->second.size;
  blocks_.erase(found);
  return true;
}

size_t Memory::ReleaseAll() {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const size_t count = blocks_.size();
  blocks_.clear();
  used_ = 0;
  return count;
}

uint64_t Memory::used() const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return used_;
}

cl_mem Memory::Find(const MXAccGeometry& tensor, const Span& span) const {
  if (span.empty()) return nullptr;
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = blocks_.find(tensor.data);
  if (found == blocks_.end()) {
    throw Failure(kMXAccBadArgument, "a tensor is not in living memory of the device");
  }
  const auto offset = static_cast<int64_t>(tensor.byte_offset);
  int64_t last = 0;
  const bool outside = offset < 0 || __builtin_add_overflow(span.last, offset, &last) ||
                       !Span{span.first + offset, last}.lies_in(found->second.size);
  if (outside) {
    throw Failure(kMXAccBadArgument, GeometryText(tensor) + " at byte " + std::to_string(offset) +
                                         " reaches beyond its memory of " +
                                         std::to_string(found->second.size) + " bytes");
  }
  if (offset % ItemSize(tensor.dtype) != 0) {
    throw Failure(kMXAccBadArgument, "a byte_offset that is no multiple of the element's size");
  }
  return found->second.buffer.get();
}

}  // namespace opencl
