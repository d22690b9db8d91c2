/*!
 * \file host_memory.h
 * \brief Memory of the host for the arrays of a device that computes there.
 */
#ifndef MXACC_SDK_HOST_MEMORY_H_
#define MXACC_SDK_HOST_MEMORY_H_

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace mxacc {

/*!
 * \brief For std::free; NULL where there is none. `alignment` is a power of two.
 *
 * Much of it is asked for in huge pages, as the host's own arrays are: those of the usual size take
 * a tenth longer to be copied, as the processor looks up each.
 */
inline void* NewHostMemory(size_t size, size_t alignment) {
  constexpr size_t kHugePage = size_t{2} << 20;
  constexpr size_t kMuch = 2 * kHugePage;
  const size_t least = size < kMuch ? sizeof(void*) : kHugePage;
  void* data = nullptr;
  if (posix_memalign(&data, std::max(alignment, least), size) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
  // Only advice: where the system ignores it, the pages have the usual size.
  if (size >= kMuch) (void)madvise(data, size / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return data;
}

}  // namespace mxacc

#endif  // MXACC_SDK_HOST_MEMORY_H_
