/*!
 * \file memory.h
 * \brief The memory of one device: guarded blocks behind handles.
 */
#ifndef REFACC_MEMORY_H_
#define REFACC_MEMORY_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "block.h"
#include "common.h"
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

/*! \brief Tensors whose spans from a byte_offset of 0 are known. */
struct Located {
  const MXTensor* tensors;
  const Span* spans;
  int32_t count;
};

/*!
 * \brief The blocks of one device. Any thread may call.
 *
 * A handle is the address of the block or, if opaque, an address that no processor has and that is
 * never given twice.
 */
class Memory {
 public:
  Memory(int32_t dev_id, bool opaque) : dev_id_(dev_id), opaque_(opaque) {}
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
  char* AddressOf(const MXAccGeometry& tensor);
  /*! \brief The same for several, one behind the other, under one lock. */
  void AddressesOf(const Located* groups, int num_groups, char** addresses);
  /*! \brief Failure, and a violation, where something was written beside the tensors' blocks. */
  void CheckZones(const MXTensor* tensors, int32_t count);
  void CheckZones(const MXAccGeometry& tensor);
  /*! \brief The same for all blocks. */
  void CheckAllZones();

  MemoryState state() const;
  /*! \brief Counts a violation and throws it. */
  [[noreturn]] void Violate(const std::string& message);

 private:
  /*! \brief Under the lock; NULL where something is wrong, which it says. */
  char* Locate(const MXAccGeometry& tensor, Span span, std::string* wrong) const;
  std::string DamageText(const Block& block) const;
  std::string UnknownText(const void* handle) const;
  void Count(const std::string& violation);

  const int32_t dev_id_;
  const bool opaque_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  uint64_t given_{0};
  uint64_t bytes_{0};
  uint64_t peak_bytes_{0};
  mutable std::mutex violations_mutex_;
  uint64_t violations_{0};
  std::string violation_;
};

}  // namespace refacc

#endif  // REFACC_MEMORY_H_
