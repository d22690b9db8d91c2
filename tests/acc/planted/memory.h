/*!
 * \file memory.h
 * \brief The memory of one device, behind handles that are no addresses.
 */
#ifndef PLANTED_MEMORY_H_
#define PLANTED_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "accelerators/sdk/tensor.h"

namespace planted {

/*! \brief Any thread may call. */
class Memory {
 public:
  static constexpr uint64_t kTotal = uint64_t{256} << 20;

  explicit Memory(int32_t dev_id) : next_((static_cast<uintptr_t>(dev_id) + 1) << 40) {}

  void* Alloc(size_t size, size_t alignment);
  void Free(void* handle);
  /*! \brief How many there were. */
  size_t ReleaseAll();
  uint64_t used() const;

  /*! \brief Where memory begins; Failure where the tensor does not lie within it, NULL where it has
   * no elements. */
  char* Begin(const MXAccDLTensor& tensor) const;
  /*! \brief The same for bytes of a handle. */
  char* Begin(void* handle, uint64_t end) const;

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    char* begin;
    size_t size;
  };
  std::unique_lock<std::mutex> Lock() const;

  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
  uintptr_t next_;
  uint64_t used_{0};
};

}  // namespace planted

#endif  // PLANTED_MEMORY_H_
