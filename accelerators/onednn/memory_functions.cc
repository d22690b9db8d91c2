/*!
 * \file memory_functions.cc
 * \brief The members of the table for memory and copies.
 */
#include <cstring>

#include "../common/geometry.h"
#include "../common/status.h"
#include "library.h"

namespace onednn {
namespace {

using namespace mxacc;

MXAccStatus Alloc(int32_t dev_id, size_t size, size_t alignment, void** out) {
  return StatusOf([&] {
    CheckDevice(dev_id);
    *out = TheLibrary().memory.Alloc(size, alignment);
  });
}

void Free(int32_t, void* data) {
  // It cannot fail: without a library there is nothing left to free.
  (void)StatusOf([&] { TheLibrary().memory.Free(data); });
}

MXAccStatus ReleaseAll(int32_t dev_id, size_t* live) {
  return StatusOf([&] {
    CheckDevice(dev_id);
    *live = TheLibrary().memory.ReleaseAll();
  });
}

/*! \brief One function for all directions, as both sides are addresses. */
MXAccStatus Copy(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                 MXAccStream) {
  return StatusOf([&] {
    CheckDevice(dev_id);
    for (int32_t i = 0; i < count; ++i) {
      const MXAccGeometry& target = targets[i].tensor;
      const MXAccGeometry& source = sources[i].tensor;
      SpanOf(source);
      if (SpanOf(target).empty()) continue;
      if (!SameGeometry(target, source)) {
        throw Failure(kMXAccBadArgument,
                      "a copy of " + GeometryText(source) + " to " + GeometryText(target));
      }
      CopyElements(target, static_cast<char*>(target.data) + target.byte_offset, source,
                   static_cast<const char*>(source.data) + source.byte_offset);
    }
  });
}

MXAccStatus Zero(int32_t dev_id, void* data, uint64_t byte_offset, size_t size, MXAccStream,
                 uint64_t) {
  return StatusOf([&] {
    CheckDevice(dev_id);
    std::memset(static_cast<char*>(data) + byte_offset, 0, size);
  });
}

}  // namespace

void SetMemoryFunctions(MXAccApi* api) {
  api->mx_alloc = Alloc;
  api->mx_free = Free;
  api->mx_releaseAll = ReleaseAll;
  api->copyToAcc = Copy;
  api->copyFromAcc = Copy;
  api->copyWithinAcc = Copy;
  api->mx_zero = Zero;
}

}  // namespace onednn
