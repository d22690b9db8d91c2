/*!
 * \file shared_memory.cc
 * \brief Maps the shared memory, and makes it larger.
 */
#include "acc/isolated/shared_memory.h"

#include <fcntl.h>
#include <mxnet/runtime/error.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "acc/isolated/message.h"

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

[[noreturn]] void ThrowErrno(size_t size) {
  MXNET_THROW("MemoryError") << "there are no " << size
                             << " bytes of shared memory: " << std::strerror(errno);
}

}  // namespace

SharedMemory::SharedMemory(int file) : file_(file), size_(kSharedSize) {
  void* data = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (data == MAP_FAILED) ThrowErrno(size_);
  data_ = static_cast<char*>(data);
}

SharedMemory::~SharedMemory() { munmap(data_, size_); }

char* SharedMemory::Reserve(size_t size) {
  if (size <= size_) return data_;
  struct stat status;
  if (fstat(file_, &status) != 0) ThrowErrno(size);
  if (static_cast<size_t>(status.st_size) < size &&
      ftruncate(file_, static_cast<off_t>(size)) != 0) {
    ThrowErrno(size);
  }
  void* moved = mremap(data_, size_, size, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) ThrowErrno(size);
  data_ = static_cast<char*>(moved);
  size_ = size;
  return data_;
}

void SharedMemory::Trim() const {
  if (size_ == kSharedSize) return;
  // Where that is not possible the memory is kept, and used again.
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kSharedSize,
            static_cast<off_t>(size_ - kSharedSize));
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
