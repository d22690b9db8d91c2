/*!
 * \file copies.h
 * \brief Copies between the host and devices whose memory the CPU does not see.
 */
#ifndef MXACC_SDK_OPERATORS_COPIES_H_
#define MXACC_SDK_OPERATORS_COPIES_H_

#include <vector>

#include "axes.h"

namespace mxacc {

/*! \brief A piece of what mx_alloc gave, as a tensor of bytes. */
struct Bytes {
  Bytes(int32_t dev_id, void* data, uint64_t byte_offset, size_t size);
  Bytes(const Bytes&) = delete;

  int64_t shape[1];
  int64_t strides[1];
  MXAccDLTensor tensor;
};

/*! \brief Failure where a pair of tensors has not got one type and shape. */
void CheckCopies(const MXTensor* targets, const MXTensor* sources, int32_t count);

/*! \brief Where a tensor of the host begins; Failure where it is none. */
char* HostAddress(const MXAccDLTensor& tensor);

/*! \brief The axes of both, in this order. */
Axes CopyAxes(const MXAccDLTensor& target, const MXAccDLTensor& source);

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_COPIES_H_
