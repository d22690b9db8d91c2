/*!
 * \file ndarray.cc
 * \brief Array objects: their memory, views of them.
 */
#include "runtime/ndarray/ndarray.h"

#include <mxnet/runtime/extents.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/devices.h"
#include "runtime/core/pool.h"

namespace mxnet {
namespace runtime {
namespace {

using details::ThrowNoMemory;
using pool::kAlignment;
/*! \brief Elements up to this size lie in the same block as the object. */
constexpr size_t kMaxInlineBytes = 512;

size_t AlignUp(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

void FreeBlockOf(ArrayObject* array) {
  const size_t size = array->block_size;
  if (size > pool::kFineLimit || !PoolKeepSmall(array, size)) PoolFree(array, size);
}

void DestroyOwner(MXNetObject* self) {
  auto* array = reinterpret_cast<ArrayObject*>(self);
  array->release(array->owner, array->owner_size);
  FreeBlockOf(array);
}

void DeleteArray(MXNetObject* self) {
  auto* array = reinterpret_cast<ArrayObject*>(self);
  if (array->release == nullptr) {
    FreeBlockOf(array);
  } else {
    // In turn, since a foreign tensor may be that of another array, and so on.
    details::DeleteInTurn(self, &DestroyOwner);
  }
}

void ReleaseBorrowed(void* owner, size_t owner_functions) {
  reinterpret_cast<const MXNetOwnerFunctions*>(owner_functions)->release(owner);
}

/*! \brief Memory a program can hope for; beyond it the system would end the process instead. */
size_t PhysicalMemory() {
  static const size_t bytes =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  return bytes;
}

[[noreturn, gnu::cold, gnu::noinline]] void ThrowDType(DLDataType dtype) {
  MXNET_THROW("TypeError") << "arrays of " << DataTypeName(dtype) << " are not supported";
}

inline void CheckDType(DLDataType dtype) {
  if (dtype.bits == 0 || dtype.lanes == 0 || dtype.bits % 8 != 0) ThrowDType(dtype);
}

[[noreturn, gnu::cold, gnu::noinline]] void ThrowNdim(int ndim) {
  MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got " << ndim;
}

inline void CheckNdim(int ndim) {
  if (ndim < 0 || ndim > kMaxNdim) ThrowNdim(ndim);
}

/*! \brief Bytes of an object with its shape and strides; elements may follow. */
inline size_t HeadSize(size_t ndim) {
  return AlignUp(sizeof(ArrayObject) + 2 * ndim * sizeof(int64_t));
}

/*! \brief Makes a row-major array of a block; its elements are not set. */
inline ArrayObject* FormObject(void* block, size_t size, ShapeView shape, DLDataType dtype,
                               DLDevice ctx, void* data) {
  const size_t ndim = shape.size();
  auto* array = static_cast<ArrayObject*>(block);
  auto* dims = reinterpret_cast<int64_t*>(array + 1);
  array->visible.header = MXNetObject{1, kMXNetObjectNDArray, &DeleteArray, nullptr};
  array->visible.tensor =
      DLTensor{data, ctx, static_cast<int32_t>(ndim), dtype, dims, dims + ndim, 0};
  array->visible.flags = 0;
  array->release = nullptr;
  array->block_size = size;
  int64_t stride = 1;
  for (size_t i = ndim; i-- > 0;) {
    const int64_t extent = shape[i];
    dims[i] = extent;
    dims[ndim + i] = stride;
    stride *= std::max<int64_t>(extent, 1);
  }
  return array;
}

/*! \brief A row-major array without elements, and without a release. */
inline ArrayObject* AllocObject(ShapeView shape, DLDataType dtype, DLDevice ctx) {
  const size_t size = HeadSize(shape.size());
  void* block = size <= pool::kFineLimit ? PoolTakeSmall(size) : nullptr;
  if (__builtin_expect(block == nullptr, 0)) block = PoolAlloc(size, false).raw;
  if (__builtin_expect(block == nullptr, 0)) ThrowNoMemory(shape, dtype);
  return FormObject(block, size, shape, dtype, ctx, nullptr);
}

/*! \brief Clears whole cache lines, a few of them: calling memset would take longer. */
void ClearLines(void* data, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kAlignment) {
    std::memset(static_cast<char*>(data) + at, 0, kAlignment);
  }
}

/*!
 * \brief Makes a small array of the CPU from a block of the pool, in as few steps as possible.
 *
 * nullptr where that is not possible: NewArray then makes it, or says what is wrong.
 */
inline ArrayObject* TryNewSmallArray(ShapeView shape, DLDataType dtype, DLDevice ctx, bool zeroed) {
  constexpr size_t kMaxSmallDims = 8;
  const size_t ndim = shape.size();
  if (ndim > kMaxSmallDims || ctx.device_type != kDLCPU || dtype.lanes != 1) return nullptr;
  uint64_t bytes = dtype.bits / 8;
  for (size_t i = 0; i < ndim; ++i) {
    if (static_cast<uint64_t>(shape[i]) > kMaxInlineBytes) return nullptr;
    bytes *= static_cast<uint64_t>(shape[i]);
    if (bytes > kMaxInlineBytes) return nullptr;
  }
  if (bytes == 0 || dtype.bits % 8 != 0) return nullptr;
  const size_t head = HeadSize(ndim);
  const size_t size = head + AlignUp(bytes);
  void* block = PoolTakeSmall(size);
  if (block == nullptr) return nullptr;
  char* data = static_cast<char*>(block) + head;
  if (zeroed) ClearLines(data, bytes);
  return FormObject(block, size, shape, dtype, ctx, data);
}

/*! \brief The same for an array without axes, whose sizes the compiler knows; not zeroed. */
inline ArrayObject* TryNewElement(DLDataType dtype, DLDevice ctx) {
  if (ctx.device_type != kDLCPU || dtype.lanes != 1 || dtype.bits == 0 || dtype.bits % 8 != 0) {
    return nullptr;
  }
  static_assert(kAlignment * 8 > UINT8_MAX, "an element of any type has room in a cache line");
  constexpr size_t kHead = (sizeof(ArrayObject) + kAlignment - 1) / kAlignment * kAlignment;
  void* block = PoolTakeSmall(kHead + kAlignment);
  if (block == nullptr) return nullptr;
  return FormObject(block, kHead + kAlignment, ShapeView(nullptr, 0), dtype, ctx,
                    static_cast<char*>(block) + kHead);
}

/*! \brief An array whose elements lie in the object's own block. */
ArrayObject* NewInlineArray(ShapeView shape, DLDataType dtype, DLDevice ctx, size_t bytes,
                            bool zeroed) {
  const size_t head = HeadSize(shape.size());
  const size_t size = head + AlignUp(bytes);
  const PoolBlock block = PoolAlloc(size, false);
  if (block.raw == nullptr) ThrowNoMemory(shape, dtype);
  char* data = static_cast<char*>(block.raw) + head;
  if (zeroed) ClearLines(data, bytes);
  return FormObject(block.raw, size, shape, dtype, ctx, data);
}

}  // namespace

namespace {

void ReleaseBlock(void* raw, size_t size) { PoolFree(raw, size); }

DeviceBlock AllocOnHost(ShapeView shape, DLDataType dtype, size_t bytes, bool zeroed) {
  if (bytes > PhysicalMemory()) ThrowNoMemory(shape, dtype);
  const PoolBlock block = PoolAlloc(bytes, zeroed);
  if (block.raw == nullptr) ThrowNoMemory(shape, dtype);
  return {block.data, block.raw, &ReleaseBlock};
}

DeviceBlock AllocOnDevice(DLDevice ctx, size_t bytes, bool zeroed) {
  DeviceProvider* provider = device_provider.load(std::memory_order_acquire);
  if (provider == nullptr) {
    MXNET_THROW("ValueError") << "this runtime cannot allocate on " << ContextName(ctx);
  }
  return provider->Alloc(ctx, bytes, zeroed);
}

/*! \brief What NewDeviceArray does; inlined into both its users. */
inline ArrayObject* ArrayOver(ShapeView shape, DLDataType dtype, DLDevice ctx, size_t bytes,
                              const DeviceBlock& block) {
  ArrayObject* array;
  try {
    array = AllocObject(shape, dtype, ctx);
  } catch (...) {
    block.release(block.owner, bytes);
    throw;
  }
  // Not in turn as in DeleteArray: memory of a device holds no references to objects.
  array->visible.header.deleter = &DestroyOwner;
  array->visible.tensor.data = block.data;
  array->owner = block.owner;
  array->owner_size = bytes;
  array->release = block.release;
  return array;
}

/*! \brief A new row-major array. Throws ValueError, TypeError or MemoryError. */
inline ArrayObject* NewArray(ShapeView shape, DLDataType dtype, DLDevice ctx, int options) {
  static_assert(kMaxInlineBytes + 256 <= pool::kFineLimit, "small arrays are of a fine class");
  CheckNdim(shape.ndim());
  CheckDType(dtype);
  const size_t bytes = CheckedBytes(shape, dtype);
  const bool zeroed = (options & kMXNetCreateZeroed) != 0;
  const bool on_host = ctx.device_type == kDLCPU;
  if (on_host && bytes <= kMaxInlineBytes) return NewInlineArray(shape, dtype, ctx, bytes, zeroed);
  const DeviceBlock block =
      on_host ? AllocOnHost(shape, dtype, bytes, zeroed) : AllocOnDevice(ctx, bytes, zeroed);
  return ArrayOver(shape, dtype, ctx, bytes, block);
}

}  // namespace

ArrayObject* NewDeviceArray(ShapeView shape, DLDataType dtype, DLDevice ctx, size_t bytes,
                            const DeviceBlock& block) {
  return ArrayOver(shape, dtype, ctx, bytes, block);
}

ArrayObject* NewForeignArray(const DLTensor& tensor, void* owner, void (*release)(void*, size_t)) {
  CheckNdim(tensor.ndim);
  CheckDType(tensor.dtype);
  if (tensor.ndim > 0 && tensor.shape == nullptr) {
    MXNET_THROW("ValueError") << "a tensor of " << tensor.ndim << " dimensions has no shape";
  }
  const ShapeView shape = TensorShape(tensor);
  CheckedBytes(shape, tensor.dtype);
  ArrayObject* array = AllocObject(shape, tensor.dtype, tensor.device);
  array->visible.tensor.data = TensorData(tensor);
  array->owner = owner;
  array->owner_size = 0;
  array->release = release;
  if (tensor.strides != nullptr) {
    for (int i = 0; i < tensor.ndim; ++i) array->visible.tensor.strides[i] = tensor.strides[i];
  }
  return array;
}

void ReleaseBase(void* base, size_t) { details::Release(static_cast<MXNetObject*>(base)); }

namespace {

/*! \brief What keeps the memory of a view: not the view that base may be itself, as `a = a[1:]` in
 * a loop would keep every one of them. */
inline ArrayObject* OwnerOf(ArrayObject* base) {
  return base->release == &ReleaseBase ? static_cast<ArrayObject*>(base->owner) : base;
}

/*! \brief The deleter of a view that does not keep its base. */
void DeleteBorrowed(MXNetObject* self) { FreeBlockOf(reinterpret_cast<ArrayObject*>(self)); }

/*!
 * \brief The commonest views in as few steps as possible.
 *
 * nullptr sends the caller the general way, which also tells what is wrong with odd arguments.
 */
inline ArrayObject* TryNewView(ArrayObject* base, void* data, const int64_t* shape,
                               const int64_t* strides, int ndim, DLDataType dtype,
                               bool keeps_base) {
  constexpr int kMaxSmallDims = 8;
  const DLTensor& tensor = base->visible.tensor;
  if (ndim < 0 || ndim > kMaxSmallDims || dtype.code != tensor.dtype.code ||
      dtype.bits != tensor.dtype.bits || dtype.lanes != tensor.dtype.lanes) {
    return nullptr;
  }
  const size_t size = HeadSize(static_cast<size_t>(ndim));
  auto* array = static_cast<ArrayObject*>(PoolTakeSmall(size));
  if (array == nullptr) return nullptr;
  auto* dims = reinterpret_cast<int64_t*>(array + 1);
  uint64_t bytes = dtype.bits;
  bool fits = true;
  for (int i = 0; i < ndim; ++i) {
    const int64_t extent = shape[i];
    fits &= extent > 0 && !__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes);
    dims[i] = extent;
    dims[ndim + i] = strides[i];
  }
  if (!fits || bytes > static_cast<uint64_t>(INT64_MAX)) {
    PoolKeepSmall(array, size);
    return nullptr;
  }
  ArrayObject* owner = OwnerOf(base);
  // The memory of a view belongs to no other view, so that nothing has to be deleted in turn.
  array->visible.header =
      MXNetObject{1, kMXNetObjectNDArray, keeps_base ? &DestroyOwner : &DeleteBorrowed, nullptr};
  array->visible.tensor = DLTensor{data, tensor.device, ndim, dtype, dims, dims + ndim, 0};
  array->visible.flags = base->visible.flags & ~uint64_t{kMXNetNDArrayHasPeer};
  array->release = &ReleaseBase;
  array->owner = owner;
  array->owner_size = 0;
  array->block_size = size;
  if (keeps_base) details::Retain(&owner->visible.header);
  return array;
}

void KeepBase(ArrayObject* view) {
  if (view->visible.header.deleter != &DeleteBorrowed) return;
  details::Retain(static_cast<MXNetObject*>(view->owner));
  // Who has the last reference reads it after the caller has given up its own.
  view->visible.header.deleter = &DestroyOwner;
}

}  // namespace
}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::ArrayObject;
using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;
using mxnet::runtime::ShapeView;

