/*!
 * \file copying.h
 * \brief Copies within a device.
 */
#ifndef CUDAACC_COPYING_H_
#define CUDAACC_COPYING_H_

#include "../sdk/operators/axes.h"
#include "kernels/element.h"
#include "stream.h"

namespace cudaacc {

/*! \brief Copies the elements of item bytes at axes, whose tensors are target and source. */
void CopyOnDevice(Commands* commands, int64_t item, const Axes& axes, Location target,
                  Location source);

}  // namespace cudaacc

#endif  // CUDAACC_COPYING_H_
