/*!
 * \file work_log.h
 * \brief The work that a device's stream was given, to find the arrays that failed work spoiled.
 */
#ifndef MXNET_SRC_ACC_SYNC_WORK_LOG_H_
#define MXNET_SRC_ACC_SYNC_WORK_LOG_H_

#include <mxnet/runtime/error.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mxnet {
namespace acc {

/*! \brief Why work failed; shared by all arrays that it spoiled. Any thread may call. */
class WorkFailure {
 public:
  explicit WorkFailure(const runtime::Error& error)
      : kind_(error.kind()), message_(error.message()) {}

  /*! \brief Tells it to whoever asks. */
  [[noreturn]] void Throw();
  const std::string& kind() const { return kind_; }
  const std::string& message() const { return message_; }
  /*! \brief Whether it was told before; from now on it counts as told. */
  bool Tell() { return was_told_.exchange(true); }
  bool was_told() const { return was_told_.load(); }

 private:
  const std::string kind_;
  const std::string message_;
  std::atomic<bool> was_told_{false};
};

using FailureRef = std::shared_ptr<WorkFailure>;

/*! \brief The state of what memory holds. Guarded by the mutex of its device's log. */
struct Content {
  uint64_t work{0};   /*!< number of the last work that writes to it; 0 where it is done */
  FailureRef failure; /*!< why it is lost; NULL where it is not, or is not yet known to be */

  void Check() const {
    if (__builtin_expect(failure != nullptr, 0)) failure->Throw();
  }
};

/*! \brief The name of a piece of work, and what it reads and writes. */
struct Access {
  const char* name; /*!< lives as long as the accelerator */
  Content* target;
  bool is_partial; /*!< whether only a part of the target is written */
  Content* const* sources;
  size_t num_sources;
  Content* const* more_targets{nullptr}; /*!< written wholly, besides the target */
  size_t num_more_targets{0};
};

/*! \brief Work that one device was given and that is not known to be done, in order. */
class WorkLog {
 public:
  /*! \brief A piece of work; with more reads it has several entries of one number. */
  static constexpr int kReads = 3;
  struct Work {
    uint64_t number{0};
    const char* name{nullptr};
    Content* target{nullptr};
    uint64_t reads[kReads]{}; /*!< numbers of the work that made what it reads, or 0 */
    FailureRef failure;       /*!< why its target is lost, where that is known */
  };

  /*! \brief Held around all below, and from before work gets its number until it is added. */
  std::mutex& mutex() { return mutex_; }

  /*! \brief A number that no other work of the process has. */
  static uint64_t NextNumber() { return last_number_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /*! \brief Throws where work would read what is lost. */
  static void Check(const Access& access) {
    for (size_t i = 0; i < access.num_sources; ++i) access.sources[i]->Check();
    if (access.is_partial) access.target->Check();
  }
  /*! \brief Makes room for Add, which must not fail once the stream has the work. */
  void Reserve(const Access& access) {
    const size_t most = access.num_sources + access.num_more_targets + 2;
    if (__builtin_expect(works_.capacity() - works_.size() < most, 0)) Grow(most);
  }
  /*! \brief Adds work that was given to the stream, and for which there is room. */
  void Add(const Access& access, uint64_t number) {
    Work* work = AddEntry(access, number);
    int reads = 0;
    for (size_t i = 0; i < access.num_sources; ++i) {
      if (__builtin_expect(reads == kReads, 0)) {
        work = AddEntry(access, number);
        reads = 0;
      }
      work->reads[reads++] = access.sources[i]->work;
    }
    // The rest of the target counts as read: a failure of its work spoils it.
    if (access.is_partial) AddEntry(access, number)->reads[0] = access.target->work;
    SetTarget(access.target, number);
    for (size_t i = 0; i < access.num_more_targets; ++i) {
      // Lost where the first target is.
      Work* more = AddEntry(access, number);
      more->target = access.more_targets[i];
      more->reads[0] = number;
      SetTarget(more->target, number);
    }
  }
  /*! \brief The same for work that reads what another device has written. */
  void AddTied(const Access& access, uint64_t number) {
    Add(access, number);
    last_tied_ = number;
  }

  bool empty() const { return works_.empty(); }
  /*! \brief Whether to wait for all work, since the log would grow without end. */
  bool is_full() const { return works_.size() >= kMost; }
  /*! \brief Whether any of the work reads what another device has written. */
  bool is_tied() const { return !works_.empty() && last_tied_ >= works_.front().number; }
  /*! \brief The number of the last work. */
  uint64_t last() const { return works_.back().number; }
  /*! \brief NULL where there is no work of that number. */
  const Work* Find(uint64_t number) const;
  /*! \brief The names of all work, where it is unknown which failed: "add", "one of add, take". */
  std::string Names() const;
  std::vector<Work>& works() { return works_; }
  /*! \brief Forgets work that is done, up to a number. */
  void DropUntil(uint64_t number);

 private:
  // Only syncStream says what failed, so nothing is known to be done before all of it is.
  static constexpr size_t kMost = 4096;

  void Grow(size_t entries);

  static void SetTarget(Content* target, uint64_t number) {
    target->work = number;
    if (__builtin_expect(target->failure != nullptr, 0)) target->failure.reset();
  }

  Work* AddEntry(const Access& access, uint64_t number) {
    Work* work = &works_.emplace_back();
    work->number = number;
    work->name = access.name;
    work->target = access.target;
    return work;
  }

  static std::atomic<uint64_t> last_number_;

  std::mutex mutex_;
  std::vector<Work> works_;
  uint64_t last_tied_{0};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_SYNC_WORK_LOG_H_