namespace {

/*! \brief Not inlined, so that the short way through MXNetNDArrayCreate saves no registers. */
[[gnu::noinline]] int CreateArray(const int64_t* shape, int ndim, DLDataType dtype, DLDevice ctx,
                                  int options, MXNetNDArrayHandle* out) {
  return Guard([&] {
    RequireNotNull(out, "MXNetNDArrayCreate", "out");
    mxnet::runtime::CheckNdim(ndim);
    if (ndim > 0) RequireNotNull(shape, "MXNetNDArrayCreate", "shape");
    *out =
        mxnet::runtime::NewArray(ShapeView(shape, static_cast<size_t>(ndim)), dtype, ctx, options);
  });
}

/*! \brief MXNetNDArrayCreate of a 0-d array. */
[[gnu::noinline]] int CreateElement(DLDataType dtype, DLDevice ctx, int options,
                                    MXNetNDArrayHandle* out) {
  ArrayObject* array = (options & kMXNetCreateZeroed) == 0
                           ? mxnet::runtime::TryNewElement(dtype, ctx)
                           : mxnet::runtime::TryNewSmallArray(ShapeView(), dtype, ctx, true);
  if (__builtin_expect(array == nullptr, 0)) {
    return CreateArray(nullptr, 0, dtype, ctx, options, out);
  }
  *out = array;
  return 0;
}

/*! \brief The general way of MXNetNDArrayView. */
[[gnu::noinline]] int NewView(MXNetNDArrayHandle base, void* data, const int64_t* shape,
                              const int64_t* strides, int ndim, DLDataType dtype,
                              MXNetNDArrayHandle* out) {
  return Guard([&] {
    RequireNotNull(base, "MXNetNDArrayView", "base");
    RequireNotNull(out, "MXNetNDArrayView", "out");
    mxnet::runtime::CheckNdim(ndim);
    if (ndim > 0) {
      RequireNotNull(shape, "MXNetNDArrayView", "shape");
      RequireNotNull(strides, "MXNetNDArrayView", "strides");
    }
    auto* array = static_cast<ArrayObject*>(base);
    DLTensor tensor = array->visible.tensor;
    tensor.data = data;
    tensor.ndim = ndim;
    tensor.dtype = dtype;
    // Only read from: the new object copies both.
    tensor.shape = const_cast<int64_t*>(shape);
    tensor.strides = const_cast<int64_t*>(strides);
    ArrayObject* owner = mxnet::runtime::OwnerOf(array);
    ArrayObject* view =
        mxnet::runtime::NewForeignArray(tensor, owner, &mxnet::runtime::ReleaseBase);
    mxnet::runtime::details::Retain(&owner->visible.header);
    view->visible.flags = array->visible.flags & ~uint64_t{kMXNetNDArrayHasPeer};
    *out = view;
  });
}

inline int AnyView(MXNetNDArrayHandle base, void* data, const int64_t* shape,
                   const int64_t* strides, int ndim, DLDataType dtype, bool keeps_base,
                   MXNetNDArrayHandle* out) {
  const bool given = base != nullptr && out != nullptr && shape != nullptr && strides != nullptr;
  if (__builtin_expect(given, 1)) {
    ArrayObject* view = mxnet::runtime::TryNewView(static_cast<ArrayObject*>(base), data, shape,
                                                   strides, ndim, dtype, keeps_base);
    if (__builtin_expect(view != nullptr, 1)) {
      *out = view;
      return 0;
    }
  }
  return NewView(base, data, shape, strides, ndim, dtype, out);
}

}  // namespace

