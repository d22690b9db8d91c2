/*!
 * \file library.h
 * \brief The table of a library that runs in a process of its own.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_LIBRARY_H_
#define MXNET_SRC_ACC_ISOLATED_LIBRARY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "acc/isolated/message.h"
#include "acc/isolated/process.h"
#include "acc/plugin/adapter.h"

namespace mxnet {
namespace acc {
namespace isolated {

/*!
 * \brief Passes calls on to the process, one at a time.
 *
 * A call that takes longer than the timeout, in seconds, or that Ctrl-C interrupts after a while,
 * ends the process; with a timeout of 0 it may take any time.
 *
 * When the process ends, calls fail; what was in its memory is lost. Restart begins another one,
 * and executors are made anew there when they are run.
 */
class Library : public Adapter {
 public:
  /*! \brief Starts the process and loads the library there. Throws what loading throws. */
  Library(const std::string& path, double timeout);

  MXAccApi Table() override;
  bool HasEnded() override;
  void SetTimeout(double timeout) override;
  int64_t Pid() override;
  void Restart() override;
  bool Holds(const void* data) override;
  bool HoldsModel(const void* state) override;
  void Forget() override { process_->Forget(); }

  MXAccStatus GetAccName(char* name, size_t size) override;
  MXAccStatus GetNumAcc(int32_t* count) override;
  MXAccStatus Initialize(const MXAccRuntime*) override { return nullptr; }
  void Finalize() override;
  MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) override;
  MXAccStatus Alloc(int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                    void** out) override;
  void Free(int32_t dev_id, void* data) override;
  MXAccStatus CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                        MXAccStream stream) override;
  MXAccStatus CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                          MXAccStream stream) override;
  MXAccStatus CopyWithinAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                            int32_t count, MXAccStream stream) override;
  MXAccStatus Zero(int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                   MXAccStream stream, uint64_t work) override;
  MXAccStatus SupportsImperative(int32_t* yes) override;
  MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) override;
  MXAccStatus SupportedOps(int32_t dev_id, const MXAccGraph* graph,
                           MXAccNodeSupport* nodes) override;
  MXAccStatus LoadModel(int32_t dev_id, const MXAccGraph* graph, const MXAccAttribute* options,
                        int32_t num_options, void* call, MXAccModel* out) override;
  MXAccStatus ListOptions(const MXAccOption** options, int32_t* count) override;
  MXAccStatus ModelKey(int32_t dev_id, char* key, size_t size) override;
  MXAccStatus CheckModel(int32_t dev_id, const char* key, int32_t* verdict) override;
  MXAccStatus ImportModel(int32_t dev_id, const char* key, const MXAccPiece* pieces,
                          int32_t num_pieces, const MXTensor* weights, int32_t num_weights,
                          MXAccModel* out) override;
  MXAccStatus Profile(int32_t dev_id, MXAccProfileSink sink, void* context) override;
  MXAccStatus Configure(int32_t dev_id, const char* const* in_keys, const char* const* in_vals,
                        int32_t num_in, MXAccEmit emit, void* context) override;

 private:
  /*! \brief Waits for the calls of other threads, and then holds calls_; Ctrl-C ends the waiting.
   */
  class Turn {
   public:
    explicit Turn(Library* library);

   private:
    std::unique_lock<std::recursive_timed_mutex> lock_;
  };
  struct Block;
  struct Executor;
  struct Model;
  class ModelRun;
  /*! \brief The reply to a question of the process. */
  using Reply = std::function<Writer(Question question, Reader* asked)>;

  /*! \brief What the library said when it was loaded. */
  struct Description {
    std::string name;
    std::string release;
    int32_t abi_minor;
    int32_t count;
    bool imperative;
    bool has_memory;
    bool copies_within;
    bool zeroes;
    bool has_options;
    bool supports_ops;
    bool loads_models;
    bool has_model_options;
    bool imports_models;
    bool profiles;
  };

  void Load();
  /*! \brief Sends a request, with calls_ held; *answer is what follows the status. */
  MXAccStatus Ask(const Writer& request, Reader* answer, const Reply& reply = nullptr);
  MXAccStatus AskOnce(const Writer& request);
  /*! \brief Sends a message and waits for the answer, with calls_ held; false as in Process::Ask.
   */
  bool Exchange(const std::string& message, std::string* answer);
  /*! \brief The same for requests that cannot fail. */
  void Tell(const Writer& request) noexcept;
  MXAccStatus Ended();
  MXAccStatus HandleOf(const void* data, uint64_t* handle) const;
  MXAccStatus HandleOf(const MXTensor& tensor, uint64_t* handle) const;
  MXAccStatus CopyEach(Request direction, int32_t dev_id, const MXTensor* on_device,
                       const MXTensor* on_host, int32_t count);
  MXAccStatus CopyPiece(Request direction, int32_t dev_id, const MXTensor& on_device, char* on_host,
                        size_t size);
  MXAccStatus MakeExecutor(Executor* executor, MXAccExecutor* answer);
  const char* Keep(const char* text);
  /*! \brief Sends the data of a weight, or a piece of a model, for the request that follows. */
  MXAccStatus SendBytes(const void* data, size_t size);
  MXAccStatus SendWeights(const MXTensor* weights, int32_t count);
  /*! \brief Sends the weights of a graph, and adds the device and the graph to the request. */
  MXAccStatus SendGraph(int32_t dev_id, const MXAccGraph& graph, Writer* request);
  MXAccStatus TakeModel(const Writer& request, const Reply& reply, MXAccModel* out);
  static MXAccStatus Run(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                         int32_t num_out, const MXTensor* workspace, MXAccStream stream);
  static MXAccStatus Infer(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                           int32_t num_out, const MXTensor* workspace, MXAccStream stream,
                           void* call);
  static MXAccStatus InferShapes(void* state, const MXTensor* inputs, int32_t num_in,
                                 MXTensor* outputs, int32_t num_out);
  static MXAccStatus UpdateWeights(void* state, const MXTensor* weights, int32_t count);
  static MXAccStatus ExportModel(void* state, int32_t weights, MXAccTakePiece take, void* context);

  std::string path_;
  Description description_;
  std::unique_ptr<Process> process_;
  /*! \brief Counts the processes; handles of earlier ones are lost. */
  std::atomic<uint64_t> generation_{0};
  /*! \brief Recursive, as the reply to a question may need calls of its own. */
  std::recursive_timed_mutex calls_;
  /*! \brief Whether the thread that holds calls_ waits for an answer; so it may come here again by
   * a signal handler alone. */
  bool is_waiting_{false};
  /*! \brief Requests that cannot fail, of signal handlers. */
  std::vector<std::string> postponed_;
  double timeout_;
  std::atomic<int64_t> pid_{0};
  /*! \brief Texts that callers were given. */
  std::set<std::string> texts_;
  /*! \brief Options of models as callers were given them, and what they point into. */
  std::unique_ptr<Reader> told_options_;
  std::vector<MXAccOption> options_;
  /*! \brief Who takes records of work. */
  MXAccProfileSink sink_{nullptr};
  void* sink_context_{nullptr};
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_LIBRARY_H_
