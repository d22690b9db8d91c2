/*!
 * \file process.cc
 * \brief Starting and ending the process that serves a library.
 */
#include "acc/isolated/process.h"

#include <fcntl.h>
#include <mxnet/runtime/error.h>
#include <mxnet/runtime/signals.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "acc/isolated/channel.h"
#include "acc/isolated/message.h"
#include "acc/plugin/status.h"
#include "runtime/core/fork_safe.h"
#include "runtime/library/dynamic_library.h"

extern char** environ;

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

using Clock = std::chrono::steady_clock;

/*! \brief How long a process may take to end by itself, and again when it is killed. */
constexpr int kPatienceMs = 5000;
/*! \brief How often time limits are checked while an answer is waited for. */
constexpr int kSliceMs = 50;
/*! \brief Ctrl-C ends only calls that take longer: it ends the process, and all its arrays are
 * lost.
 */
constexpr std::chrono::seconds kInterruptible{1};
/*! \brief How often a call also checks which of all processes have ended. */
constexpr std::chrono::seconds kReapPeriod{1};
constexpr int kUnknown = -1;

[[noreturn]] void ThrowSystemError(const std::string& library, const char* what, int code) {
  MXNET_THROW("ImportError") << "cannot load " << library << " in a process of its own: " << what
                             << ": " << std::strerror(code);
}

/*! \brief The program beside the library that this code is in. */
std::string ServerPath() {
  const std::string own = dynamic_library::PathOf(reinterpret_cast<const void*>(&ThrowSystemError));
  return own.substr(0, own.rfind('/') + 1) + "mxnet_acc_server";
}

/*! \brief A descriptor, closed at the end. */
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  int Release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

/*! \brief All processes, which any thread may look after. */
struct Children {
  ForkSafeMutex mutex;
  std::vector<Process*> all;
};

Children& TheChildren() {
  static auto* children = new Children();
  return *children;
}

/*! \brief Checks which processes have ended, at most once in kReapPeriod. */
void ReapNowAndThen() {
  static std::atomic<Clock::rep> due{0};
  const Clock::duration now = Clock::now().time_since_epoch();
  if (now.count() < due.load(std::memory_order_relaxed)) return;
  due.store((now + kReapPeriod).count(), std::memory_order_relaxed);
  Process::ReapEnded();
}

/*! \brief Makes waits for the socket return every kSliceMs. */
void LimitWaits(int socket) {
  const timeval slice{0, kSliceMs * 1000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice));
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof(slice));
}

/*! \brief The same file under a descriptor of at least 16, so that it is not overwritten when the
 * child's descriptors are set up. */
int Above(int number) {
  const int moved = fcntl(number, F_DUPFD_CLOEXEC, 16);
  close(number);
  return moved;
}

}  // namespace

/*! \brief Says whether an answer is still waited for; see GoesOn. */
class Process::Waiting {
 public:
  Waiting(Process* process, Patience patience) : process_(process), patience_(patience) {}

  bool operator()() {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> waited = now - start_;
    if (patience_.seconds != 0 && waited.count() >= patience_.seconds) {
      std::ostringstream text;
      text << "did not answer within " << patience_.seconds << " s and was ended";
      process_->Kill(text.str());
      return false;
    }
    if (patience_.is_interruptible && now >= due_) {
      due_ = now + kInterruptible;
      try {
        CheckSignals();
      } catch (...) {
        process_->Kill("was ended when a call was interrupted");
        throw;
      }
    }
    return true;
  }

 private:
  Process* process_;
  Patience patience_;
  Clock::time_point start_{Clock::now()};
  Clock::time_point due_{start_ + kInterruptible};
};

