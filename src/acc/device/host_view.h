/*!
 * \file host_view.h
 * \brief Arrays of accelerators whose memory the CPU can read, as arrays of the host.
 */
#ifndef MXNET_SRC_ACC_DEVICE_HOST_VIEW_H_
#define MXNET_SRC_ACC_DEVICE_HOST_VIEW_H_

#include <mxnet/runtime/ndarray.h>

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {

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

#endif  // MXNET_SRC_ACC_DEVICE_HOST_VIEW_H_
