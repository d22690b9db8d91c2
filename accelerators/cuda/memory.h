/*!
 * \file memory.h
 * \brief The memory that MXNet has allocated on one device.
 */
#ifndef CUDAACC_MEMORY_H_
#define CUDAACC_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "../sdk/operators/blocks.h"
#include "runtime.h"

namespace cudaacc {

struct Releaser {
  void operator()(void* data) const { Release(data); }
};
using Buffer = std::unique_ptr<void, Releaser>;

/*! \brief Any thread may call. A handle is an address on the device. */
class Memory : public Blocks<Buffer> {
 public:
  /*! \brief Of the thread's device. */
  void* Alloc(size_t size, size_t alignment) {
    const size_t more = alignment > kAlignment ? alignment : 0;
    if (size + more < size) throw Failure(kMXAccOutOfMemory, "more bytes than there are numbers");
    Buffer buffer(Allocate(size + more));
    auto address = reinterpret_cast<uintptr_t>(buffer.get());
    if (more != 0) address = (address + alignment - 1) / alignment * alignment;
    auto* handle = reinterpret_cast<void*>(address);
    Add(handle, std::move(buffer), size);
    return handle;
  }
};

}  // namespace cudaacc

#endif  // CUDAACC_MEMORY_H_
