/*!
 * \file process.cc
 * \brief Starting and ending the process that serves a library.
 */
#include "acc/isolated/process.h"

#include <fcntl.h>
#include <mxnet/runtime/error.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "acc/isolated/channel.h"
#include "acc/isolated/message.h"
#include "acc/status.h"
#include "runtime/dynamic_library.h"

extern char** environ;

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

/*! \brief So long may a process take to end by itself. */
constexpr int kPatienceMs = 5000;
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

/*! \brief The same with a number that none of the child's is, so that those can be made of it. */
int Above(int number) {
  const int moved = fcntl(number, F_DUPFD_CLOEXEC, 16);
  close(number);
  return moved;
}

}  // namespace

Process::Process(const std::string& library) {
  const int memory_number = memfd_create("mxnet_acc", MFD_CLOEXEC);
  if (memory_number < 0) ThrowSystemError(library, "there is no shared memory", errno);
  const Descriptor memory(Above(memory_number));
  if (ftruncate(memory.get(), static_cast<off_t>(kSharedSize)) != 0) {
    ThrowSystemError(library, "there is no shared memory", errno);
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    ThrowSystemError(library, "there is no socket", errno);
  }
  Descriptor ours(Above(sockets[0]));
  const Descriptor theirs(Above(sockets[1]));
  void* shared = mmap(nullptr, kSharedSize, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (shared == MAP_FAILED) ThrowSystemError(library, "there is no shared memory", errno);
  try {
    Start(library, theirs.get(), memory.get());
  } catch (...) {
    munmap(shared, kSharedSize);
    throw;
  }
  shared_ = static_cast<char*>(shared);
  socket_ = ours.Release();
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
  munmap(shared_, kSharedSize);
}

void Process::Forget() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool Process::Ask(const std::string& request, std::string* answer) {
  return !has_ended_ && Send(socket_, request) && Receive(socket_, answer);
}

bool Process::Await(std::string* answer) { return Receive(socket_, answer); }

bool Process::HasEnded() {
  if (has_ended_) return true;
  pid_t ended;
  do {
    ended = waitpid(pid_, &status_, WNOHANG);
  } while (ended < 0 && errno == EINTR);
  // Somebody else may have waited for all children; then nobody knows how it ended.
  if (ended < 0) status_ = kUnknown;
  has_ended_ = ended != 0;
  return has_ended_;
}

void Process::Wait() {
  for (int waited = 0; !HasEnded(); ++waited) {
    if (waited == kPatienceMs) kill(pid_, SIGKILL);
    poll(nullptr, 0, 1);
  }
}

std::string Process::End() {
  Wait();
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
