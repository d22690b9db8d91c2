/*!
 * \file blocks.h
 * \brief The memory that MXNet has allocated on one device.
 */
#ifndef MXACC_SDK_OPERATORS_BLOCKS_H_
#define MXACC_SDK_OPERATORS_BLOCKS_H_

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "../status.h"
#include "../tensor.h"

namespace mxacc {

/*! \brief Buffers, which free themselves, by handle. Any thread may call. */
template <typename Buffer>
class Blocks {
 public:
  void Add(void* handle, Buffer buffer, size_t size) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    blocks_.emplace(handle, Block{std::move(buffer), size});
    used_ += size;
  }
  /*! \brief False where it is no memory of this device. */
  bool Free(void* handle) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = blocks_.find(handle);
    if (found == blocks_.end()) return false;
    used_ -= found->second.size;
    blocks_.erase(found);
    return true;
  }
  /*! \brief Frees all; how many there were. */
  size_t ReleaseAll() {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const size_t count = blocks_.size();
    blocks_.clear();
    used_ = 0;
    return count;
  }
  /*! \brief How many there are. */
  size_t size() const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    return blocks_.size();
  }
  /*! \brief Bytes that are allocated. */
  uint64_t used() const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    return used_;
  }
  /*!
   * \brief The handle of a tensor whose elements lie in the bytes of span, counted from its
   * byte_offset; NULL where there are none. Failure where that is no memory of this device's, or
   * the tensor is not inside it.
   */
  void* Find(const MXAccDLTensor& tensor, const Span& span) const {
    if (span.empty()) return nullptr;
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto found = blocks_.find(tensor.data);
    if (found == blocks_.end()) {
      throw Failure(kMXAccBadArgument, "a tensor is not in living memory of the device");
    }
    if (!span.from(tensor.byte_offset).lies_in(found->second.size)) {
      throw Failure(kMXAccBadArgument, SpecText(tensor) + " at byte " +
                                           std::to_string(tensor.byte_offset) +
                                           " reaches beyond its memory of " +
                                           std::to_string(found->second.size) + " bytes");
    }
    if (tensor.byte_offset % static_cast<uint64_t>(ItemSize(tensor.dtype)) != 0) {
      throw Failure(kMXAccBadArgument, "a byte_offset that is no multiple of the element's size");
    }
    return tensor.data;
  }

 private:
  struct Block {
    Buffer buffer;
    size_t size;
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  uint64_t used_{0};
};

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_BLOCKS_H_
