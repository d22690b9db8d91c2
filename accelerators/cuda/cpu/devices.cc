/*!
 * \file devices.cc
 * \brief Devices of the tests: the CPU, which does all that kernels do, thread by thread.
 *
 * A stream does nothing before somebody waits for it, so that what must not be relied on shows.
 * With CUDAACC_CPU_EAGER in the environment it does all at once, for libraries that know no such
 * streams.
 */
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "../runtime.h"

struct CUstream_st {
  std::deque<std::function<void()>> work;
  uint64_t given = 0;
  uint64_t done = 0;
};

struct CUevent_st {
  CUstream_st* stream = nullptr;
  uint64_t mark = 0;
};

namespace cudaacc {
namespace {

constexpr int kDevices = 2;
constexpr uint64_t kMemory = 1ull << 36;
/*! \brief Fills new and freed memory: as a float, NaN.
 */
constexpr int kNothing = 0xFF;

/*! \brief Work of one stream may wait for another's, on the same thread. */
std::recursive_mutex mutex;
thread_local int current_device = 0;

void RunUntil(CUstream_st* stream, uint64_t mark) {
  while (stream->done < mark) {
    const std::function<void()> work = std::move(stream->work.front());
    stream->work.pop_front();
    stream->done += 1;
    work();
  }
}

}  // namespace

int CountDevices() { return kDevices; }

DeviceTraits TraitsOf(int device) {
  return {"the CPU as device " + std::to_string(device), "none", "", 9, 0, kMemory, true};
}

bool AreGpus() { return false; }

OnDeviceOf::OnDeviceOf(int device) : before_(std::exchange(current_device, device)) {}
OnDeviceOf::~OnDeviceOf() { current_device = before_; }

uint64_t FreeMemory() { return kMemory; }

void* Allocate(size_t size) {
  void* data = size > kMemory ? nullptr
                              : std::aligned_alloc(
                                    kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (data == nullptr) throw Failure(kMXAccOutOfMemory, "cudaMalloc: out of memory");
  std::memset(data, kNothing, size);
  return data;
}

void Release(void* data) {
  if (data != nullptr) std::memset(data, kNothing, malloc_usable_size(data));
  std::free(data);
}

void* AllocateInOrder(size_t size, StreamHandle, bool) { return Allocate(size); }

void ReleaseInOrder(void* data, StreamHandle stream, bool) {
  RunOnHost(stream, [data] { Release(data); });
}

StreamHandle CreateStreamHandle() { return new CUstream_st(); }

void DestroyStreamHandle(StreamHandle stream) { delete stream; }

void Synchronize(StreamHandle stream) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  RunUntil(stream, stream->given);
}

EventHandle CreateEventHandle() { return new CUevent_st(); }

void DestroyEventHandle(EventHandle event) { delete event; }

void Record(EventHandle event, StreamHandle stream) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  *event = {stream, stream->given};
}

void WaitFor(EventHandle event) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  RunUntil(event->stream, event->mark);
}

void WaitFor(EventHandle event, StreamHandle stream) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  RunOnHost(stream, [marked = *event] { RunUntil(marked.stream, marked.mark); });
}

void CopyBytes(void* to, const void* from, size_t size, StreamHandle stream) {
  RunOnHost(stream, [=] { std::memcpy(to, from, size); });
}

void ZeroBytes(void* data, size_t size, StreamHandle stream) {
  RunOnHost(stream, [=] { std::memset(data, 0, size); });
}

void RunOnHost(StreamHandle stream, std::function<void()> work) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  stream->work.push_back(std::move(work));
  stream->given += 1;
  if (std::getenv("CUDAACC_CPU_EAGER") != nullptr) RunUntil(stream, stream->given);
}

}  // namespace cudaacc
