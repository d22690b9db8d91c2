/*!
 * \file copy.h
 * \brief Copies within a device.
 */
#ifndef OPENCL_COPY_H_
#define OPENCL_COPY_H_

#include "layout.h"
#include "stream.h"

namespace opencl {

/*! \brief Copies the elements of item bytes at axes, whose tensors are target and source. */
void CopyOnDevice(Commands* commands, int64_t item, const Axes& axes, Location target,
                  Location source);

}  // namespace opencl

#endif  // OPENCL_COPY_H_
