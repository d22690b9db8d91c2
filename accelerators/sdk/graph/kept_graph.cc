#include "kept_graph.h"

#include "../status.h"
#include "../tensor.h"

namespace mxacc {

std::string PieceOfWeight(size_t number) { return "weight." + std::to_string(number); }

void CheckKey(const std::string& own, const char* key) {
  if (own == key) return;
  throw Failure(kMXAccBadArgument, "compiled models of " + std::string(key) + " do not fit");
}

KeptGraph::KeptGraph(const PieceReader& reader, const MXTensor* weights, int32_t num_weights)
    : json_(reader.Text(kGraphPiece)), graph_(ReadGraph(json_.c_str())) {
  if (num_weights != 0) {
    GiveWeights(weights, num_weights, &graph_);
  } else {
    TakeWeights(reader);
  }
}

void KeptGraph::TakeWeights(const PieceReader& reader) {
  for (size_t i = 0; i < graph_.weights.size(); ++i) {
    GraphEntry& entry = graph_.entries[static_cast<size_t>(graph_.weights[i])];
    const MXAccPiece& piece = reader.At(PieceOfWeight(i));
    if (!entry.is_static() || BytesOf(entry) != static_cast<double>(piece.size)) {
      throw Failure(kMXAccBadArgument, "importModel: the weight '" + entry.name +
                                           "' has another number of bytes than its shape says");
    }
    std::vector<int64_t>& strides = strides_.emplace_back(entry.shape.size());
    int64_t step = 1;
    for (size_t axis = strides.size(); axis-- > 0; step *= entry.shape[axis]) strides[axis] = step;
    MXTensor& tensor = tensors_.emplace_back();
    tensor.struct_size = sizeof(tensor);
    tensor.role = kMXAccWeight;
    tensor.tensor.data = const_cast<void*>(piece.data);
    tensor.tensor.device = MXAccDevice{kMXAccHost, 0};
    tensor.tensor.dtype = entry.dtype;
    tensor.tensor.ndim = static_cast<int32_t>(entry.shape.size());
    tensor.tensor.shape = entry.shape.data();
    tensor.tensor.strides = strides.data();
  }
  GiveWeights(tensors_.data(), static_cast<int32_t>(tensors_.size()), &graph_);
}

}  // namespace mxacc
