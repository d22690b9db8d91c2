#include "memory.h"

#include <utility>

#include "accelerators/sdk/status.h"
#include "fault.h"

namespace planted {
namespace {

using mxacc::Failure;

/*! \brief What a fault writes behind a block hurts nobody else. */
constexpr size_t kSpare = 64;

[[noreturn]] void NoMemory(size_t size) {
  throw Failure(Has("another code for no memory") ? kMXAccFailed : kMXAccOutOfMemory,
                "there is no room for " + std::to_string(size) + " bytes");
}

}  // namespace

std::unique_lock<std::mutex> Memory::Lock() const {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (!Has("unlocked allocator")) lock.lock();
  return lock;
}

void* Memory::Alloc(size_t size, size_t alignment) {
  const auto lock = Lock();
  const bool fits = size <= kTotal && used_ + size <= kTotal;
  if (!fits && Has("NULL near the limit") && size <= kTotal) return nullptr;
  if (!fits && Has("success without memory")) {
    size = alignment;
  } else if (!fits) {
    NoMemory(size);
  }
  std::unique_ptr<char[]> bytes(new char[size + alignment + kSpare]);
  const auto address = reinterpret_cast<uintptr_t>(bytes.get());
  char* begin = bytes.get() + (alignment - address % alignment) % alignment;
  next_ += 1 << 12;
  blocks_.emplace(next_, Block{std::move(bytes), begin, size});
  used_ += size;
  return reinterpret_cast<void*>(next_);
}

void Memory::Free(void* handle) {
  const auto lock = Lock();
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(handle));
  if (found == blocks_.end()) return;
  used_ -= found->second.size;
  blocks_.erase(found);
}

size_t Memory::ReleaseAll() {
  const auto lock = Lock();
  const size_t count = blocks_.size();
  blocks_.clear();
  used_ = 0;
  return count;
}

uint64_t Memory::used() const {
  const auto lock = Lock();
  return used_;
}

char* Memory::Begin(void* handle, uint64_t end) const {
  const auto lock = Lock();
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(handle));
  if (found == blocks_.end() || end > found->second.size) {
    throw Failure(kMXAccBadArgument, "a tensor is not in living memory of the device");
  }
  return found->second.begin;
}

char* Memory::Begin(const MXAccDLTensor& tensor) const {
  const mxacc::Span span = mxacc::SpanOf(tensor);
  if (span.empty()) return nullptr;
  if (span.first < 0) throw Failure(kMXAccBadArgument, "a tensor begins before its memory");
  return Begin(tensor.data, static_cast<uint64_t>(span.last));
}

}  // namespace planted
