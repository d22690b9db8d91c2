#include "block_table.h"

#include <mxnet_acc.h>

#include <mutex>

#include "sdk.h"

namespace refacc {
namespace {

/*! \brief Opaque handles begin here: in the middle of the address space, where nothing can be. */
constexpr uint64_t kFirstHandle = uint64_t{0xACC0} << 48;
constexpr int kDeviceShift = 40;
/*! \brief Neighbouring slots start with different turns, so that their handles are not neighbours.
 */
constexpr size_t kTurnStep = 0x9E37;

uintptr_t FirstHandle(int32_t dev_id) {
  return static_cast<uintptr_t>(kFirstHandle | static_cast<uint64_t>(dev_id & 0xff)
                                                   << kDeviceShift);
}

}  // namespace

BlockTable::BlockTable(int32_t dev_id, bool opaque)
    : opaque_(opaque), first_handle_(FirstHandle(dev_id)) {
  static_assert(kZeroBits + kTurnBits + kNumberBits == kDeviceShift, "the parts lie side by side");
}

BlockTable::~BlockTable() {
  for (const std::atomic<Entry*>& chunk : chunks_) delete[] chunk.load();
}

void* BlockTable::OpaqueHandle(size_t number, size_t turn) const {
  const size_t mark = (turn + number * kTurnStep) & (kTurns - 1);
  return reinterpret_cast<void*>(first_handle_ | ((number << kTurnBits | mark) << kZeroBits));
}

size_t BlockTable::NumberOfAddress(const void* address) const {
  const std::shared_lock<std::shared_mutex> lock(addresses_mutex_);
  const auto found = addresses_.find(address);
  return found == addresses_.end() ? 0 : found->second;
}

size_t BlockTable::TakeSlot() {
  if (!free_.empty()) {
    const size_t number = free_.back();
    free_.pop_back();
    return number;
  }
  if (used_ == kSlots) {
    throw Failure(kMXAccOutOfMemory, "no more than " + std::to_string(kSlots) + " blocks at once");
  }
  if (EntryAt(used_) == nullptr) {
    chunks_[used_ >> kChunkBits].store(new Entry[kChunk], std::memory_order_release);
  }
  return used_++;
}

void* BlockTable::Add(const Block& block) {
  const size_t number = TakeSlot();
  Entry* entry = EntryAt(number);
  void* handle = block.data;
  if (opaque_) {
    handle = OpaqueHandle(number, entry->turns);
  } else {
    const std::lock_guard<std::shared_mutex> lock(addresses_mutex_);
    addresses_[handle] = number;
  }
  ++entry->turns;
  entry->block = block;
  entry->handle.store(handle, std::memory_order_release);
  ++size_;
  return handle;
}

void BlockTable::Remove(const void* handle) {
  const size_t number = opaque_ ? NumberOf(handle) : NumberOfAddress(handle);
  Entry* entry = EntryAt(number);
  entry->handle.store(nullptr, std::memory_order_release);
  if (!opaque_) {
    const std::lock_guard<std::shared_mutex> lock(addresses_mutex_);
    addresses_.erase(handle);
  }
  // A slot that was taken kTurns times is not used again, as its handles would repeat.
  if (entry->turns < kTurns) free_.push_back(number);
  --size_;
}

bool BlockTable::WasFreed(const void* handle) const {
  const size_t number = NumberOf(handle);
  const Entry* entry = EntryAt(number);
  if (!opaque_ || entry == nullptr) return false;
  const size_t mark = reinterpret_cast<uintptr_t>(handle) >> kZeroBits;
  const size_t turn = (mark - number * kTurnStep) & (kTurns - 1);
  return handle == OpaqueHandle(number, turn) && turn < entry->turns && Find(handle) == nullptr;
}

}  // namespace refacc
