/*!
 * \file memory.h
 * \brief The buffers that MXNet has allocated on one device.
 */
#ifndef OPENCL_MEMORY_H_
#define OPENCL_MEMORY_H_

#include <cstdint>
#include <shared_mutex>
#include <unordered_map>

#include "runtime.h"

namespace opencl {

/*! \brief Any thread may call. A handle is the buffer's cl_mem. */
class Memory {
 public:
  void* Alloc(cl_context context, size_t size);
  /*! \brief False where it is no buffer of this device. */
  bool Free(void* handle);
  /*! \brief Frees all; how many there were. */
  size_t ReleaseAll();
  /*! \brief Bytes that are allocated. */
  uint64_t used() const;

  /*!
   * \brief The buffer of a tensor whose elements lie in the bytes of span, counted from its
   * byte_offset; NULL where there are none. Failure where that is no memory of this device's, or
   * the tensor is not inside it.
   */
  cl_mem Find(const MXAccGeometry& tensor, const Span& span) const;

 private:
  struct Block {
    Buffer buffer;
    size_t size;
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  uint64_t used_{0};
};

}  // namespace opencl

#endif  // OPENCL_MEMORY_H_
