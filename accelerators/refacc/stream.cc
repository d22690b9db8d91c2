#include "stream.h"

#include <optional>
#include <utility>

namespace refacc {

Stream::~Stream() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::Add(uint64_t number, std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back({number, std::move(work)});
    ++added_;
  }
  changed_.notify_all();
}

void Stream::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t all = added_;
  changed_.wait(lock, [&] { return done_ >= all; });
}

void Stream::Tell(bool named) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failures_.empty()) return;
  const Failure failure = failures_.front();
  if (named) {
    failures_.pop_front();
    throw failure;
  }
  failures_.clear();
  throw Failure(failure.code(), failure.what());
}

void Stream::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::optional<Failure> failure;
    {
      const Item item = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      try {
        item.work();
      } catch (const Failure& error) {
        failure = Failure(error.code(), error.what(), item.number);
      } catch (const std::exception& error) {
        failure = Failure(kMXAccFailed, error.what(), item.number);
      }
    }
    lock.lock();
    if (failure) failures_.push_back(*failure);
    ++done_;
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
    mark_ = mark;
  }
  stream->Add(0, [mark] { mark->Pass(); });
}

void Event::Wait(Stream* stream) const {
  std::shared_ptr<Mark> mark;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    mark = mark_;
  }
  if (mark == nullptr) return;
  if (stream == nullptr) return mark->Wait();
  stream->Add(0, [mark] { mark->Wait(); });
}

}  // namespace refacc
