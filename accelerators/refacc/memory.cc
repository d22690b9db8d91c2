#include "memory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace refacc {
namespace {

/*! \brief Opaque handles begin here: in the middle of the address space, where nothing can be. */
constexpr uint64_t kFirstHandle = uint64_t{0xACC0} << 48;
constexpr uint64_t kHandleStep = 256;

void* OpaqueHandle(int32_t dev_id, uint64_t count) {
  const uint64_t device = static_cast<uint64_t>(dev_id & 0xff) << 40;
  return reinterpret_cast<void*>(
      static_cast<uintptr_t>(kFirstHandle + device + count * kHandleStep));
}

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
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  const uint64_t limit = static_cast<uint64_t>(settings.memory);
  if (limit != 0 && size > limit - std::min(limit, bytes_)) {
    throw Failure(kMXAccOutOfMemory, std::to_string(size) + " bytes were asked for, " +
                                         std::to_string(limit - std::min(limit, bytes_)) + " of " +
                                         std::to_string(limit) + " are free");
  }
  const Block block = NewBlock(size, alignment, settings.guard, settings.poison);
  void* handle = opaque_ ? OpaqueHandle(dev_id_, ++given_) : block.data;
  blocks_.emplace(handle, block);
  bytes_ += size;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return handle;
}

std::string Memory::Free(void* handle, bool poison) {
  std::string wrong;
  {
    const std::lock_guard<std::shared_mutex> lock(mutex_);
    const auto found = blocks_.find(handle);
    if (found == blocks_.end()) {
      wrong = UnknownText(handle);
    } else {
      wrong = DamageText(found->second);
      bytes_ -= found->second.size;
      DeleteBlock(found->second, poison);
      blocks_.erase(found);
    }
  }
  if (!wrong.empty()) Count("mx_free: " + wrong);
  return wrong;
}

size_t Memory::ReleaseAll() {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  for (const auto& entry : blocks_) DeleteBlock(entry.second, false);
  const size_t live = blocks_.size();
  blocks_.clear();
  bytes_ = 0;
  return live;
}

char* Memory::Locate(const MXAccGeometry& tensor, Span span, std::string* wrong) const {
  const auto found = blocks_.find(tensor.data);
  if (tensor.device.device_type == kMXAccHost || tensor.device.device_id != dev_id_) {
    *wrong = "a tensor says that it is on device " + std::to_string(tensor.device.device_id) +
             " of kind " + std::to_string(tensor.device.device_type);
  } else if (found == blocks_.end()) {
    *wrong = UnknownText(tensor.data);
  } else if (span.lies_in(found->second.size)) {
    return found->second.data + tensor.byte_offset;
  } else {
    *wrong = "a tensor reaches from byte " + std::to_string(span.first) + " to " +
             std::to_string(span.last) + " of memory that has " +
             std::to_string(found->second.size);
  }
  return nullptr;
}

char* Memory::AddressOf(const MXAccGeometry& tensor) {
  const Span span = SpanOf(tensor);
  if (span.empty()) return nullptr;
  std::string wrong;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    char* address = Locate(tensor, span, &wrong);
    if (address != nullptr) return address;
  }
  Violate(wrong);
}

void Memory::AddressesOf(const Located* groups, int num_groups, char** addresses) {
  std::string wrong;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (int group = 0; group < num_groups; ++group) {
      const Located& located = groups[group];
      for (int32_t i = 0; i < located.count && wrong.empty(); ++i) {
        const MXAccGeometry& tensor = located.tensors[i].tensor;
        const bool empty = located.spans[i].empty();
        const Span span = empty ? Span{0, 0} : located.spans[i].from(tensor.byte_offset);
        *addresses++ = empty ? nullptr : Locate(tensor, span, &wrong);
      }
    }
  }
  if (!wrong.empty()) Violate(wrong);
}

void Memory::CheckZones(const MXTensor* tensors, int32_t count) {
  std::string wrong;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (int32_t i = 0; i < count && wrong.empty(); ++i) {
      const auto found = blocks_.find(tensors[i].tensor.data);
      if (found != blocks_.end()) wrong = DamageText(found->second);
    }
  }
  if (!wrong.empty()) Violate(wrong);
}

void Memory::CheckZones(const MXAccGeometry& tensor) {
  MXTensor one{};
  one.tensor = tensor;
  CheckZones(&one, 1);
}

void Memory::CheckAllZones() {
  std::string wrong;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (const auto& entry : blocks_) {
      const std::string text = DamageText(entry.second);
      if (!text.empty()) wrong += (wrong.empty() ? "" : "; ") + text;
    }
  }
  if (!wrong.empty()) Violate(wrong);
}

MemoryState Memory::state() const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const std::lock_guard<std::mutex> violations_lock(violations_mutex_);
  return {blocks_.size(), bytes_, peak_bytes_, violations_, violation_};
}

std::string Memory::DamageText(const Block& block) const {
  const ptrdiff_t distance = DamageOf(block);
  if (distance == 0) return {};
  return "something was written " + std::to_string(distance < 0 ? -distance : distance) +
         " bytes " + (distance < 0 ? "before" : "behind") + " memory of " +
         std::to_string(block.size) + " bytes";
}

std::string Memory::UnknownText(const void* handle) const {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  const bool given = opaque_ && value % kHandleStep == 0 &&
                     value > reinterpret_cast<uintptr_t>(OpaqueHandle(dev_id_, 0)) &&
                     value <= reinterpret_cast<uintptr_t>(OpaqueHandle(dev_id_, given_));
  return HandleText(handle) + (given ? " was freed before" : " was never given by mx_alloc") +
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
