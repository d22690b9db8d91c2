#include "memory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace refacc {
namespace {

std::string HandleText(const void* handle) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(handle));
  return text;
}

}  // namespace

void* Memory::Alloc(size_t size, size_t alignment, const Settings& settings) {
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    Violate("mx_alloc: a size above 0 and an alignment that is a power of two were expected, got " +
            std::to_string(size) + " and " + std::to_string(alignment));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t limit = static_cast<uint64_t>(settings.memory);
  if (limit != 0 && size > limit - std::min(limit, bytes_)) {
    throw Failure(kMXAccOutOfMemory, std::to_string(size) + " bytes were asked for, " +
                                         std::to_string(limit - std::min(limit, bytes_)) + " of " +
                                         std::to_string(limit) + " are free");
  }
  const Block block = NewBlock(size, alignment, settings.guard, settings.poison);
  void* handle;
  try {
    handle = blocks_.Add(block);
  } catch (...) {
    DeleteBlock(block, false);
    throw;
  }
  bytes_ += size;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return handle;
}

std::string Memory::Free(void* handle, bool poison) {
  std::string wrong;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Block* found = blocks_.Find(handle);
    if (found == nullptr) {
      wrong = UnknownText(handle);
    } else {
      const Block block = *found;
      if (IsDamaged(block)) wrong = DamageText(block);
      bytes_ -= block.size;
      blocks_.Remove(handle);
      DeleteBlock(block, poison);
    }
  }
  if (!wrong.empty()) Count("mx_free: " + wrong);
  return wrong;
}

size_t Memory::ReleaseAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t live = blocks_.size();
  blocks_.RemoveAll([](const Block& block) { DeleteBlock(block, false); });
  bytes_ = 0;
  return live;
}

char* Memory::AddressOf(const MXAccDLTensor& tensor, Span span) {
  if (span.empty()) return nullptr;
  std::string wrong;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Block* found = blocks_.Find(tensor.data);
    if (!IsHere(tensor)) {
      wrong = "a tensor says that it is on device " + std::to_string(tensor.device.device_id) +
              " of kind " + std::to_string(tensor.device.device_type);
    } else if (found == nullptr) {
      wrong = UnknownText(tensor.data);
    } else if (span.lies_in(found->size)) {
      return found->data + tensor.byte_offset;
    } else {
      wrong = "a tensor reaches from byte " + std::to_string(span.first) + " to " +
              std::to_string(span.last) + " of memory that has " + std::to_string(found->size);
    }
  }
  Violate(wrong);
}

void Memory::ViolateZero(const void* handle, uint64_t byte_offset, size_t size) {
  std::string wrong = "mx_zero: ";
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Block* block = blocks_.Find(handle);
    wrong += block == nullptr
                 ? UnknownText(handle)
                 : std::to_string(size) + " bytes from byte " + std::to_string(byte_offset) +
                       " on, of memory that has " + std::to_string(block->size);
  }
  Violate(wrong);
}

void Memory::CheckAllZones() {
  std::string wrong;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_.ForEach([&](const Block& block) {
      if (IsDamaged(block)) wrong += (wrong.empty() ? "" : "; ") + DamageText(block);
    });
  }
  if (!wrong.empty()) Violate(wrong);
}

MemoryState Memory::state() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::lock_guard<std::mutex> violations_lock(violations_mutex_);
  return {blocks_.size(), bytes_, peak_bytes_, violations_, violation_};
}

std::string Memory::DamageText(const Block& block) const {
  const ptrdiff_t distance = DamageOf(block);
  return "something was written " + std::to_string(distance < 0 ? -distance : distance) +
         " bytes " + (distance < 0 ? "before" : "behind") + " memory of " +
         std::to_string(block.size) + " bytes";
}

std::string Memory::UnknownText(const void* handle) const {
  return HandleText(handle) +
         (blocks_.WasFreed(handle) ? " was freed before" : " was never given by mx_alloc") +
         ", on device " + std::to_string(dev_id_);
}

void Memory::Count(const std::string& violation) {
  const std::lock_guard<std::mutex> lock(violations_mutex_);
  ++violations_;
  violation_ = violation;
}

void Memory::Violate(const std::string& message) {
  Count(message);
  throw Failure(kMXAccBadArgument, message);
}

}  // namespace refacc
