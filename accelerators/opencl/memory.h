/*!
 * \file memory.h
 * \brief The buffers that MXNet has allocated on one device.
 */
#ifndef OPENCL_MEMORY_H_
#define OPENCL_MEMORY_H_

#include "../sdk/operators/blocks.h"
#include "runtime.h"

namespace opencl {

/*! \brief A position in a buffer, in elements. */
struct Location {
  cl_mem buffer;
  int64_t first;
};

/*! \brief Any thread may call. A handle is the buffer's cl_mem. */
class Memory : public Blocks<Buffer> {
 public:
  void* Alloc(cl_context context, size_t size) {
    Buffer buffer = MakeBuffer(context, size);
    void* handle = buffer.get();
    Add(handle, std::move(buffer), size);
    return handle;
  }
  cl_mem Find(const MXAccDLTensor& tensor, const Span& span) const {
    return static_cast<cl_mem>(Blocks<Buffer>::Find(tensor, span));
  }
};

}  // namespace opencl

#endif  // OPENCL_MEMORY_H_
