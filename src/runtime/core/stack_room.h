/*!
 * \file stack_room.h
 * \brief Whether the calling thread's stack has room for one more level of a recursion.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_STACK_ROOM_H_
#define MXNET_SRC_RUNTIME_CORE_STACK_ROOM_H_

#include <stddef.h>
#include <stdint.h>
#if defined(__linux__)
#include <pthread.h>
#endif

#include "runtime/core/tls.h"

namespace mxnet {
namespace runtime {

/*! \brief Where the stack of a thread ends, and how far before that it counts as full. */
struct StackEnd {
  uintptr_t lowest;
  uintptr_t margin;
  bool is_known; /*!< false while it is a guess, beyond which the system is asked */
};

/*! \brief Asks the system, once a thread; where it does not know, the stack never counts as full.
 */
[[gnu::cold, gnu::noinline]] inline StackEnd FindStackEnd() noexcept {
  StackEnd end{0, 0, true};
#if defined(__linux__)
  // Room for what the last level calls, and for making the error.
  constexpr size_t kMargin = size_t{128} << 10;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return end;
  if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    end = {reinterpret_cast<uintptr_t>(lowest), size / 4 < kMargin ? size / 4 : kMargin, true};
  }
  pthread_attr_destroy(&attributes);
#endif
  return end;
}

/*! \brief Whether there is room at an address within the margin of a stack. */
[[gnu::cold, gnu::noinline]] inline bool FindStackRoom(StackEnd* end, uintptr_t here) noexcept {
  // Every stack has room for this; most threads never go further, and asking takes a while.
  constexpr uintptr_t kSurelyFree = uintptr_t{16} << 10;
  constexpr uintptr_t kWatched = uintptr_t{1} << 20;
  if (end->is_known) return false;
  if (end->margin == UINTPTR_MAX) {
    *end = {here - kWatched, kWatched - kSurelyFree, false};
    return true;
  }
  *end = FindStackEnd();
  return here - end->lowest >= end->margin;
}

/*! \brief An address in the caller's frame, without having it keep a frame pointer. */
inline uintptr_t StackPointer() noexcept {
#if defined(__x86_64__)
  uintptr_t here;
  asm volatile("mov %%rsp, %0" : "=r"(here));
  return here;
#elif defined(__aarch64__)
  uintptr_t here;
  asm volatile("mov %0, sp" : "=r"(here));
  return here;
#else
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#endif
}

/*!
 * \brief False near the end of the calling thread's stack.
 *
 * On stacks that the system did not make, as those of coroutines, it is always true.
 */
inline bool HasStackRoom() noexcept {
  // The first margin is above every address, so that the first call sets another.
  static __thread StackEnd end MXNET_TLS_INITIAL_EXEC = {0, UINTPTR_MAX, false};
  const uintptr_t here = StackPointer();
  if (__builtin_expect(here - end.lowest >= end.margin, 1)) return true;
  return FindStackRoom(&end, here);
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_STACK_ROOM_H_
