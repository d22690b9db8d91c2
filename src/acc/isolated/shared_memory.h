/*!
 * \file shared_memory.h
 * \brief The memory that is shared with the process that serves a library.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_SHARED_MEMORY_H_
#define MXNET_SRC_ACC_ISOLATED_SHARED_MEMORY_H_

#include <cstddef>

namespace mxnet {
namespace acc {
namespace isolated {

/*!
 * \brief Bytes of a file without a name, as one of both processes sees them.
 *
 * Either process makes it larger, and the other sees that when it asks for as much. One thread
 * calls at a time. Failures are MemoryErrors.
 */
class SharedMemory {
 public:
  /*! \brief Maps the file, which has kSharedSize bytes at least; the descriptor stays open. */
  explicit SharedMemory(int file);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* data() const { return data_; }
  /*! \brief Makes size bytes usable; data() may be elsewhere afterwards. */
  char* Reserve(size_t size);
  /*! \brief Gives memory beyond kSharedSize back to the system; its content is lost. */
  void Trim() const;

 private:
  int file_;
  char* data_;
  size_t size_;
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_SHARED_MEMORY_H_
