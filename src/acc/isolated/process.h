/*!
 * \file process.h
 * \brief The process that serves an accelerator library, as its parent sees it.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_PROCESS_H_
#define MXNET_SRC_ACC_ISOLATED_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>

#include "acc/isolated/channel.h"
#include "acc/isolated/shared_memory.h"

namespace mxnet {
namespace acc {
namespace isolated {

/*! \brief How long an answer is waited for. */
struct Patience {
  double seconds;        /*!< afterwards the process is ended; 0 for no limit */
  bool is_interruptible; /*!< whether Ctrl-C ends the process after a second, and throws */
};

/*!
 * \brief A child process with a socket to it and memory that is shared with it.
 *
 * One thread calls at a time.
 */
class Process {
 public:
  /*! \brief Starts one for a library. ImportError where it cannot be started. */
  explicit Process(const std::string& library);
  /*! \brief Ends it, by force if it does not end by itself soon. */
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /*! \brief Sends a request and waits for the answer; false where the process has ended. */
  bool Ask(const std::string& request, std::string* answer, Patience patience);
  /*! \brief Waits for the first message, which the process sends without a request. */
  bool Await(std::string* answer, Patience patience);

  /*! \brief Ends it by force; End tells the reason. */
  void Kill(const std::string& reason);
  /*! \brief Whether it has ended, or was ended; does not wait. */
  bool HasEnded();
  /*! \brief How it ended: "was ended by signal 6 (Aborted)". Waits for that. */
  std::string End();
  pid_t pid() const { return pid_; }
  SharedMemory* shared() const { return shared_.get(); }
  /*! \brief Reaps all processes that have ended. Any thread may call. */
  static void ReapEnded();
  /*! \brief Whether a process exists and was not reaped. Any thread may call. */
  static bool IsRunning(int64_t pid);
  /*! \brief In a child of fork, closes its copies, so that the process ends with the parent. */
  void Forget();

 private:
  class Waiting;

  bool Take(std::string* answer, const GoesOn& goes_on);
  void Start(const std::string& library, int socket, int memory);
  void Wait();
  void Look();
  bool IsReaped();

  pid_t pid_{-1};
  int socket_{-1};
  int memory_{-1};
  std::unique_ptr<SharedMemory> shared_;
  /*! \brief Set by the thread that finds it ended, after the status. */
  std::atomic<bool> is_reaped_{false};
  int status_{-1};
  /*! \brief Why it was ended by this process; else "". */
  std::string reason_;
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_PROCESS_H_
