/*!
 * \file meta.cc
 * \brief Arrays without elements.
 */
#include "runtime/ndarray/meta.h"

#include <utility>

#include "runtime/ndarray/ndarray.h"

namespace mxnet {
namespace runtime {
namespace {

thread_local MetaGeometry asked;

void ReleaseNothing(void*, size_t) {}

}  // namespace

void ThrowMeta(ShapeView shape, DLDataType dtype) {
  asked.dtype = dtype;
  asked.shape.assign(shape.begin(), shape.end());
  throw Error("Meta", "an array was asked for that has a geometry only");
}

MetaGeometry TakeMeta() { return std::move(asked); }

NDArray NewMetaArray(const DLTensor& like) {
  DLTensor tensor = like;
  tensor.data = nullptr;
  tensor.byte_offset = 0;
  tensor.device = DLDevice{static_cast<DLDeviceType>(kMXNetMetaDevice), 0};
  return NDArray(ObjectRef::Steal(NewForeignArray(tensor, nullptr, &ReleaseNothing)));
}

}  // namespace runtime
}  // namespace mxnet
