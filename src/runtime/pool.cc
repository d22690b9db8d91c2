/*!
 * \file pool.cc
 * \brief Size-class free lists, one set a thread.
 */
#include "runtime/pool.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace mxnet {
namespace runtime {
namespace {

constexpr size_t kAlignment = 64;
/*! \brief Classes of 64 bytes up to 1 KiB, then powers of two up to kMaxPooled. */
constexpr size_t kFineLimit = 1024;
constexpr size_t kFineClasses = kFineLimit / kAlignment;
constexpr size_t kMaxPooled = size_t{64} << 10;
constexpr size_t kClasses = kFineClasses + 6;
/*! \brief What one class may keep on one thread. */
constexpr size_t kMaxKeptBytes = size_t{256} << 10;

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

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head;
  size_t count;
};

// Plain data, so that it is usable in every phase of a thread's life; initial-exec saves the call
// that finds a thread-local of a shared library.
#if defined(__GNUC__) && !defined(_WIN32)
#define MXNET_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define MXNET_TLS_INITIAL_EXEC
#endif
thread_local FreeList lists[kClasses] MXNET_TLS_INITIAL_EXEC;
thread_local bool cleanup_armed MXNET_TLS_INITIAL_EXEC = false;
thread_local bool thread_ended MXNET_TLS_INITIAL_EXEC = false;

/*! \brief Returns a thread's blocks when it ends. */
struct ThreadCleanup {
  /*! \brief The first use of a thread-local object registers its destructor. */
  void Arm() { armed_ = true; }
  ~ThreadCleanup() {
    thread_ended = true;
    for (FreeList& list : lists) {
      while (list.head != nullptr) {
        FreeBlock* next = list.head->next;
        std::free(list.head);
        list.head = next;
      }
      list.count = 0;
    }
  }

 private:
  bool armed_{false};
};
thread_local ThreadCleanup cleanup;

PoolBlock LargeBlock(size_t size, bool zeroed) {
  if (size > SIZE_MAX - kAlignment) return {nullptr, nullptr};
  // calloc knows which pages are fresh from the system and need no clearing.
  void* raw = zeroed ? std::calloc(1, size + kAlignment) : std::malloc(size + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(raw);
  return {raw, reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment)};
}

}  // namespace

PoolBlock PoolAlloc(size_t size, bool zeroed) {
  if (size > kMaxPooled) return LargeBlock(size, zeroed);
  const size_t index = ClassOf(size);
  FreeList& list = lists[index];
  void* raw = list.head;
  if (raw != nullptr) {
    list.head = list.head->next;
    --list.count;
  } else {
    raw = std::aligned_alloc(kAlignment, ClassSize(index));
    if (raw == nullptr) return {nullptr, nullptr};
  }
  if (zeroed) std::memset(raw, 0, size);
  return {raw, raw};
}

void PoolFree(void* raw, size_t size) {
  if (raw == nullptr) return;
  const size_t index = size > kMaxPooled ? 0 : ClassOf(size);
  if (size > kMaxPooled || thread_ended ||
      (lists[index].count + 1) * ClassSize(index) > kMaxKeptBytes) {
    std::free(raw);
    return;
  }
  if (!cleanup_armed) {
    cleanup_armed = true;
    cleanup.Arm();
  }
  auto* block = static_cast<FreeBlock*>(raw);
  block->next = lists[index].head;
  lists[index].head = block;
  ++lists[index].count;
}

}  // namespace runtime
}  // namespace mxnet
