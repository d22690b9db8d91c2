/*!
 * \file mapped_array.h
 * \brief Arrays that plans keep from run to run.
 */
#ifndef MXNET_SRC_GRAPH_MAPPED_ARRAY_H_
#define MXNET_SRC_GRAPH_MAPPED_ARRAY_H_

#include <mxnet/runtime/ndarray.h>

namespace mxnet {
namespace graph {

/*!
 * \brief An uninitialized row-major array on the CPU, which has pages of its own where it is large.
 *
 * Among what malloc has, an array that is gone leaves a hole, and which of the holes the next one
 * takes is chance: a process would have some arrays more than plans need. Its own pages go back to
 * the system at once, and begin where a huge page does. To get them takes time, so that this is for
 * arrays that live for many runs.
 */
runtime::NDArray MappedArray(runtime::ShapeView shape, DLDataType dtype);

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_MAPPED_ARRAY_H_
