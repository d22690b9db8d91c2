/*!
 * \file stream.h
 * \brief Streams, events, and the commands that one call gives to a device.
 */
#ifndef OPENCL_STREAM_H_
#define OPENCL_STREAM_H_

#include <deque>
#include <mutex>
#include <vector>

#include "device.h"

namespace opencl {

/*! \brief A queue that works in order. Any thread may call. */
class Stream {
 public:
  explicit Stream(const Device& device)
      : context_(device.context()), queue_(MakeQueue(context_, device.id)) {}
  /*! \brief Waits for all work. */
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_.get(); }
  /*! \brief Keeps the events of a call's commands, so that Sync can report their errors with its
   * number. */
  void Keep(std::vector<Mark> events, uint64_t work);
  /*! \brief Waits until all is done; Failure for the first command that failed and was not reported
   * before. */
  void Sync();

 private:
  cl_context context_;
  Queue queue_;
  /*! \brief A command, and the number of the call that it is of. */
  struct Command {
    Mark event;
    uint64_t work;
  };
  void KeepFailure(const Command& command);

  std::mutex mutex_;
  std::vector<Command> commands_;
  std::deque<Failure> failures_;
};

/*! \brief A position in a stream. Any thread may call. */
class Event {
 public:
  explicit Event(const Device& device) : context_(device.context()) {}

  /*! \brief Marks the work that the stream has been given so far; nothing if it is NULL. */
  void Record(const Stream* stream);
  /*! \brief Has the stream wait; the calling thread where it is NULL. */
  void Wait(const Stream* stream) const;

 private:
  cl_context context_;
  mutable std::mutex mutex_;
  Mark mark_;
};

/*!
 * \brief The commands of one call: in a stream, or in the queue of calls without one.
 *
 * Where the call ends without Finish, by a Failure, the destructor waits for what it had begun.
 */
class Commands {
 public:
  /*! \brief work is what MXTensor::work says. */
  Commands(Device* device, Stream* stream, uint64_t work)
      : device_(device),
        stream_(stream),
        work_(work),
        queue_(stream != nullptr ? stream->queue() : device->queue()) {}
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  Device& device() const { return *device_; }
  cl_command_queue queue() const { return queue_; }
  /*! \brief Where the next command writes its event. */
  cl_event* NextEvent();
  /*! \brief Between memory of the host and elements of item bytes. */
  void Write(Location to, int64_t item, const char* from, size_t size);
  void Read(char* to, Location from, int64_t item, size_t size);
  void Zero(Location bytes, size_t size);
  /*! \brief Memory of the device, which the commands keep. */
  cl_mem MakeScratch(size_t size) {
    return scratch_.emplace_back(MakeBuffer(device_->context(), size)).get();
  }
  /*! \brief Host memory, freed with this object: the commands that use it have to be waited for
   * before. */
  char* MakeRoom(size_t size) { return rooms_.emplace_back(size).data(); }
  /*! \brief Runs a kernel for count work items, and some more that have nothing to do. */
  void Launch(cl_kernel kernel, int64_t count);
  /*! \brief Waits until these commands, and all before them in the stream, are done. */
  void Wait();
  /*! \brief Without a stream waits until all is done. */
  void Finish();

 private:
  std::vector<Mark> TakeEvents();

  Device* device_;
  Stream* stream_;
  uint64_t work_;
  cl_command_queue queue_;
  std::vector<cl_event> events_;
  std::deque<Buffer> scratch_;
  std::deque<std::vector<char>> rooms_;
};

}  // namespace opencl

#endif  // OPENCL_STREAM_H_
