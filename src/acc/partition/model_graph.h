/*!
 * \file model_graph.h
 * \brief A graph as libraries of accelerators get it.
 */
#ifndef MXNET_SRC_ACC_PARTITION_MODEL_GRAPH_H_
#define MXNET_SRC_ACC_PARTITION_MODEL_GRAPH_H_

#include <mxnet/runtime/container/string.h>
#include <mxnet/runtime/ndarray.h>
#include <mxnet_acc.h>

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "acc/partition/model_tensor.h"
#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {

/*! \brief A graph with its weights. They do not change once a library was asked about it. */
class ModelGraph {
 public:
  /*! \brief onnx is a ModelProto without weights; empty where there is none. */
  ModelGraph(std::string json, int64_t num_nodes, runtime::Bytes onnx);
  ModelGraph(const ModelGraph&) = delete;
  ModelGraph& operator=(const ModelGraph&) = delete;

  /*! \brief symbols has a name for each extent, "" where that is known. */
  void AddInput(const std::string& name, DLDataType dtype, const std::vector<int64_t>& shape,
                const std::vector<std::string>& symbols);
  void AddOutput(const std::string& name, DLDataType dtype, const std::vector<int64_t>& shape,
                 const std::vector<std::string>& symbols);
  /*! \brief An array of the host; content_hash may be "". */
  void AddWeight(const std::string& name, const NDArray& array, const std::string& content_hash);

  const std::vector<ModelTensor>& inputs() const { return inputs_.specs; }
  const std::vector<ModelTensor>& outputs() const { return outputs_.specs; }
  const std::vector<NDArray>& weights() const { return arrays_; }
  int64_t num_nodes() const { return num_nodes_; }

  /*! \brief Has a library that compiles it be asked to stop, by any thread. */
  void GiveUp() { is_given_up_.store(true, std::memory_order_relaxed); }
  bool is_given_up() const { return is_given_up_.load(std::memory_order_relaxed); }

  /*! \brief What a library gets of it for one call. */
  class View {
   public:
    explicit View(const ModelGraph& graph);
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    const MXAccGraph* get() const { return &graph_; }
    const MXTensor* weights() const { return graph_.data + graph_.num_inputs; }

   private:
    MXAccGraph graph_{};
    std::vector<MXTensor> data_;
    std::vector<MXTensor> outputs_;
  };

 private:
  /*! \brief A tensor with what it points to. */
  struct Entry {
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
    std::vector<std::string> symbols;
    std::vector<MXAccDimension> dimensions;
    std::string hash;
    std::string name;
    MXAccTensorInfo info{};
    MXTensor tensor{};
  };
  struct Tensors {
    std::vector<ModelTensor> specs;
    std::deque<Entry> entries;
  };
  static void Add(const std::string& name, DLDataType dtype, const std::vector<int64_t>& shape,
                  const std::vector<std::string>& symbols, int32_t role, Tensors* tensors);

  std::string json_;
  int64_t num_nodes_;
  runtime::Bytes onnx_;
  Tensors inputs_;
  Tensors outputs_;
  std::deque<Entry> weights_;
  std::vector<NDArray> arrays_;
  std::atomic<bool> is_given_up_{false};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PARTITION_MODEL_GRAPH_H_
