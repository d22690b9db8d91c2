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
  // On the heap: a library that is loaded late gets little thread-local memory.
  std::vector<Frame> frames_;
  size_t num_frames_{0};
  /*! \brief At least as long as frames_, so that View allocates nothing. */
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
 * \brief Has the calling thread allocate what C++ needs to throw.
 *
 * C++ ends the process if there is no memory for that at the first exception. So this is called
 * while there is some: by the thread that loads the runtime, and by each that makes an array.
 */
void PrepareThread() noexcept;

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_ERROR_STATE_H_
