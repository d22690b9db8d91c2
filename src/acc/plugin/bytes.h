/*!
 * \file bytes.h
 * \brief Memory as a tensor of bytes.
 */
#ifndef MXNET_SRC_ACC_PLUGIN_BYTES_H_
#define MXNET_SRC_ACC_PLUGIN_BYTES_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>

namespace mxnet {
namespace acc {

/*! \brief A tensor of kMXAccUInt with 8 bits and one axis, which points into this object. */
struct Bytes {
  Bytes(void* data, MXAccDevice device, uint64_t offset, size_t size)
      : shape{static_cast<int64_t>(size)} {
    tensor.struct_size = sizeof(tensor);
    tensor.tensor =
        MXAccDLTensor{data, device, 1, MXAccDataType{kMXAccUInt, 8, 1}, shape, &stride, offset};
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  int64_t shape[1];
  int64_t stride{1};
  MXTensor tensor{};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PLUGIN_BYTES_H_
