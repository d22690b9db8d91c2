/*!
 * \file model_tensor.cc
 * \brief Reads what libraries say of tensors, and tells them what is known.
 */
#include "acc/partition/model_tensor.h"

#include <mxnet/runtime/error.h>

#include <algorithm>

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {

std::string SpecText(DLDataType dtype, const std::vector<int64_t>& shape) {
  std::string text = DataTypeName(dtype) + "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string SpecText(const ModelTensor& tensor) {
  return tensor.has_rank ? SpecText(tensor.dtype, tensor.shape) : DataTypeName(tensor.dtype);
}

ModelTensor ReadTensor(const MXTensor& told, const ModelTensor* graphs, const std::string& what) {
  const MXAccDLTensor& tensor = told.tensor;
  ModelTensor read;
  if (graphs != nullptr) read.name = graphs->name;
  read.dtype = DLDataType{tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes};
  read.has_rank = tensor.ndim >= 0;
  if (tensor.ndim > MXACC_MAX_DIMS || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    MXNET_THROW("RuntimeError") << what << " has no shape, or more than " << MXACC_MAX_DIMS
                                << " dimensions";
  }
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    read.shape.push_back(std::max<int64_t>(tensor.shape[i], -1));
  }
  read.on_host = told.info != nullptr && told.info->memory == kMXAccHostMemory;
  if (graphs == nullptr) return read;
  bool fits = read.dtype == graphs->dtype;
  if (read.has_rank) {
    fits = fits && read.shape.size() == graphs->shape.size();
    for (size_t i = 0; fits && i < read.shape.size(); ++i) {
      const int64_t extent = graphs->shape[i];
      fits = extent < 0 || read.shape[i] < 0 || extent == read.shape[i];
    }
  }
  if (!fits) {
    MXNET_THROW("RuntimeError") << what << " is " << SpecText(read) << ", and " << SpecText(*graphs)
                                << " in the graph";
  }
  return read;
}

MXTensor WithoutMemory(const ModelTensor& spec, const int64_t* strides) {
  MXTensor tensor{};
  tensor.struct_size = sizeof(tensor);
  tensor.tensor.device = MXAccDevice{kMXAccHost, 0};
  tensor.tensor.ndim = spec.has_rank ? static_cast<int32_t>(spec.shape.size()) : -1;
  tensor.tensor.dtype = MXAccDataType{spec.dtype.code, spec.dtype.bits, spec.dtype.lanes};
  tensor.tensor.shape = const_cast<int64_t*>(spec.shape.data());
  tensor.tensor.strides = const_cast<int64_t*>(strides);
  tensor.name = spec.name.c_str();
  return tensor;
}

}  // namespace acc
}  // namespace mxnet