int MXNetNDArrayCreate(const int64_t* shape, int ndim, DLDataType dtype, DLDevice ctx, int options,
                       MXNetNDArrayHandle* out) {
  if (__builtin_expect(out != nullptr && ndim > 0 && shape != nullptr, 1)) {
    ArrayObject* array =
        mxnet::runtime::TryNewSmallArray(ShapeView(shape, static_cast<size_t>(ndim)), dtype, ctx,
                                         (options & kMXNetCreateZeroed) != 0);
    if (__builtin_expect(array != nullptr, 1)) {
      *out = array;
      return 0;
    }
  } else if (out != nullptr && ndim == 0) {
    return CreateElement(dtype, ctx, options, out);
  }
  return CreateArray(shape, ndim, dtype, ctx, options, out);
}

int MXNetNDArrayView(MXNetNDArrayHandle base, void* data, const int64_t* shape,
                     const int64_t* strides, int ndim, DLDataType dtype, MXNetNDArrayHandle* out) {
  return AnyView(base, data, shape, strides, ndim, dtype, true, out);
}

int MXNetNDArrayViewBorrowed(MXNetNDArrayHandle base, void* data, const int64_t* shape,
                             const int64_t* strides, int ndim, DLDataType dtype,
                             MXNetNDArrayHandle* out) {
  return AnyView(base, data, shape, strides, ndim, dtype, false, out);
}

