/*!
 * \file stream.h
 * \brief Streams, each a thread that does what it is given in order, and events.
 */
#ifndef REFACC_STREAM_H_
#define REFACC_STREAM_H_

#include <mxnet_acc.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "sdk.h"

namespace refacc {

/*! \brief Work of one stream. Any thread may call. */
class Stream {
 public:
  Stream() : thread_([this] { Work(); }) {}
  /*! \brief Waits for all work. */
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /*! \brief Adds work; what it throws is kept for Tell, with the number of the work. */
  void Add(uint64_t number, std::function<void()> work);
  /*! \brief Waits until all is done that was added so far. */
  void Wait();
  /*! \brief Throws the first Failure that was not told; unless named the rest is forgotten. */
  void Tell(bool named);

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Item {
    uint64_t number;
    std::function<void()> work;
  };
  std::deque<Item> queue_;
  uint64_t added_{0};
  uint64_t done_{0};
  bool ending_{false};
  std::deque<Failure> failures_;
  std::thread thread_;
};

/*! \brief A position in a stream. What waits for it keeps its state, so that the event may go
 * before.
 */
class Event {
 public:
  void Record(Stream* stream);
  /*! \brief Has the stream wait for the last Record; the calling thread where stream is NULL. */
  void Wait(Stream* stream) const;

 private:
  struct Mark;
  std::shared_ptr<Mark> mark_;
  mutable std::mutex mutex_;
};

inline Stream* FromHandle(MXAccStream stream) { return reinterpret_cast<Stream*>(stream); }
inline Event* FromHandle(MXAccEvent event) { return reinterpret_cast<Event*>(event); }

}  // namespace refacc

#endif  // REFACC_STREAM_H_
