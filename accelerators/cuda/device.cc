#include "device.h"

namespace cudaacc {

Device::~Device() {
  blas_.reset();
  dnn_.reset();
  if (is_in_use()) DestroyStreamHandle(stream_.load());
}

StreamHandle Device::stream() {
  StreamHandle stream = stream_.load(std::memory_order_acquire);
  if (stream != nullptr) return stream;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stream_.load() == nullptr) stream_.store(CreateStreamHandle(), std::memory_order_release);
  return stream_.load();
}

}  // namespace cudaacc