int MXNetNDArrayKeepBase(MXNetNDArrayHandle view) {
  if (view == nullptr) {
    return Guard([&] { RequireNotNull(view, "MXNetNDArrayKeepBase", "view"); });
  }
  mxnet::runtime::KeepBase(static_cast<ArrayObject*>(view));
  return 0;
}

int MXNetNDArrayFromBorrowed(const MXNetBorrowedTensor* borrowed, MXNetNDArrayHandle* out) {
  return Guard([&] {
    RequireNotNull(borrowed, "MXNetNDArrayFromBorrowed", "borrowed");
    RequireNotNull(out, "MXNetNDArrayFromBorrowed", "out");
    RequireNotNull(borrowed->owner_functions, "MXNetNDArrayFromBorrowed",
                   "borrowed->owner_functions");
    ArrayObject* array = mxnet::runtime::NewForeignArray(borrowed->tensor, borrowed->owner,
                                                         &mxnet::runtime::ReleaseBorrowed);
    array->owner_size = reinterpret_cast<size_t>(borrowed->owner_functions);
    array->visible.flags = borrowed->flags & kMXNetNDArrayReadOnly;
    if (borrowed->peer != nullptr) array->visible.flags |= kMXNetNDArrayHasPeer;
    array->visible.header.peer = borrowed->peer;
    borrowed->owner_functions->retain(borrowed->owner);
    *out = array;
  });
}
