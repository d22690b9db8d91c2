/*!
 * \file pool.h
 * \brief Pooled, 64-byte aligned memory for array headers and elements.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_POOL_H_
#define MXNET_SRC_RUNTIME_CORE_POOL_H_

#include <cstddef>

#include "runtime/core/tls.h"

namespace mxnet {
namespace runtime {

/*! \brief Memory of the pool: raw is what PoolFree takes, data is raw aligned to 64 bytes. */
struct PoolBlock {
  void* raw;
  void* data;
};

/*!
 * \brief At least size bytes; raw is nullptr where there is no memory.
 *
 * Small blocks come from lists of the calling thread and need no lock. A block may be freed on
 * another thread, whose lists it then joins. Large zeroed blocks get their pages on first touch.
 */
PoolBlock PoolAlloc(size_t size, bool zeroed);

/*! \brief Returns a block; size is the one it was asked with. */
void PoolFree(void* raw, size_t size);

namespace pool {

constexpr size_t kAlignment = 64;
/*! \brief Classes of 64 bytes up to 1 KiB, then powers of two up to kMaxPooled. */
constexpr size_t kFineLimit = 1024;
constexpr size_t kFineClasses = kFineLimit / kAlignment;
constexpr size_t kMaxPooled = size_t{64} << 10;
constexpr size_t kClasses = kFineClasses + 6;
/*! \brief What one class may keep on one thread. */
constexpr size_t kMaxKeptBytes = size_t{256} << 10;

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head;
  size_t kept; /*!< bytes */
};

/*! \brief The calling thread's lists; plain data, usable in every phase of a thread's life. */
struct Lists {
  FreeList of[kClasses];
  bool accepts; /*!< whether blocks may be kept: the thread has its clean-up and has not ended */
};
extern __thread Lists lists MXNET_TLS_INITIAL_EXEC;

}  // namespace pool

/*! \brief A block of at most kFineLimit bytes from the calling thread's list, if it has one. */
inline void* PoolTakeSmall(size_t size) {
  pool::FreeList& list = pool::lists.of[(size - 1) / pool::kAlignment];
  pool::FreeBlock* block = list.head;
  if (block == nullptr) return nullptr;
  list.head = block->next;
  list.kept -= (size + pool::kAlignment - 1) / pool::kAlignment * pool::kAlignment;
  return block;
}

/*! \brief Gives a block of at most kFineLimit bytes to the calling thread's list, if it may. */
inline bool PoolKeepSmall(void* raw, size_t size) {
  pool::FreeList& list = pool::lists.of[(size - 1) / pool::kAlignment];
  if (!pool::lists.accepts || list.kept >= pool::kMaxKeptBytes) return false;
  auto* block = static_cast<pool::FreeBlock*>(raw);
  block->next = list.head;
  list.head = block;
  list.kept += (size + pool::kAlignment - 1) / pool::kAlignment * pool::kAlignment;
  return true;
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_POOL_H_
