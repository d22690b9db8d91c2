#include "stream.h"

namespace cudaacc {
namespace {

/*! \brief Whoever waits next is told what failed. */
void WaitQuietly(StreamHandle stream) {
  try {
    Synchronize(stream);
  } catch (const Failure&) {
  }
}

}  // namespace

Stream::~Stream() {
  WaitQuietly(handle_);
  DestroyStreamHandle(handle_);
}

void Event::Record(const Stream* stream) {
  if (stream != nullptr) cudaacc::Record(handle_, stream->handle());
  marks_ = stream != nullptr;
}

void Event::Wait(const Stream* stream) const {
  if (!marks_) return;
  if (stream == nullptr) return WaitFor(handle_);
  WaitFor(handle_, stream->handle());
}

Commands::~Commands() {
  if (!is_finished_) WaitQuietly(stream_);
  for (void* data : scratch_) ReleaseInOrder(data, stream_, device_->traits.has_pools);
}

void* Commands::MakeScratch(size_t size) {
  scratch_.reserve(scratch_.size() + 1);
  void* data = AllocateInOrder(size, stream_, device_->traits.has_pools);
  scratch_.push_back(data);
  return data;
}

void Commands::Finish() {
  if (is_blocking_) Wait();
  is_finished_ = true;
}

}  // namespace cudaacc
