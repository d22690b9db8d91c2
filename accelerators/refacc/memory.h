/*!
 * \file memory.h
 * \brief The memory of one device: guarded blocks behind handles.
 */
#ifndef REFACC_MEMORY_H_
#define REFACC_MEMORY_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include "block.h"
#include "block_table.h"
#include "sdk.h"
#include "settings.h"

namespace refacc {

/*! \brief What lies in the memory of a device, and what was done wrong with it. */
struct MemoryState {
  uint64_t live; /*!< blocks */
  uint64_t bytes;
  uint64_t peak_bytes;
  uint64_t violations;
  std::string violation; /*!< the last one */
};

/*! \brief The blocks of one device, and what they are used for. Any thread may call. */
class Memory {
 public:
  Memory(int32_t dev_id, bool opaque) : dev_id_(dev_id), blocks_(dev_id, opaque) {}
  ~Memory() { ReleaseAll(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /*! \brief New memory; Failure where the limit of the settings would be passed. */
  void* Alloc(size_t size, size_t alignment, const Settings& settings);
  /*! \brief Frees a block. What is found wrong is a violation, and its text is returned. */
  std::string Free(void* handle, bool poison);
  /*! \brief Frees all; how many there were. */
  size_t ReleaseAll();

  /*!
   * \brief The address of the first element of a tensor; NULL where it has no elements.
   *
   * Failure, and a violation, where its handle is none of living memory of the device, or where one
   * of its elements lies outside that.
   */
  char* AddressOf(const MXAccDLTensor& tensor) { return AddressOf(tensor, SpanOf(tensor)); }
  /*! \brief The same for a tensor whose span, from a byte_offset of 0, is known. */
  char* AddressFrom(const MXAccDLTensor& tensor, Span span) {
    if (span.empty()) return nullptr;
    const Block* block = blocks_.Find(tensor.data);
    const uint64_t offset = tensor.byte_offset;
    // Compares without adding, which could overflow; first is never above 0, and last never below.
    const bool right = block != nullptr && IsHere(tensor) && offset <= block->size &&
                       static_cast<uint64_t>(span.last) <= block->size - offset &&
                       -static_cast<uint64_t>(span.first) <= offset;
    return __builtin_expect(right, 1) ? block->data + offset : AddressOf(tensor);
  }
  /*! \brief Zeroes bytes of a block; what is wrong with that is a Failure, and a violation. */
  void Zero(const void* handle, uint64_t byte_offset, size_t size) {
    const Block* block = blocks_.Find(handle);
    const bool right = block != nullptr && size != 0 && byte_offset <= block->size &&
                       size <= block->size - byte_offset;
    if (__builtin_expect(!right, 0)) ViolateZero(handle, byte_offset, size);
    std::memset(block->data + byte_offset, 0, size);
  }
  /*! \brief Failure, and a violation, where something was written beside a tensor's block. */
  void CheckZones(const MXAccDLTensor& tensor) {
    const Block* block = blocks_.Find(tensor.data);
    if (block != nullptr && IsDamaged(*block)) Violate(DamageText(*block));
  }
  /*! \brief The same for all blocks. */
  void CheckAllZones();

  MemoryState state() const;
  /*! \brief Counts a violation and throws it. */
  [[noreturn]] void Violate(const std::string& message);

 private:
  bool IsHere(const MXAccDLTensor& tensor) const {
    return tensor.device.device_type != kMXAccHost && tensor.device.device_id == dev_id_;
  }
  char* AddressOf(const MXAccDLTensor& tensor, Span span);
  [[noreturn, gnu::cold]] void ViolateZero(const void* handle, uint64_t byte_offset, size_t size);
  std::string DamageText(const Block& block) const;
  /*! \brief Under the lock. */
  std::string UnknownText(const void* handle) const;
  void Count(const std::string& violation);

  const int32_t dev_id_;
  /*! \brief Held by everything that changes blocks_, but not by lookups. */
  mutable std::mutex mutex_;
  BlockTable blocks_;
  uint64_t bytes_{0};
  uint64_t peak_bytes_{0};
  mutable std::mutex violations_mutex_;
  uint64_t violations_{0};
  std::string violation_;
};

}  // namespace refacc

#endif  // REFACC_MEMORY_H_
