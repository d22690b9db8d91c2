/*!
 * \file served_models.h
 * \brief Graphs and models in the process that serves a library.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_SERVED_MODELS_H_
#define MXNET_SRC_ACC_ISOLATED_SERVED_MODELS_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "acc/isolated/asker.h"
#include "acc/isolated/message.h"
#include "acc/isolated/shared_memory.h"

namespace mxnet {
namespace acc {
namespace isolated {

/*! \brief Answers the requests about graphs and models. */
class ServedModels {
 public:
  /*! \brief All outlive it. */
  ServedModels(const MXAccApi& api, SharedMemory* shared, Asker* asker);
  ~ServedModels();

  Writer TakeBytes(Reader* request);
  Writer SupportedOps(Reader* request);
  Writer LoadModel(Reader* request);
  Writer ListOptions() const;
  Writer ModelKey(Reader* request) const;
  Writer CheckModel(Reader* request) const;
  Writer ImportModel(Reader* request);
  Writer Infer(Reader* request);
  Writer InferShapes(Reader* request);
  Writer UpdateWeights(Reader* request);
  Writer ExportModel(Reader* request);
  Writer UnloadModel(Reader* request);
  Writer Profile(Reader* request);

 private:
  struct Model;
  struct GivenGraph;
  class Run;
  class Records;
  using Block = std::shared_ptr<char>;

  /*! \brief The bytes that were sent for this call, of which a request tells how many these are:
   * what came before is of calls that failed while they sent theirs. */
  std::vector<Block> Received(Reader* request);
  /*! \brief Keeps a model of the library; what is told of it. */
  Writer Keep(const MXAccModel& model, std::vector<Block> bytes);
  void ReadArguments(Reader* request, std::vector<MXTensor>* tensors) const;

  const MXAccApi& api_;
  SharedMemory* shared_;
  Asker* asker_;
  std::vector<Block> received_;
  uint64_t last_model_{0};
  std::unordered_map<uint64_t, std::unique_ptr<Model>> models_;
  std::unique_ptr<Records> records_;
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_SERVED_MODELS_H_
