/*!
 * \file stream.h
 * \brief Streams, events, and the work that one call gives to a device.
 */
#ifndef CUDAACC_STREAM_H_
#define CUDAACC_STREAM_H_

#include <atomic>
#include <deque>
#include <vector>

#include "device.h"
#include "kernels/element.h"

namespace cudaacc {

/*! \brief A CUDA stream, which works in order. Any thread may call whose current device is the
 * stream's. */
class Stream {
 public:
  explicit Stream(const Device&) : handle_(CreateStreamHandle()) {}
  /*! \brief Waits for all work. */
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  StreamHandle handle() const { return handle_; }
  void Sync() { Synchronize(handle_); }

 private:
  StreamHandle handle_;
};

/*! \brief A position in a stream. Any thread may call whose current device is the event's. */
class Event {
 public:
  explicit Event(const Device&) : handle_(CreateEventHandle()) {}
  ~Event() { DestroyEventHandle(handle_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /*! \brief Marks the work that the stream has been given so far; nothing if it is NULL. */
  void Record(const Stream* stream);
  /*! \brief Has the stream wait; the calling thread where it is NULL. */
  void Wait(const Stream* stream) const;

 private:
  EventHandle handle_;
  std::atomic<bool> marks_{false};
};

/*!
 * \brief The work of one call: in a stream, or in that of calls without one. The device is the
 * thread's.
 *
 * Where the call ends without Finish, by a Failure, the destructor waits for what it had begun.
 */
class Commands {
 public:
  /*! \brief The number is not used: CUDA does not say which work of a stream failed. */
  Commands(Device* device, Stream* stream, uint64_t)
      : device_(device),
        is_blocking_(stream == nullptr),
        stream_(is_blocking_ ? device->stream() : stream->handle()) {}
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  Device& device() const { return *device_; }
  StreamHandle stream() const { return stream_; }
  /*! \brief Between memory of the host and elements of item bytes. */
  void Write(Location to, int64_t item, const char* from, size_t size) {
    CopyBytes(AddressOf(to, item), from, size, stream_);
  }
  void Read(char* to, Location from, int64_t item, size_t size) {
    CopyBytes(to, AddressOf(from, item), size, stream_);
  }
  void Zero(Location bytes, size_t size) { ZeroBytes(AddressOf(bytes, 1), size, stream_); }
  /*! \brief Memory of the device for the work of this call. */
  void* MakeScratch(size_t size);
  /*! \brief Host memory, freed with this object: the work that uses it has to be waited for before.
   */
  char* MakeRoom(size_t size) { return rooms_.emplace_back(size).data(); }
  /*! \brief Waits until this work, and all before it in the stream, is done. */
  void Wait() { Synchronize(stream_); }
  /*! \brief Without a stream waits until all is done. */
  void Finish();

 private:
  Device* device_;
  const bool is_blocking_;
  StreamHandle stream_;
  bool is_finished_{false};
  std::vector<void*> scratch_;
  std::deque<std::vector<char>> rooms_;
};

}  // namespace cudaacc

#endif  // CUDAACC_STREAM_H_
