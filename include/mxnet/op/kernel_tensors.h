/*!
 * \file mxnet/op/kernel_tensors.h
 * \brief What a kernel reads and writes, as it is told to plans. Needs no library.
 */
#ifndef MXNET_OP_KERNEL_TENSORS_H_
#define MXNET_OP_KERNEL_TENSORS_H_

#include <mxnet/runtime/dlpack.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxnet {
namespace op {

/*! \brief What a kernel reads. */
struct KernelInput {
  DLDataType dtype{};
  std::vector<int64_t> shape;
  /*! \brief Whether it takes other memory than that of a row-major tensor: any strides, which run
   * is told, or the layout that whoever made the kernel knows.
   */
  bool any_layout{false};
  /*! \brief Of the memory that it reads, where that is in a layout which whoever made the kernel
   * knows; 0 where strides are told.
   */
  size_t bytes{0};
};

/*! \brief What a kernel writes. */
struct KernelOutput {
  DLDataType dtype{};
  std::vector<int64_t> shape;
  /*! \brief Of its memory: those of a row-major tensor where 0, others where the layout is blocked.
   */
  size_t bytes{0};
  /*! \brief The input whose memory it may lie in, where that is not read afterwards; -1 for none.
   */
  int in_place{-1};
};

/*! \brief Memory that a kernel keeps, as of weights it has packed. What has the same address is the
 * same memory, which several kernels share. */
struct KernelConstant {
  const void* data;
  size_t bytes;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_KERNEL_TENSORS_H_
