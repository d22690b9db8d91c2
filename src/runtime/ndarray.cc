/*!
 * \file ndarray.cc
 * \brief Array objects: their memory, views of them.
 */
#include "runtime/ndarray.h"

#include <unistd.h>

#include <cstring>
#include <string>

#include "runtime/c_api_guard.h"
#include "runtime/pool.h"

namespace mxnet {
namespace runtime {
namespace {

constexpr size_t kAlignment = 64;
/*! \brief Elements up to this size lie in the same block as the object. */
constexpr size_t kMaxInlineBytes = 512;
constexpr int kMaxDims = 64;

size_t AlignUp(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

void DeleteArray(MXNetObject* self) {
  auto* array = reinterpret_cast<ArrayObject*>(self);
  if (array->release != nullptr) array->release(array->owner, array->owner_size);
  PoolFree(array, array->block_size);
}

void ReleaseBlock(void* raw, size_t size) { PoolFree(raw, size); }

void ReleaseBase(void* base, size_t) { details::Release(static_cast<MXNetObject*>(base)); }

[[noreturn]] void ThrowNoMemory(ShapeView shape, DLDataType dtype) {
  MXNET_THROW("MemoryError") << "unable to allocate an array with shape " << shape.str()
                             << " and data type " << DataTypeName(dtype);
}

/*! \brief Memory a program can hope for; beyond it the system would end the process instead. */
size_t PhysicalMemory() {
  static const size_t bytes =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  return bytes;
}

size_t CheckedBytes(ShapeView shape, DLDataType dtype) {
  size_t bytes = static_cast<size_t>(ItemSize(dtype));
  bool empty = false;
  bool overflow = false;
  for (int64_t dim : shape) {
    if (dim < 0) {
      MXNET_THROW("ValueError") << "negative dimensions are not allowed, got shape " << shape.str();
    }
    empty = empty || dim == 0;
    overflow =
        __builtin_mul_overflow(bytes, static_cast<size_t>(dim == 0 ? 1 : dim), &bytes) || overflow;
  }
  if (overflow || bytes > PTRDIFF_MAX) ThrowNoMemory(shape, dtype);
  return empty ? 0 : bytes;
}

void CheckDType(DLDataType dtype) {
  if (dtype.bits == 0 || dtype.lanes == 0 || dtype.bits % 8 != 0) {
    MXNET_THROW("TypeError") << "arrays of " << DataTypeName(dtype) << " are not supported";
  }
}

void CheckNdim(int ndim) {
  if (ndim < 0 || ndim > kMaxDims) {
    MXNET_THROW("ValueError") << "an array has 0 to " << kMaxDims << " dimensions, got " << ndim;
  }
}

/*! \brief An object with room for the geometry and `extra` bytes; the caller fills in the rest. */
ArrayObject* AllocObject(ShapeView shape, DLDataType dtype, DLDevice ctx, size_t extra,
                         void** inline_data) {
  const size_t ndim = shape.size();
  const size_t head = AlignUp(sizeof(ArrayObject) + 2 * ndim * sizeof(int64_t));
  const PoolBlock block = PoolAlloc(head + extra, false);
  if (block.raw == nullptr) ThrowNoMemory(shape, dtype);
  auto* array = static_cast<ArrayObject*>(block.raw);
  array->visible.header = MXNetObject{1, kMXNetObjectNDArray, &DeleteArray};
  array->visible.flags = 0;
  array->release = nullptr;
  array->block_size = head + extra;
  auto* dims = reinterpret_cast<int64_t*>(array + 1);
  for (size_t i = 0; i < ndim; ++i) dims[i] = shape[i];
  array->visible.tensor =
      DLTensor{nullptr, ctx, static_cast<int32_t>(ndim), dtype, dims, dims + ndim, 0};
  *inline_data = static_cast<char*>(block.raw) + head;
  return array;
}

void SetRowMajorStrides(DLTensor* tensor) {
  int64_t stride = 1;
  for (int i = tensor->ndim - 1; i >= 0; --i) {
    tensor->strides[i] = stride;
    stride *= tensor->shape[i] == 0 ? 1 : tensor->shape[i];
  }
}

}  // namespace

ArrayObject* NewArray(ShapeView shape, DLDataType dtype, DLDevice ctx, int options) {
  CheckNdim(shape.ndim());
  CheckDType(dtype);
  if (ctx.device_type != kDLCPU) {
    MXNET_THROW("ValueError") << "this runtime cannot allocate on " << ContextName(ctx);
  }
  const size_t bytes = CheckedBytes(shape, dtype);
  const bool zeroed = (options & kMXNetCreateZeroed) != 0;
  void* data;
  if (bytes <= kMaxInlineBytes) {
    ArrayObject* array = AllocObject(shape, dtype, ctx, bytes, &data);
    array->visible.tensor.data = data;
    if (zeroed) std::memset(data, 0, bytes);
    SetRowMajorStrides(&array->visible.tensor);
    return array;
  }
  if (bytes > PhysicalMemory()) ThrowNoMemory(shape, dtype);
  const PoolBlock block = PoolAlloc(bytes, zeroed);
  if (block.raw == nullptr) ThrowNoMemory(shape, dtype);
  ArrayObject* array;
  try {
    array = AllocObject(shape, dtype, ctx, 0, &data);
  } catch (...) {
    PoolFree(block.raw, bytes);
    throw;
  }
  array->visible.tensor.data = block.data;
  array->owner = block.raw;
  array->owner_size = bytes;
  array->release = &ReleaseBlock;
  SetRowMajorStrides(&array->visible.tensor);
  return array;
}

ArrayObject* NewForeignArray(const DLTensor& tensor, void* owner, void (*release)(void*, size_t)) {
  CheckNdim(tensor.ndim);
  CheckDType(tensor.dtype);
  void* unused;
  const ShapeView shape = TensorShape(tensor);
  CheckedBytes(shape, tensor.dtype);
  ArrayObject* array = AllocObject(shape, tensor.dtype, tensor.device, 0, &unused);
  array->visible.tensor.data = TensorData(tensor);
  array->owner = owner;
  array->owner_size = 0;
  array->release = release;
  if (tensor.strides == nullptr) {
    SetRowMajorStrides(&array->visible.tensor);
  } else {
    for (int i = 0; i < tensor.ndim; ++i) array->visible.tensor.strides[i] = tensor.strides[i];
  }
  return array;
}

}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::ArrayObject;
using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;
using mxnet::runtime::ShapeView;

int MXNetNDArrayCreate(const int64_t* shape, int ndim, DLDataType dtype, DLDevice ctx, int options,
                       MXNetNDArrayHandle* out) {
  return Guard([&] {
    RequireNotNull(out, "MXNetNDArrayCreate", "out");
    mxnet::runtime::CheckNdim(ndim);
    if (ndim > 0) RequireNotNull(shape, "MXNetNDArrayCreate", "shape");
    *out =
        mxnet::runtime::NewArray(ShapeView(shape, static_cast<size_t>(ndim)), dtype, ctx, options);
  });
}

int MXNetNDArrayView(MXNetNDArrayHandle base, void* data, const int64_t* shape,
                     const int64_t* strides, int ndim, DLDataType dtype, MXNetNDArrayHandle* out) {
  return Guard([&] {
    RequireNotNull(base, "MXNetNDArrayView", "base");
    RequireNotNull(out, "MXNetNDArrayView", "out");
    mxnet::runtime::CheckNdim(ndim);
    if (ndim > 0) {
      RequireNotNull(shape, "MXNetNDArrayView", "shape");
      RequireNotNull(strides, "MXNetNDArrayView", "strides");
    }
    auto* owner = static_cast<ArrayObject*>(base);
    DLTensor tensor = owner->visible.tensor;
    tensor.data = data;
    tensor.ndim = ndim;
    tensor.dtype = dtype;
    // Only read from: the new object copies both.
    tensor.shape = const_cast<int64_t*>(shape);
    tensor.strides = const_cast<int64_t*>(strides);
    ArrayObject* view =
        mxnet::runtime::NewForeignArray(tensor, owner, &mxnet::runtime::ReleaseBase);
    mxnet::runtime::details::Retain(&owner->visible.header);
    view->visible.flags = owner->visible.flags;
    *out = view;
  });
}
