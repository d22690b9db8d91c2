/*!
 * \file stream.h
 * \brief Streams, each with a thread, and events.
 */
#ifndef PLANTED_STREAM_H_
#define PLANTED_STREAM_H_

#include <mxnet_acc.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "accelerators/sdk/status.h"

namespace planted {

/*! \brief Work that failed, and its number. */
struct WorkFailure {
  mxacc::Failure failure;
  uint64_t number;
};

/*! \brief Any thread may call. */
class Stream {
 public:
  explicit Stream(int32_t device) : dev_id(device), thread_([this] { Work(); }) {}
  /*! \brief Waits for all work. */
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Add(std::function<void()> work, uint64_t number = 0);
  /*! \brief Waits for all work; throws the first WorkFailure that was not thrown before. */
  void Sync();

  const int32_t dev_id;

 private:
  struct Item {
    std::function<void()> work;
    uint64_t number;
  };
  void Work();
  Item Next();
  void Keep(const WorkFailure& failure);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool busy_{false};
  bool ending_{false};
  std::deque<WorkFailure> failures_;
  uint64_t last_{0};
  std::thread thread_;
};

class Event {
 public:
  explicit Event(int32_t device) : dev_id_(device) {}
  void Record(Stream* stream);
  /*! \brief Has the stream wait; the calling thread where it is NULL. */
  void Wait(Stream* stream) const;

 private:
  struct Mark;
  const int32_t dev_id_;
  mutable std::mutex mutex_;
  std::shared_ptr<Mark> mark_;
};

inline Stream* FromHandle(MXAccStream stream) { return reinterpret_cast<Stream*>(stream); }
inline Event* FromHandle(MXAccEvent event) { return reinterpret_cast<Event*>(event); }

/*! \brief Does the work now, or in its turn. */
void Give(MXAccStream stream, uint64_t number, std::function<void()> work);

}  // namespace planted

#endif  // PLANTED_STREAM_H_
