/*!
 * \file model_tensor.h
 * \brief Tensors of graphs and models without their elements, as they are known and told.
 */
#ifndef MXNET_SRC_ACC_PARTITION_MODEL_TENSOR_H_
#define MXNET_SRC_ACC_PARTITION_MODEL_TENSOR_H_

#include <mxnet/runtime/data_type.h>
#include <mxnet_acc.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mxnet {
namespace acc {

/*! \brief Name, type and extents of a tensor of a graph or model; -1 where one is not known. */
struct ModelTensor {
  std::string name;
  DLDataType dtype;
  std::vector<int64_t> shape;
  bool has_rank{true};
  bool on_host{false}; /*!< the library reads or writes memory of the host */

  bool is_static() const {
    for (const int64_t extent : shape) {
      if (extent < 0) return false;
    }
    return has_rank;
  }
};

/*! \brief "float32(2, ?)", in errors. */
std::string SpecText(DLDataType dtype, const std::vector<int64_t>& shape);
std::string SpecText(const ModelTensor& tensor);

/*! \brief Whether a shape, a vector or an array's own, is one of those of a tensor. */
template <typename Shape>
bool Fits(const Shape& shape, const ModelTensor& tensor) {
  if (!tensor.has_rank) return true;
  if (shape.size() != tensor.shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (tensor.shape[i] >= 0 && tensor.shape[i] != shape.begin()[i]) return false;
  }
  return true;
}

/*! \brief What a library says of an input or output, where that goes with what the graph has, if
 * it has it; else RuntimeError, which begins with `what`. */
ModelTensor ReadTensor(const MXTensor& told, const ModelTensor* graphs, const std::string& what);

/*! \brief A tensor without elements, over a shape and strides that outlive it. */
MXTensor WithoutMemory(const ModelTensor& spec, const int64_t* strides);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PARTITION_MODEL_TENSOR_H_
