/*!
 * \file functions_library.h
 * \brief The table of a library that exports the functions of mxnet_acc_functions.h.
 */
#ifndef MXNET_SRC_ACC_PLUGIN_FUNCTIONS_LIBRARY_H_
#define MXNET_SRC_ACC_PLUGIN_FUNCTIONS_LIBRARY_H_

#include <mxnet_acc_functions.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "acc/plugin/adapter.h"

namespace mxnet {
namespace acc {

/*! \brief The functions; NULL for those that the library does not have. */
struct LibraryFunctions {
/* Functions that are members of the table, too. */
#define MXNET_TABLE_FUNCTIONS(FUNCTION) \
  FUNCTION(getAccName)                  \
  FUNCTION(getNumAcc)                   \
  FUNCTION(initialize)                  \
  FUNCTION(mx_alloc)                    \
  FUNCTION(mx_free)                     \
  FUNCTION(mx_releaseAll)               \
  FUNCTION(copyToAcc)                   \
  FUNCTION(copyFromAcc)                 \
  FUNCTION(supportsImperative)          \
  FUNCTION(accGetExecutor)              \
  FUNCTION(supportedOps)                \
  FUNCTION(loadModel)                   \
  FUNCTION(configure)
#define MXNET_LIBRARY_FUNCTIONS(FUNCTION) \
  MXNET_TABLE_FUNCTIONS(FUNCTION)         \
  FUNCTION(unloadModel)                   \
  FUNCTION(infer)
#define MXNET_FUNCTIONS_MEMBER(name) decltype(&::name) name{nullptr};
  MXNET_LIBRARY_FUNCTIONS(MXNET_FUNCTIONS_MEMBER)
#undef MXNET_FUNCTIONS_MEMBER
};

/*! \brief Implements the table by calls of the functions, one at a time. */
class FunctionsLibrary : public Adapter {
 public:
  /*! \brief Whether a library exports the functions that are required. */
  static bool Is(void* library);
  explicit FunctionsLibrary(void* library);

  /*! \brief The table, without what the library does not have. */
  MXAccApi Table() override;

  MXAccStatus GetAccName(char* name, size_t size) override;
  MXAccStatus GetNumAcc(int32_t* count) override;
  MXAccStatus Initialize(const MXAccRuntime* runtime) override;
  void Finalize() override {}
  MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) override;
  MXAccStatus Alloc(int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                    void** out) override;
  void Free(int32_t dev_id, void* data) override;
  MXAccStatus ReleaseAll(int32_t dev_id, size_t* live) override;
  MXAccStatus CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                        MXAccStream stream) override;
  MXAccStatus CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                          MXAccStream stream) override;
  MXAccStatus SupportsImperative(int32_t* yes) override;
  MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) override;
  MXAccStatus SupportedOps(int32_t dev_id, const MXAccGraph* graph,
                           MXAccNodeSupport* nodes) override;
  MXAccStatus LoadModel(int32_t dev_id, const MXAccGraph* graph, const MXAccAttribute* options,
                        int32_t num_options, void* call, MXAccModel* out) override;
  MXAccStatus Configure(int32_t dev_id, const char* const* in_keys, const char* const* in_vals,
                        int32_t num_in, MXAccEmit emit, void* context) override;

 private:
  using Copy = decltype(&::copyToAcc);
  struct Executor;
  class Model;

  /*! \brief Calls a function of the library, one at a time. */
  template <typename R, typename... Params, typename... Args>
  R Call(R (*function)(Params...), Args... args) {
    std::lock_guard<std::mutex> lock(calls_);
    return function(args...);
  }
  MXAccStatus CopyEach(Copy copy, MXTensor* targets, const MXTensor* sources, int32_t count);
  static MXAccStatus Run(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                         int32_t num_out, const MXTensor* workspace, MXAccStream stream);

  LibraryFunctions functions_;
  std::mutex calls_;
  std::atomic<size_t> live_{0};
  std::atomic<uint64_t> last_model_{0};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PLUGIN_FUNCTIONS_LIBRARY_H_
