#include "stream.h"

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

void Stream::Add(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(work));
    ++added_;
  }
  changed_.notify_all();
}

void Stream::Sync() {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t all = added_;
  changed_.wait(lock, [&] { return done_ >= all; });
  const std::optional<Failure> failure = std::exchange(failure_, std::nullopt);
  if (failure) throw *failure;
}

void Stream::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::optional<Failure> failure;
    {
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      try {
        work();
      } catch (const Failure& error) {
        failure = error;
      } catch (const std::exception& error) {
        failure = Failure(kMXAccFailed, error.what());
      }
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
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
  stream->Add([mark] { mark->Pass(); });
}

void Event::Wait(Stream* stream) const {
  std::shared_ptr<Mark> mark;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    mark = mark_;
  }
  if (mark == nullptr) return;
  if (stream == nullptr) return mark->Wait();
  stream->Add([mark] { mark->Wait(); });
}

}  // namespace refacc
