/*!
 * \file model_graph.cc
 * \brief Collects the tensors of a graph, and passes them as mxnet_acc.h says.
 */
#include "acc/partition/model_graph.h"

#include <utility>

#include "acc/device/arrays.h"

namespace mxnet {
namespace acc {

ModelGraph::ModelGraph(std::string json, int64_t num_nodes, runtime::Bytes onnx)
    : json_(std::move(json)), num_nodes_(num_nodes), onnx_(std::move(onnx)) {
  if (num_nodes < 1 || num_nodes > INT32_MAX) {
    MXNET_THROW("ValueError") << "ModelGraph: num_nodes: expected 1 to " << INT32_MAX << ", got "
                              << num_nodes;
  }
}

void ModelGraph::Add(const std::string& name, DLDataType dtype, const std::vector<int64_t>& shape,
                     const std::vector<std::string>& symbols, int32_t role, Tensors* tensors) {
  if (shape.size() > MXACC_MAX_DIMS || symbols.size() != shape.size()) {
    MXNET_THROW("ValueError") << "ModelGraph: " << name << ": " << shape.size() << " extents with "
                              << symbols.size() << " symbols, expected as many, of at most "
                              << MXACC_MAX_DIMS;
  }
  Entry& entry = tensors->entries.emplace_back();
  entry.name = name;
  entry.shape = shape;
  entry.symbols = symbols;
  entry.strides.resize(shape.size());
  bool is_dynamic = false;
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    // Strides beyond an extent that is not known are not known either.
    entry.strides[i] = step;
    step = step < 0 || shape[i] < 0 ? -1 : step * shape[i];
    is_dynamic = is_dynamic || shape[i] < 0;
  }
  for (size_t i = 0; is_dynamic && i < shape.size(); ++i) {
    const int64_t extent = shape[i];
    const char* symbol = extent < 0 ? entry.symbols[i].c_str() : nullptr;
    entry.dimensions.push_back(MXAccDimension{symbol, extent, extent, extent});
  }
  entry.info.struct_size = sizeof(entry.info);
  entry.info.dimensions = is_dynamic ? entry.dimensions.data() : nullptr;
  MXTensor& tensor = entry.tensor;
  tensor.struct_size = sizeof(tensor);
  tensor.tensor.device = MXAccDevice{kMXAccHost, 0};
  tensor.tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.tensor.dtype = MXAccDataType{dtype.code, dtype.bits, dtype.lanes};
  tensor.tensor.shape = entry.shape.data();
  tensor.tensor.strides = entry.strides.data();
  tensor.name = entry.name.c_str();
  tensor.role = role;
  tensor.info = &entry.info;
  tensors->specs.push_back({name, dtype, shape});
}

void ModelGraph::AddInput(const std::string& name, DLDataType dtype,
                          const std::vector<int64_t>& shape,
                          const std::vector<std::string>& symbols) {
  Add(name, dtype, shape, symbols, kMXAccInput, &inputs_);
}

void ModelGraph::AddOutput(const std::string& name, DLDataType dtype,
                           const std::vector<int64_t>& shape,
                           const std::vector<std::string>& symbols) {
  Add(name, dtype, shape, symbols, kMXAccOutput, &outputs_);
}

void ModelGraph::AddWeight(const std::string& name, const NDArray& array,
                           const std::string& content_hash) {
  if (array.ctx() != kHost || !IsContiguous(array.tensor())) {
    MXNET_THROW("ValueError") << "ModelGraph: weight " << name
                              << ": expected a row-major array of the CPU, got one on "
                              << ContextName(array.ctx());
  }
  Entry& entry = weights_.emplace_back();
  entry.name = name;
  entry.hash = content_hash;
  entry.info.struct_size = sizeof(entry.info);
  entry.info.memory = kMXAccHostMemory;
  entry.info.content_hash = entry.hash.empty() ? nullptr : entry.hash.c_str();
  entry.tensor = TensorOf(array);
  entry.tensor.name = entry.name.c_str();
  entry.tensor.role = kMXAccWeight;
  entry.tensor.info = &entry.info;
  arrays_.push_back(array);
}

ModelGraph::View::View(const ModelGraph& graph) {
  for (const Entry& entry : graph.inputs_.entries) data_.push_back(entry.tensor);
  for (const Entry& entry : graph.weights_) data_.push_back(entry.tensor);
  for (const Entry& entry : graph.outputs_.entries) outputs_.push_back(entry.tensor);
  graph_.struct_size = sizeof(graph_);
  graph_.json = graph.json_.c_str();
  graph_.data = data_.data();
  graph_.num_data = static_cast<int32_t>(data_.size());
  graph_.num_nodes = static_cast<int32_t>(graph.num_nodes_);
  graph_.version = MXACC_GRAPH_VERSION;
  graph_.num_inputs = static_cast<int32_t>(graph.inputs_.entries.size());
  graph_.outputs = outputs_.data();
  graph_.num_outputs = static_cast<int32_t>(outputs_.size());
  graph_.onnx = graph.onnx_.size() == 0 ? nullptr : graph.onnx_.data();
  graph_.onnx_size = graph.onnx_.size();
}

}  // namespace acc
}  // namespace mxnet
