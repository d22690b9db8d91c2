#include "mxacc_check/stress.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr uint32_t kAlignment = 64;
/*! \brief Kind of the device; any number but kMXAccHost. */
constexpr int32_t kDevice = 77;

size_t BytesOf(const MXAccDLTensor& tensor) {
  size_t bytes = tensor.dtype.bits / 8u;
  for (int32_t i = 0; i < tensor.ndim; ++i) bytes *= static_cast<size_t>(tensor.shape[i]);
  return bytes;
}

/*! \brief What all threads share. */
class Shared {
 public:
  explicit Shared(const Stress& given) : stress(given) {
    MXAccDeviceInfo info{};
    info.struct_size = sizeof(info);
    const MXAccApi& api = *given.api;
    if (api.getDeviceInfo == nullptr) return;
    if (api.getDeviceInfo(api.self, given.dev_id, &info) == nullptr) {
      alignment = std::max(alignment, info.alignment);
    }
  }

  /*! \brief Keeps what went wrong first, and has all threads end. */
  void Fail(const char* text) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    failed_ = true;
    if (!wrong_.empty()) return;
    try {
      wrong_ = text;
    } catch (const std::bad_alloc&) {
      wrong_ = "out of memory";  // short enough to need none
    }
  }
  bool failed() const { return failed_; }
  const std::string& wrong() const { return wrong_; }

  /*! \brief Waits until all threads are there, or one has failed. */
  void WaitForAll() {
    ++ready_;
    while (ready_ < stress.threads && !failed()) std::this_thread::yield();
  }
  uint64_t NextWork() { return ++works_; }
  bool IsRight(int32_t job, const MXTensor* came) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stress.judge(job, came) != 0;
  }

  const Stress& stress;
  uint32_t alignment{kAlignment}; /*!< of memory of the device */
  std::mutex library;             /*!< held during calls where one thread at a time is let in */

 private:
  std::mutex mutex_;
  std::string wrong_;
  std::atomic<bool> failed_{false};
  std::atomic<int32_t> ready_{0};
  std::atomic<uint64_t> works_{0};
};

/*! \brief Calls into the library by one thread, which has a stream where there are such. */
class Caller {
 public:
  explicit Caller(Shared* shared) : shared_(shared), api_(*shared->stress.api) {
    if (api_.createStream == nullptr) return;
    Call("createStream", [&] { return api_.createStream(api_.self, dev_id(), &stream_); });
  }
  ~Caller() {
    if (stream_ != nullptr) Locked([&] { api_.destroyStream(api_.self, dev_id(), stream_); });
  }
  Caller(const Caller&) = delete;

  /*! \brief Calls a function; what it fails with is thrown, before the next call takes it away. */
  template <typename Function>
  void Call(const char* name, const Function& function) {
    const MXAccStatus status = Locked(function);
    if (status == nullptr) return;
    const char* message = status->message == nullptr ? "no message" : status->message;
    throw std::runtime_error(std::string(name) + " fails: " + message);
  }
  template <typename Function>
  auto Locked(const Function& function) -> decltype(function()) {
    std::unique_lock<std::mutex> lock(shared_->library, std::defer_lock);
    if (shared_->stress.one_thread != 0) lock.lock();
    return function();
  }

  /*! \brief Waits for what is under way; throws where it failed. */
  void Sync() {
    if (stream_ == nullptr) return;
    Call("syncStream", [&] { return api_.syncStream(api_.self, dev_id(), stream_); });
  }
  /*! \brief The same before something goes that may be in use, as a call has failed. */
  void Settle() {
    if (stream_ != nullptr) Locked([&] { (void)api_.syncStream(api_.self, dev_id(), stream_); });
  }

  const MXAccApi& api() const { return api_; }
  MXAccStream stream() const { return stream_; }
  uint32_t alignment() const { return shared_->alignment; }
  int32_t dev_id() const { return shared_->stress.dev_id; }

