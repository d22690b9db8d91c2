/*!
 * \file crash_report.cc
 * \brief Says which functions were running when a signal ends the process.
 */
#include <mxnet/runtime/registry.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "runtime/core/fork_safe.h"
#include "runtime/core/observers.h"

namespace mxnet {
namespace runtime {
namespace {

struct FatalSignal {
  int number;
  const char* name;
  struct sigaction former;
  std::atomic<bool> seen;
};

FatalSignal fatal_signals[] = {{SIGSEGV, "SIGSEGV", {}, {}},
                               {SIGBUS, "SIGBUS", {}, {}},
                               {SIGFPE, "SIGFPE", {}, {}},
                               {SIGILL, "SIGILL", {}, {}},
                               {SIGABRT, "SIGABRT", {}, {}}};
std::atomic<int> report_file{-1};
/*! \brief Off, the handler does nothing: it cannot be removed from below another one. */
std::atomic<bool> enabled{false};

/*! \brief Builds and writes a line by means that are safe in a signal handler. */
class Line {
 public:
  ~Line() {
    size_t done = 0;
    while (done < size_) {
      const ssize_t written = write(report_file, text_ + done, size_ - done);
      if (written <= 0) return;
      done += static_cast<size_t>(written);
    }
  }

  Line& operator<<(const char* text) {
    for (; text != nullptr && *text != '\0' && size_ < sizeof(text_) - 1; ++text) {
      text_[size_++] = *text;
    }
    return *this;
  }

  Line& operator<<(int64_t number) {
    char digits[24];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    uint64_t rest = number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    do {
      digits[--at] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    return *this << (number < 0 ? "-" : "") << digits + at;
  }

 private:
  char text_[1024];
  size_t size_{0};
};

void Report(const char* signal_name) {
  constexpr int kMaxLines = 32;
  const ActiveCall* call = InnermostCall();
  Line() << "mxffi: " << signal_name << " in thread " << static_cast<int64_t>(syscall(SYS_gettid))
         << (call == nullptr ? ", which runs no registered function\n"
                             : ", which runs these registered functions, the last called first:\n");
  for (int lines = 0; call != nullptr && lines < kMaxLines; ++lines, call = call->caller) {
    const MXNetFuncInfo& info = call->func->info->view();
    Line line;
    line << "  " << info.name << " with " << static_cast<int64_t>(call->num_args) << " arguments";
    if (info.file != nullptr) line << ", " << info.file << ":" << static_cast<int64_t>(info.line);
    line << "\n";
  }
}

void OnSignal(int number, siginfo_t* info, void*) {
  const int error = errno;
  for (FatalSignal& fatal : fatal_signals) {
    if (fatal.number != number) continue;
    if (fatal.seen) {
      // A later handler has passed the signal back: the two would repeat that for ever.
      signal(number, SIG_DFL);
      continue;
    }
    if (enabled) Report(fatal.name);
    sigaction(number, &fatal.former, nullptr);
    fatal.seen = true;
  }
  // A fault happens again on return, and goes to the former handler; other signals are sent again.
  if (info->si_code <= 0) raise(number);
  errno = error;
}

/*! \brief Whether the signal's handler is OnSignal, and not one that was installed later. */
bool IsInstalled(const FatalSignal& fatal) {
  struct sigaction current;
  sigaction(fatal.number, nullptr, &current);
  return (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == &OnSignal;
}

ForkSafeMutex* Mutex() {
  static auto* mutex = new ForkSafeMutex();
  return mutex;
}

void Enable(int file) {
  std::lock_guard<ForkSafeMutex> lock(*Mutex());
  report_file = file;
  observers.fetch_or(kObserveCrashes);
  enabled = true;
  for (FatalSignal& fatal : fatal_signals) {
    if (IsInstalled(fatal)) continue;
    struct sigaction action;
    std::memset(&action, 0, sizeof(action));
    action.sa_sigaction = &OnSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    fatal.seen = false;
    sigaction(fatal.number, &action, &fatal.former);
  }
}

void Disable() {
  std::lock_guard<ForkSafeMutex> lock(*Mutex());
  if (!enabled) return;
  for (FatalSignal& fatal : fatal_signals) {
    // Left in place below a handler that was installed later.
    if (IsInstalled(fatal)) sigaction(fatal.number, &fatal.former, nullptr);
  }
  observers.fetch_and(~static_cast<uint32_t>(kObserveCrashes));
  enabled = false;
}

MXNET_REGISTER_API("ffi.crash_report.enable")
    .describe(
        "Where a signal such as SIGSEGV ends the process, first writes which registered functions "
        "its thread was running.")
    .add_argument("file", "int", "Number of an open file, which must stay open.")
    .returns("None")
    .set_body_typed([](int file) { Enable(file); });

MXNET_REGISTER_API("ffi.crash_report.disable")
    .describe("Ends what ffi.crash_report.enable began.")
    .returns("None")
    .set_body_typed([] { Disable(); });

MXNET_REGISTER_API("ffi.check_signals")
    .describe(
        "Fails with what a handler of a pending signal raises. The front end replaces it; without "
        "one it does nothing.")
    .returns("None")
    .set_body_typed([] {});

}  // namespace
}  // namespace runtime
}  // namespace mxnet
