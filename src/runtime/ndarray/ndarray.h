/*!
 * \file ndarray.h
 * \brief The object behind MXNetNDArrayHandle.
 */
#ifndef MXNET_SRC_RUNTIME_NDARRAY_NDARRAY_H_
#define MXNET_SRC_RUNTIME_NDARRAY_NDARRAY_H_

#include <mxnet/runtime/ndarray.h>

#include "runtime/core/devices.h"

namespace mxnet {
namespace runtime {

/*! \brief An array; its shape and strides, and the elements of a small one, follow in memory. */
struct ArrayObject {
  MXNetNDArrayObject visible;
  void* owner; /*!< what release is called with: memory, the base of a view, a foreign tensor */
  size_t owner_size; /*!< of memory; of a borrowed tensor, the address of its owner functions */
  void (*release)(void* owner, size_t owner_size); /*!< NULL where the elements lie inside */
  size_t block_size;
};

/*! \brief The shape of an array, and behind it the strides. */
inline const int64_t* ExtentsOf(const ArrayObject* array) {
  return reinterpret_cast<const int64_t*>(array + 1);
}

/*!
 * \brief A new row-major array over memory of a device, of a spec that was checked before, with
 * its size in bytes. Throws MemoryError, and gives the block back then.
 */
ArrayObject* NewDeviceArray(ShapeView shape, DLDataType dtype, DLDevice ctx, size_t bytes,
                            const DeviceBlock& block);

/*! \brief The release of a view; its owner is the array that has the memory. */
void ReleaseBase(void* base, size_t);

/*! \brief The array whose memory a view shows; the array itself where it is none. */
inline const ArrayObject* RootOf(const ArrayObject* array) {
  return array->release == &ReleaseBase ? static_cast<const ArrayObject*>(array->owner) : array;
}

/*! \brief An array over memory somebody else owns; release(owner, 0) runs when it goes. */
ArrayObject* NewForeignArray(const DLTensor& tensor, void* owner, void (*release)(void*, size_t));

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_NDARRAY_NDARRAY_H_
