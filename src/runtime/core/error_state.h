/*!
 * \file error_state.h
 * \brief Storage of a thread's last error, and of the throw that becomes one.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_ERROR_STATE_H_
#define MXNET_SRC_RUNTIME_CORE_ERROR_STATE_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <string>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief Owns copies of everything an MXNetErrorInfo points to. */
class ErrorState {
 public:
  static ErrorState* ThreadLocal();
  ~ErrorState();

  void Set(const MXNetErrorInfo& source);
  void SetOutOfMemory() noexcept;
  void Clear();
  void AddFrame(const char* file, int line, const char* function);
  const MXNetErrorInfo* View() noexcept;

 private:
  struct Frame {
    std::string file;
    std::string function;
    int line;
  };
  static constexpr size_t kMaxFrames = 64;

  std::string kind_;
  std::string message_;
  // On the heap: what a thread has of itself is short where a library is loaded late.
  std::vector<Frame> frames_;
  size_t num_frames_{0};
  /*! \brief As long as frames_ at least, so that View needs no memory. */
  std::vector<MXNetErrorFrame> views_;
  MXNetErrorInfo info_{};
};

/*! \brief The return addresses of a throw on this thread that has not become an error yet. */
struct NotedThrow {
  static constexpr int kMaxAddresses = 32;

  int count;
  const void* addresses[kMaxAddresses]; /*!< innermost first */

  static NotedThrow* ThreadLocal();
};

/*!
 * \brief Has the calling thread get what C++ needs to throw.
 *
 * Where it finds no memory for that with the first exception, it ends the process; so it is asked
 * while there is some: by the thread that loads the runtime, and by each that makes an array.
 */
void PrepareThread() noexcept;

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_ERROR_STATE_H_