 private:
  Shared* shared_;
  const MXAccApi& api_;
  MXAccStream stream_ = nullptr;
};

/*! \brief Tensors on the device like those of the host. */
class OnDevice {
 public:
  OnDevice(Caller* caller, const MXTensor* like, int32_t count, uint64_t work)
      : caller_(caller), tensors_(like, like + count) {
    for (MXTensor& tensor : tensors_) {
      const size_t bytes = BytesOf(tensor.tensor);
      tensor.work = work;
      tensor.tensor.device = {kDevice, caller->dev_id()};
      tensor.tensor.byte_offset = 0;
      tensor.tensor.data = nullptr;
      if (bytes == 0) continue;
      caller->Call("mx_alloc", [&] {
        return caller->api().mx_alloc(caller->api().self, caller->dev_id(), kMXAccDeviceMemory,
                                      bytes, caller->alignment(), &tensor.tensor.data);
      });
    }
  }
  ~OnDevice() {
    caller_->Settle();
    for (const MXTensor& tensor : tensors_) {
      if (tensor.tensor.data == nullptr) continue;
      caller_->Locked([&] {
        caller_->api().mx_free(caller_->api().self, caller_->dev_id(), tensor.tensor.data);
      });
    }
  }
  OnDevice(const OnDevice&) = delete;

  MXTensor* data() { return tensors_.data(); }

 private:
  Caller* caller_;
  std::vector<MXTensor> tensors_;
};

/*! \brief Room on the host for tensors that come back. */
class Room {
 public:
  Room(const MXTensor* like, int32_t count, uint64_t work) : tensors_(like, like + count) {
    for (MXTensor& tensor : tensors_) {
      rooms_.emplace_back(BytesOf(tensor.tensor) + 1);
      tensor.tensor.data = rooms_.back().data();
      tensor.tensor.byte_offset = 0;
      tensor.work = work;
    }
  }
  MXTensor* data() { return tensors_.data(); }
  bool IsSame(const MXTensor* expected) const {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const MXAccDLTensor& one = expected[i].tensor;
      if (std::memcmp(tensors_[i].tensor.data, one.data, BytesOf(one)) != 0) return false;
    }
    return true;
  }

 private:
  std::vector<MXTensor> tensors_;
  std::vector<std::vector<char>> rooms_;
};

/*! \brief An executor of this thread's, or the one that all share. */
class OwnExecutor {
 public:
  OwnExecutor(Caller* caller, const StressJob& job) : caller_(caller) {
    if (job.executor != nullptr) {
      executor_ = *job.executor;
      return;
    }
    own_ = true;
    executor_.struct_size = sizeof(MXAccExecutor);
    caller->Call("accGetExecutor", [&] {
      return caller->api().accGetExecutor(caller->api().self, job.op, &executor_);
    });
  }
  ~OwnExecutor() {
    if (!own_ || executor_.free == nullptr) return;
    caller_->Settle();
    caller_->Locked([&] { executor_.free(executor_.state); });
  }
  OwnExecutor(const OwnExecutor&) = delete;

  uint64_t workspace_bytes() const { return executor_.workspace_bytes; }
  void Run(const MXTensor* inputs, int32_t num_in, MXTensor* outputs, int32_t num_out,
           const MXTensor* workspace, MXAccStream stream) {
    caller_->Call("run", [&] {
      return executor_.run(executor_.state, inputs, num_in, outputs, num_out, workspace, stream);
    });
  }

 private:
  Caller* caller_;
  MXAccExecutor executor_{};
  bool own_ = false;
};

