/*!
 * \file process.h
 * \brief The process that serves an accelerator library, as its parent sees it.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_PROCESS_H_
#define MXNET_SRC_ACC_ISOLATED_PROCESS_H_

#include <sys/types.h>

#include <string>

namespace mxnet {
namespace acc {
namespace isolated {

/*! \brief A child process with a socket to it and memory that is shared with it. */
class Process {
 public:
  /*! \brief Starts one for a library. ImportError where it cannot be started. */
  explicit Process(const std::string& library);
  /*! \brief Ends it, by force if it does not end by itself soon. */
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /*! \brief Sends a request and waits for the answer; false where the process has ended. */
  bool Ask(const std::string& request, std::string* answer);
  /*! \brief Waits for the answer to no request, which the process begins with. */
  bool Await(std::string* answer);

  /*! \brief Whether it has ended; does not wait. */
  bool HasEnded();
  /*! \brief How it ended: "was ended by signal 6 (Aborted)". Waits for that. */
  std::string End();
  pid_t pid() const { return pid_; }
  char* shared() const { return shared_; }
  /*! \brief Closes what a child of fork has of this, so that the process ends with its parent. */
  void Forget();

 private:
  void Start(const std::string& library, int socket, int memory);
  void Wait();

  pid_t pid_{-1};
  int socket_{-1};
  char* shared_{nullptr};
  bool has_ended_{false};
  int status_{-1};
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_PROCESS_H_
