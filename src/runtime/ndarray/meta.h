/*!
 * \file meta.h
 * \brief The geometry of a result, learned from the operator's own body.
 */
#ifndef MXNET_SRC_RUNTIME_NDARRAY_META_H_
#define MXNET_SRC_RUNTIME_NDARRAY_META_H_

#include <mxnet/runtime/ndarray.h>

#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief An array that was asked for on kMXNetMetaDevice. */
struct MetaGeometry {
  DLDataType dtype;
  std::vector<int64_t> shape;
};

/*! \brief Notes the geometry, for TakeMeta, and throws an error of the kind "Meta". */
[[noreturn]] void ThrowMeta(ShapeView shape, DLDataType dtype);

/*! \brief What the calling thread asked for last; it is told once. */
MetaGeometry TakeMeta();

/*! \brief An array of that geometry without elements. */
NDArray NewMetaArray(const DLTensor& like);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_NDARRAY_META_H_
