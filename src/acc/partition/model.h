/*!
 * \file model.h
 * \brief Models that libraries of accelerators have compiled.
 */
#ifndef MXNET_SRC_ACC_PARTITION_MODEL_H_
#define MXNET_SRC_ACC_PARTITION_MODEL_H_

#include <mxnet/runtime/ndarray.h>
#include <mxnet_acc.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acc/device/attachments.h"
#include "acc/device/table.h"
#include "acc/partition/model_graph.h"
#include "acc/partition/model_profile.h"
#include "acc/partition/pieces.h"
#include "acc/plugin/bytes.h"
#include "acc/sync/update_gate.h"

namespace mxnet {
namespace acc {

/*! \brief The outputs of a run, what the library has told of its work, and why nothing where it
 * gives records and failed to; else "". */
struct ProfiledRun {
  std::vector<NDArray> outputs;
  std::vector<WorkRecord> records;
  std::string problem;
};

/*! \brief A model of a library as long as that is loaded. Any thread may call. */
class LoadedModel : public Attachment {
 public:
  /*! \brief Takes over what the library gave by a function; it unloads that where it throws, too.
   * The pieces that the model was imported from, if it was, stay as long as it.
   */
  LoadedModel(Device* device, const MXAccModel& model, const ModelGraph& graph,
              const char* function, std::shared_ptr<const MappedPieces> pieces);
  ~LoadedModel() override;

  /*! \brief Unloads it; no call is under way. */
  void Release() override;
  bool is_released() const { return is_released_.load(std::memory_order_acquire); }

  std::vector<NDArray> Infer(std::vector<NDArray> inputs);
  /*! \brief Whether these have the shapes and types of the graph's inputs. */
  bool Takes(const std::vector<NDArray>& inputs) const;
  /*! \brief The same, done when it returns, with what the library tells of its work. */
  ProfiledRun InferProfiled(std::vector<NDArray> inputs);
  /*! \brief The shapes of the outputs, -1 where the elements decide. */
  std::vector<std::vector<int64_t>> InferShapes(const std::vector<std::vector<int64_t>>& inputs);
  /*!
   * \brief Gives the compiled model out, with its weights or without them. NotImplementedError
   * where the library does not export it so, and what other failures map to.
   */
  void Export(bool weights, PieceSink* sink);
  /*! \brief Whether the library takes other weights for it. */
  bool updates() const { return model_.updateWeights != nullptr; }
  /*!
   * \brief Gives it some weights of a graph that is the model's but for their elements: those with
   * these numbers. Runs of other threads are done before, or have the new ones.
   *
   * Where it throws, what the library's failures map to, the model can only be dropped.
   */
  void UpdateWeights(const ModelGraph& graph, const std::vector<int64_t>& which);
  /*! \brief Whether the process of the library that it was in has ended. */
  bool is_lost() const;
  uint32_t flags() const { return model_.flags; }
  uint64_t workspace_bytes() const { return model_.workspace_bytes; }
  uint64_t weight_bytes() const { return model_.weight_bytes; }

 private:
  class Run;

  void ReadTensors(const ModelGraph& graph, const char* function);
  Context ContextOf(bool on_host) const;
  /*! \brief Makes an input what the library takes; TypeError or ValueError where it does not fit.
   */
  void Prepare(NDArray* input, size_t index) const;
  /*! \brief The outputs as they are known, or in `asked` what the library says for the inputs. */
  const std::vector<ModelTensor>& OutputsFor(const std::vector<NDArray>& inputs,
                                             std::vector<ModelTensor>* asked);
  std::vector<ModelTensor> AskedOutputs(const MXTensor* inputs);
  /*! \brief What an exception that a call of the library let out is taken for. That of the adapter
   * to another process goes on, as Ctrl-C that ends a wait. */
  MXAccStatus StatusOfThrown() const;
  MXAccStatus Call(Run* run, MXAccStream stream);
  MXAccStatus GiveOrCall(Run* run);
  /*! \brief The outputs, and in *work the number that the run had in the stream; 0 without one. */
  std::vector<NDArray> Infer(std::vector<NDArray> inputs, uint64_t* work);
  /*! \brief RuntimeError where an update has failed; inside of the gate. */
  void CheckWeights() const;
  void Free();

  Device* device_;
  MXAccModel model_;
  std::atomic<bool> is_released_{false};
  /*! \brief Held around calls where the model takes one at a time. */
  std::mutex serial_;
  /*! \brief Around all calls; an update is there alone. */
  UpdateGate gate_;
  /*! \brief Whether an update has failed, so that its weights may be anything. */
  bool is_spoiled_{false};
  std::vector<ModelTensor> graph_inputs_;
  std::vector<ModelTensor> inputs_; /*!< as the library tells, of fewer or more known extents */
  std::vector<ModelTensor> outputs_;
  size_t num_results_; /*!< of the outputs: those of the graph, which come first */
  std::optional<Bytes> workspace_;
  /*! \brief Where the model has no copy of its own. */
  std::vector<NDArray> weights_;
  std::shared_ptr<const MappedPieces> pieces_;
};

/*! \brief A model as its user has it. It is unloaded when it goes, or before its library is. */
class Model {
 public:
  Model(Slot* slot, std::shared_ptr<LoadedModel> loaded)
      : slot_(slot), loaded_(std::move(loaded)) {}
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /*!
   * \brief The outputs for inputs in the graph's order, as new arrays on the device. Inputs that
   * are elsewhere are copied to it.
   *
   * TypeError or ValueError for inputs that are not those of the graph, RuntimeError where the
   * library was unloaded, and what its failures map to.
   */
  std::vector<NDArray> Infer(std::vector<NDArray> inputs) const;
  /*! \brief The same, or nothing for inputs that are not those of the graph. */
  std::optional<std::vector<NDArray>> TryInfer(std::vector<NDArray> inputs) const;
  ProfiledRun InferProfiled(std::vector<NDArray> inputs) const;
  std::vector<std::vector<int64_t>> InferShapes(
      const std::vector<std::vector<int64_t>>& inputs) const;
  /*! \brief As of LoadedModel. */
  void UpdateWeights(const ModelGraph& graph, const std::vector<int64_t>& which) const;
  /*! \brief Whether it was lost with the process of its library: it has to be loaded again. */
  bool is_lost() const;
  /*! \brief Writes the pieces of the model into a file from an offset on, with the weights or
   * without; which these are. */
  std::vector<PieceRow> Export(int64_t file, int64_t offset, bool weights) const;
  const LoadedModel& loaded() const { return *loaded_; }

 private:
  Slot* slot_;
  std::shared_ptr<LoadedModel> loaded_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PARTITION_MODEL_H_
