/*!
 * \file transfers.h
 * \brief Arrays on another device: copies of any strides between the host and devices, and views of
 * memory of a device that the CPU can read.
 */
#ifndef MXNET_SRC_ACC_DEVICE_TRANSFERS_H_
#define MXNET_SRC_ACC_DEVICE_TRANSFERS_H_

#include <mxnet/runtime/ndarray.h>

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {

/*!
 * \brief Copies the elements of source into target, wherever each is; shapes and types agree.
 *
 * On an accelerator the two may share memory. Where the target's elements share memory with each
 * other, what they hold is undefined.
 */
void CopyArray(const NDArray& target, const NDArray& source);

/*! \brief The same between arrays of a device that share no memory, if its library can. */
bool TryCopyWithin(const NDArray& target, const NDArray& source);

/*! \brief A row-major copy in a context; the array itself where it is there already. */
NDArray InContext(const NDArray& array, Context ctx);

/*! \brief A row-major copy on the same device; false where the library does not copy within it. */
bool TryCopyOnDevice(const NDArray& array, NDArray* copy);

/*! \brief A tensor as an array, which must not outlive it. */
NDArray Borrowed(const DLTensor& tensor);

/*! \brief Bytes of the elements of an array. */
int64_t ByteCount(const NDArray& array);

/*! \brief Whether the CPU may read and write the memory of an array where it is. */
bool IsHostVisible(const NDArray& array);

/*!
 * \brief An array of the host over the same memory, which it keeps; none where the CPU cannot read
 * it, and the array itself where it is of the host.
 *
 * Waits for the work under way on the device, and throws where that has spoiled the array. What is
 * given to the device afterwards is not waited for.
 */
NDArray HostView(const NDArray& array);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_TRANSFERS_H_
