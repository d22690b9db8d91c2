/*!
 * \file transfer.h
 * \brief Copies where one side, or both, may be on an accelerator.
 */
#ifndef MXNET_SRC_API_CALL_TRANSFER_H_
#define MXNET_SRC_API_CALL_TRANSFER_H_

#include <mxnet/runtime/packed_func.h>

#include <vector>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief A tensor, and the array whose memory it shows; none where that is borrowed. */
struct Elements {
  const DLTensor& tensor;
  NDArray array;
};

/*! \brief The array that an argument is; none for what is borrowed, and for anything else. */
NDArray ArrayBehind(const MXNetArgValue& arg);

/*!
 * \brief Copies source, which broadcasts to the shape of target, into target with conversion, as
 * CopyCast does on the host.
 *
 * Between the host and a device, and between two devices, it is one copy where shapes and types
 * agree. Else they are made to agree where the source is. What is not on the host has an array.
 */
void CopyAnywhere(const Elements& source, const Elements& target);

/*! \brief Copies an array into one of the same shape and type, wherever each is. */
void Assign(const NDArray& target, const NDArray& source);

/*! \brief The same within a device; false where its library cannot. */
bool TryAssignWithin(const NDArray& target, const NDArray& source);

/*!
 * \brief What an operator gives that the library of a device executes, where all arrays among the
 * arguments are; a NULL array where it does not, or may not be asked.
 */
NDArray TryOnDevice(Context ctx, const PackedFunc& op, const std::vector<Any>& args);

/*! \brief An array of any context as one of ctx: itself or a copy. */
NDArray BringTo(const NDArray& array, Context ctx);

/*! \brief An array of any context as one of the host: itself or a copy. */
NDArray OnHost(const NDArray& array);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_TRANSFER_H_
