#include "stream.h"

#include <utility>

#include "fault.h"

namespace planted {

using mxacc::Failure;

Stream::~Stream() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    if (Has("destroying drops work")) queue_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::Add(std::function<void()> work, uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back({std::move(work), number});
  changed_.notify_all();
}

void Stream::Sync() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!Has("early sync")) changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
  if (failures_.empty()) return;
  const WorkFailure first = failures_.front();
  failures_.pop_front();
  throw first;
}

Stream::Item Stream::Next() {
  const bool last = Has("last in, first out");
  Item item = std::move(last ? queue_.back() : queue_.front());
  last ? queue_.pop_back() : queue_.pop_front();
  return item;
}

void Stream::Keep(const WorkFailure& failure) {
  if (Has("only the first error") && !failures_.empty()) return;
  failures_.push_back(failure);
  if (Has("errors of other work")) failures_.back().number = last_;
}

void Stream::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    busy_ = true;
    const Item item = Next();
    lock.unlock();
    const MXAccStatus status = mxacc::StatusOf(item.work);
    lock.lock();
    if (Has("lost errors") && item.number != 0) failures_.clear();  // the last work's alone
    if (status != nullptr) Keep({Failure(status->code, status->message), item.number});
    if (item.number != 0) last_ = item.number;
    busy_ = false;
    changed_.notify_all();
  }
}

struct Event::Mark {
  std::mutex mutex;
  std::condition_variable changed;
  bool passed = false;

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return passed; });
  }
  void Pass() {
    const std::lock_guard<std::mutex> lock(mutex);
    passed = true;
    changed.notify_all();
  }
};

void Event::Record(Stream* stream) {
  auto mark = std::make_shared<Mark>();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (mark_ != nullptr && Has("recorded once")) return;
    mark_ = mark;
  }
  stream->Add([mark] { mark->Pass(); });
}

void Event::Wait(Stream* stream) const {
  std::shared_ptr<Mark> mark;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    mark = mark_;
  }
  if (mark == nullptr || Has("waitEvent does nothing")) return;
  if (stream == nullptr) return mark->Wait();
  if (stream->dev_id != dev_id_ && Has("events of another device")) return;
  stream->Add([mark] { mark->Wait(); });
}

void Give(MXAccStream stream, uint64_t number, std::function<void()> work) {
  if (stream == nullptr) return work();
  FromHandle(stream)->Add(std::move(work), number);
}

}  // namespace planted
