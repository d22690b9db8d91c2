/*!
 * \file block_table.h
 * \brief The blocks of one device by their handles.
 */
#ifndef REFACC_BLOCK_TABLE_H_
#define REFACC_BLOCK_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "block.h"

namespace refacc {

/*!
 * \brief Blocks in numbered slots.
 *
 * A handle is the address of the block or, if opaque, an address that no processor has: the number
 * of the slot and how often that was taken, so that it is found without a lock and is never given
 * twice.
 *
 * Any thread may call Find; for all else the caller has a lock. A block that was found stays as it
 * is until it is removed, which a host must not have done meanwhile.
 */
class BlockTable {
 public:
  BlockTable(int32_t dev_id, bool opaque);
  ~BlockTable();
  BlockTable(const BlockTable&) = delete;
  BlockTable& operator=(const BlockTable&) = delete;

  /*! \brief The handle of a block; Failure where all slots and handles are used up. */
  void* Add(const Block& block);
  /*! \brief NULL where the handle is that of no block. */
  const Block* Find(const void* handle) const {
    const Entry* entry = EntryAt(opaque_ ? NumberOf(handle) : NumberOfAddress(handle));
    if (__builtin_expect(entry == nullptr, 0)) return nullptr;
    const void* here = entry->handle.load(std::memory_order_acquire);
    return here == handle && here != nullptr ? &entry->block : nullptr;
  }
  /*! \brief Takes out a block that Find finds. */
  void Remove(const void* handle);
  /*! \brief Visits each block, which is taken out then. */
  template <typename Visit>
  void RemoveAll(Visit&& visit) {
    for (size_t number = 0; number < used_; ++number) {
      Entry* entry = EntryAt(number);
      const void* handle = entry->handle.load(std::memory_order_relaxed);
      if (handle == nullptr) continue;
      Remove(handle);
      visit(entry->block);
    }
  }
  /*! \brief Whether an opaque handle was given, and is that of no block any more. */
  bool WasFreed(const void* handle) const;

  size_t size() const { return size_; }
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (size_t number = 0; number < used_; ++number) {
      const Entry* entry = EntryAt(number);
      if (entry->handle.load(std::memory_order_relaxed) != nullptr) visit(entry->block);
    }
  }

 private:
  // A handle is, from the lowest bit on: zeros, so that handle + offset is invalid; how often the
  // slot was taken; the number of the slot; the device.
  static constexpr int kZeroBits = 4;
  static constexpr int kTurnBits = 16;
  static constexpr int kNumberBits = 20;
  static constexpr int kChunkBits = 8;
  static constexpr size_t kSlots = size_t{1} << kNumberBits;
  static constexpr size_t kTurns = size_t{1} << kTurnBits;
  static constexpr size_t kChunk = size_t{1} << kChunkBits;

  struct Entry {
    std::atomic<void*> handle{nullptr}; /*!< NULL where there is no block */
    size_t turns{0};                    /*!< how often it was taken */
    Block block{};
  };

  static size_t NumberOf(const void* handle) {
    return (reinterpret_cast<uintptr_t>(handle) >> (kZeroBits + kTurnBits)) & (kSlots - 1);
  }
  /*! \brief The same where handles are addresses; of any slot where it is none. */
  size_t NumberOfAddress(const void* address) const;
  void* OpaqueHandle(size_t number, size_t turn) const;
  Entry* EntryAt(size_t number) const {
    Entry* chunk = chunks_[number >> kChunkBits].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + (number & (kChunk - 1));
  }
  size_t TakeSlot();

  const bool opaque_;
  const uintptr_t first_handle_;
  size_t size_{0};
  size_t used_{0};
  std::vector<size_t> free_; /*!< numbers of slots */
  std::atomic<Entry*> chunks_[kSlots >> kChunkBits]{};
  /*! \brief Of handles that are addresses: the numbers of their slots. */
  std::unordered_map<const void*, size_t> addresses_;
  mutable std::shared_mutex addresses_mutex_;
};

}  // namespace refacc

#endif  // REFACC_BLOCK_TABLE_H_