Process::Process(const std::string& library) {
  const int memory_number = memfd_create("mxnet_acc", MFD_CLOEXEC);
  if (memory_number < 0) ThrowSystemError(library, "there is no shared memory", errno);
  Descriptor memory(Above(memory_number));
  if (ftruncate(memory.get(), static_cast<off_t>(kSharedSize)) != 0) {
    ThrowSystemError(library, "there is no shared memory", errno);
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    ThrowSystemError(library, "there is no socket", errno);
  }
  Descriptor ours(Above(sockets[0]));
  const Descriptor theirs(Above(sockets[1]));
  shared_ = std::make_unique<SharedMemory>(memory.get());
  Start(library, theirs.get(), memory.get());
  memory_ = memory.Release();
  socket_ = ours.Release();
  LimitWaits(socket_);
  std::lock_guard<ForkSafeMutex> lock(TheChildren().mutex);
  TheChildren().all.push_back(this);
}

void Process::Start(const std::string& library, int socket, int memory) {
  const std::string server = ServerPath();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, kSocket);
  posix_spawn_file_actions_adddup2(&actions, memory, kSharedMemory);
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  char* arguments[] = {const_cast<char*>(server.c_str()), const_cast<char*>(library.c_str()),
                       nullptr};
  const int code = posix_spawn(&pid_, server.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) ThrowSystemError(library, server.c_str(), code);
}

Process::~Process() {
  Forget();
  Wait();
  std::lock_guard<ForkSafeMutex> lock(TheChildren().mutex);
  std::vector<Process*>& all = TheChildren().all;
  all.erase(std::find(all.begin(), all.end(), this));
}

void Process::Forget() {
  for (int* descriptor : {&socket_, &memory_}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
}

bool Process::Ask(const std::string& request, std::string* answer, Patience patience) {
  ReapNowAndThen();
  if (is_reaped_ || !reason_.empty()) return false;
  Waiting waiting(this, patience);
  return Send(socket_, request, std::ref(waiting)) && Take(answer, std::ref(waiting));
}

bool Process::Await(std::string* answer, Patience patience) {
  return Take(answer, Waiting(this, patience));
}

bool Process::Take(std::string* answer, const GoesOn& goes_on) {
  try {
    return Receive(socket_, answer, goes_on);
  } catch (const runtime::Error&) {
    throw;
  } catch (const std::exception&) {
    // Nothing tells where the next message begins.
    Kill("sent what is no message and was ended");
    return false;
  }
}

void Process::Kill(const std::string& reason) {
  std::lock_guard<ForkSafeMutex> lock(TheChildren().mutex);
  // Once a process was waited for, the system may give its number to another one.
  if (is_reaped_) return;
  kill(pid_, SIGKILL);
  reason_ = reason;
}

void Process::Look() {
  if (is_reaped_) return;
  pid_t ended;
  do {
    ended = waitpid(pid_, &status_, WNOHANG);
  } while (ended < 0 && errno == EINTR);
  // Other code has waited for all children and got the status; how it ended stays unknown.
  if (ended < 0) status_ = kUnknown;
  is_reaped_ = ended != 0;
}

bool Process::IsReaped() {
  if (is_reaped_) return true;
  std::lock_guard<ForkSafeMutex> lock(TheChildren().mutex);
  Look();
  return is_reaped_;
}

void Process::ReapEnded() {
  std::lock_guard<ForkSafeMutex> lock(TheChildren().mutex);
  for (Process* process : TheChildren().all) process->Look();
}

bool Process::IsRunning(int64_t pid) {
  std::lock_guard<ForkSafeMutex> lock(TheChildren().mutex);
  const auto& all = TheChildren().all;
  return std::any_of(all.begin(), all.end(), [pid](const Process* process) {
    return process->pid_ == pid && !process->is_reaped_;
  });
}

bool Process::HasEnded() { return IsReaped() || !reason_.empty(); }

void Process::Wait() {
  for (int waited = 0; !IsReaped() && waited < 2 * kPatienceMs; ++waited) {
    if (waited == kPatienceMs) Kill("did not end and was ended");
    poll(nullptr, 0, 1);
  }
}

std::string Process::End() {
  Wait();
  if (!reason_.empty()) return reason_;
  if (status_ == kUnknown) return "has ended";
  if (WIFSIGNALED(status_)) {
    const int number = WTERMSIG(status_);
    return "was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status_));
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