/*! \brief Allocates and frees again and again, as fast as it goes. */
void Churn(Caller* caller) {
  constexpr int kPieces = 8;
  constexpr int kTimes = 8;
  void* pieces[kPieces] = {};
  for (int i = 0; i < kPieces * kTimes; ++i) {
    void*& piece = pieces[i * 5 % kPieces];
    const auto size = static_cast<size_t>(1 + i * 37);
    if (piece != nullptr)
      caller->Locked([&] { caller->api().mx_free(caller->api().self, caller->dev_id(), piece); });
    piece = nullptr;
    caller->Call("mx_alloc", [&] {
      return caller->api().mx_alloc(caller->api().self, caller->dev_id(), kMXAccDeviceMemory, size,
                                    caller->alignment(), &piece);
    });
  }
  for (void* piece : pieces) {
    caller->Locked([&] { caller->api().mx_free(caller->api().self, caller->dev_id(), piece); });
  }
}

/*! \brief Does the jobs of one thread. */
class Worker {
 public:
  explicit Worker(Shared* shared) : caller_(shared), shared_(shared) {}

  void Do(int32_t number) {
    const StressJob& job = shared_->stress.jobs[number];
    Room room(job.expected, job.num_out, Work());
    OnDevice inputs(&caller_, job.inputs, job.num_in, Work());
    Copy("copyToAcc", caller_.api().copyToAcc, inputs.data(), job.inputs, job.num_in);
    if (job.op == nullptr) {
      Churn(&caller_);
      Copy("copyFromAcc", caller_.api().copyFromAcc, room.data(), inputs.data(), job.num_out);
      caller_.Sync();
    } else {
      OnDevice outputs(&caller_, job.expected, job.num_out, Work());
      OwnExecutor executor(&caller_, job);
      auto size = static_cast<int64_t>(executor.workspace_bytes());
      int64_t step = 1;
      MXTensor like{};
      like.struct_size = sizeof(like);
      like.tensor = {nullptr, {}, 1, {kMXAccUInt, 8, 1}, &size, &step, 0};
      const bool has_workspace = size != 0;
      OnDevice workspace(&caller_, &like, has_workspace ? 1 : 0, 0);
      executor.Run(inputs.data(), job.num_in, outputs.data(), job.num_out,
                   has_workspace ? workspace.data() : nullptr, caller_.stream());
      Copy("copyFromAcc", caller_.api().copyFromAcc, room.data(), outputs.data(), job.num_out);
      caller_.Sync();
    }
    if (room.IsSame(job.expected) || shared_->IsRight(number, room.data())) return;
    const std::string what = job.op == nullptr ? "a copy there and back" : job.op->name;
    shared_->Fail((what + " gives something else than in one thread").c_str());
  }

 private:
  uint64_t Work() { return caller_.stream() == nullptr ? 0 : shared_->NextWork(); }
  template <typename Function>
  void Copy(const char* name, Function function, MXTensor* targets, const MXTensor* sources,
            int32_t count) {
    caller_.Call(name, [&] {
      return function(caller_.api().self, caller_.dev_id(), targets, sources, count,
                      caller_.stream());
    });
  }
  Caller caller_;
  Shared* shared_;
};

void WorkOff(Shared* shared, int32_t thread) noexcept {
  try {
    Worker worker(shared);
    shared->WaitForAll();
    for (int32_t round = 0; round < shared->stress.rounds && !shared->failed(); ++round) {
      worker.Do((thread + round) % shared->stress.num_jobs);
    }
  } catch (const std::exception& error) {
    shared->Fail(error.what());
  } catch (...) {
    shared->Fail("the library lets an exception of unknown type out");
  }
}

}  // namespace

void mxacc_check_stress(const Stress* stress, char* failure, size_t room) {
  Shared shared(*stress);
  std::vector<std::thread> threads;
  try {
    for (int32_t i = 0; i < stress->threads; ++i) threads.emplace_back(WorkOff, &shared, i);
  } catch (const std::exception& error) {
    // The system gives no more threads, and those that it gave must end before this returns.
    shared.Fail(error.what());
  }
  for (std::thread& thread : threads) thread.join();
  const size_t length = std::min(shared.wrong().size(), room - 1);
  std::memcpy(failure, shared.wrong().data(), length);
  failure[length] = '\0';
}
