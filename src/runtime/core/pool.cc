/*!
 * \file pool.cc
 * \brief Size-class free lists, one set a thread.
 */
#include "runtime/core/pool.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/core/error_state.h"
#include "runtime/core/thread_end.h"

namespace mxnet {
namespace runtime {

namespace pool {
__thread Lists lists MXNET_TLS_INITIAL_EXEC;
}  // namespace pool

namespace {

using pool::FreeBlock;
using pool::FreeList;
using pool::kAlignment;
using pool::kFineClasses;
using pool::kFineLimit;
using pool::kMaxPooled;
using pool::lists;

__thread bool is_known MXNET_TLS_INITIAL_EXEC = false;

size_t ClassOf(size_t size) {
  if (size <= kFineLimit) return size == 0 ? 0 : (size - 1) / kAlignment;
  size_t index = kFineClasses;
  for (size_t limit = 2 * kFineLimit; limit < size; limit *= 2) ++index;
  return index;
}

size_t ClassSize(size_t index) {
  if (index < kFineClasses) return (index + 1) * kAlignment;
  return kFineLimit << (index - kFineClasses + 1);
}

/*! \brief Returns a thread's blocks when it ends. */
void FreeLists(void*) {
  lists.accepts = false;
  for (FreeList& list : lists.of) {
    while (list.head != nullptr) {
      FreeBlock* next = list.head->next;
      std::free(list.head);
      list.head = next;
    }
    list.kept = 0;
  }
}

/*! \brief Lets the lists keep blocks from now on; not again once the thread has cleaned up. */
void AcceptBlocks() {
  if (is_known) return;
  is_known = true;
  static const ThreadEnd end(&FreeLists);
  lists.accepts = end.Ask(&lists);
}

/*! \brief From this size on, touching fresh pages of the usual size takes longer than operators. */
constexpr size_t kHugeLimit = size_t{4} << 20;

void AskForHugePages(uintptr_t address, size_t size) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kPage = 4096;
  const uintptr_t first = (address + kPage - 1) / kPage * kPage;
  // Only advice: where the system ignores it, the pages have the usual size.
  (void)madvise(reinterpret_cast<void*>(first), address + size - first, MADV_HUGEPAGE);
#endif
}

PoolBlock LargeBlock(size_t size, bool zeroed) {
  if (size > SIZE_MAX - kAlignment) return {nullptr, nullptr};
  // calloc knows which pages are fresh from the system and need no clearing.
  void* raw = zeroed ? std::calloc(1, size + kAlignment) : std::malloc(size + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(raw);
  if (raw != nullptr && size >= kHugeLimit) AskForHugePages(address, size);
  return {raw, reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment)};
}

}  // namespace

PoolBlock PoolAlloc(size_t size, bool zeroed) {
  if (size > kMaxPooled) return LargeBlock(size, zeroed);
  const size_t index = ClassOf(size);
  FreeList& list = lists.of[index];
  void* raw = list.head;
  if (raw != nullptr) {
    list.head = list.head->next;
    list.kept -= ClassSize(index);
  } else {
    raw = std::aligned_alloc(kAlignment, ClassSize(index));
    if (raw == nullptr) return {nullptr, nullptr};
    PrepareThread();
  }
  if (zeroed) std::memset(raw, 0, size);
  return {raw, raw};
}

void PoolFree(void* raw, size_t size) {
  if (raw == nullptr) return;
  AcceptBlocks();
  const size_t index = size > kMaxPooled ? 0 : ClassOf(size);
  if (size > kMaxPooled || !lists.accepts || lists.of[index].kept >= pool::kMaxKeptBytes) {
    std::free(raw);
    return;
  }
  auto* block = static_cast<FreeBlock*>(raw);
  block->next = lists.of[index].head;
  lists.of[index].head = block;
  lists.of[index].kept += ClassSize(index);
}

}  // namespace runtime
}  // namespace mxnet
