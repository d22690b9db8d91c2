/*!
 * \file memory.h
 * \brief The members of the table for memory, and for copies through commands.
 *
 * For MemoryMembers the Device of a backend has
 *
 *   Alloc(size, alignment), memory    Blocks of what that gives
 *
 * and for CopyMembers the backend has, besides,
 *
 *   Stream                    see streams.h
 *   Location                     {memory, number of an element}
 *   Commands(&device, stream, work)   the work of one call, see streams.h; with
 *     Write(location, item, from, size), Read(to, location, item, size), Zero(location, size)
 *     MakeScratch(size)       memory of the device, for these commands
 *     MakeRoom(size)          the same of the host
 *     Wait(), Finish()
 *   CopyOnDevice(commands, item, axes, target, source)
 *   kCopiesBetween            why there are no copies between two devices
 */
#ifndef MXACC_SDK_SKELETON_MEMORY_H_
#define MXACC_SDK_SKELETON_MEMORY_H_

#include <cstring>

#include "../operators/axes.h"
#include "../operators/copies.h"
#include "devices.h"

namespace mxacc {

template <typename Backend>
struct MemoryMembers {
  using Device = typename Backend::Device;

  static MXAccStatus Alloc(void* self, int32_t dev_id, int32_t memory, size_t size,
                           size_t alignment, void** out) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      CheckMemory(memory);
      *out = device.Alloc(size, alignment);
    });
  }
  static void Free(void* self, int32_t dev_id, void* data) {
    (void)OnDevice<Backend>(self, dev_id, [&](Device& device) {
      if (device.memory.Free(data)) return;
      Devices<Backend>::Of(self).Warn("mx_free: no living memory of the device");
    });
  }
  static MXAccStatus ReleaseAll(void* self, int32_t dev_id, size_t* live) {
    return OnDevice<Backend>(self, dev_id,
                             [&](Device& device) { *live = device.memory.ReleaseAll(); });
  }

  static void Set(MXAccApi* api) {
    api->mx_alloc = Alloc;
    api->mx_free = Free;
    api->mx_releaseAll = ReleaseAll;
  }
};

/*! \brief Copies of a library without streams, whose handles are addresses of the host. */
template <typename Backend>
struct HostCopyMembers {
  using Device = typename Backend::Device;

  /*! \brief One function for all directions, as both sides are addresses. */
  static MXAccStatus Copy(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                          int32_t count, MXAccStream) {
    return OnDevice<Backend>(self, dev_id, [&](Device&) {
      CheckCopies(targets, sources, count);
      for (int32_t i = 0; i < count; ++i) {
        const MXAccDLTensor& target = targets[i].tensor;
        const MXAccDLTensor& source = sources[i].tensor;
        if (SpanOf(target).empty()) continue;
        CopyElements(target, static_cast<char*>(target.data) + target.byte_offset, source,
                     static_cast<const char*>(source.data) + source.byte_offset);
      }
    });
  }
  static MXAccStatus Zero(void* self, int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                          MXAccStream, uint64_t) {
    return OnDevice<Backend>(self, dev_id, [&](Device&) {
      std::memset(static_cast<char*>(data) + byte_offset, 0, size);
    });
  }

  static void Set(MXAccApi* api) {
    api->copyToAcc = Copy;
    api->copyFromAcc = Copy;
    api->copyWithinAcc = Copy;
    api->mx_zero = Zero;
  }
};

/*! \brief One tensor of a device in a copy. */
template <typename Backend>
struct TensorOnDevice {
  TensorOnDevice(const typename Backend::Device& device, const MXAccDLTensor& dl_tensor)
      : item(ItemSize(dl_tensor.dtype)) {
    MXAccDLTensor at_zero = dl_tensor;
    at_zero.byte_offset = 0;
    auto memory = device.memory.Find(dl_tensor, SpanOf(at_zero));
    is_empty = memory == nullptr;
    location = {memory, static_cast<int64_t>(dl_tensor.byte_offset) / item};
  }

  int64_t item;
  bool is_empty; /*!< there are no elements */
  typename Backend::Location location;
};

template <typename Backend>
struct CopyMembers {
  using Device = typename Backend::Device;
  using Commands = typename Backend::Commands;
  using Tensor = TensorOnDevice<Backend>;

  /*! \brief Rows are packed on the host, and spread and gathered on the device. */
  static void ToDevice(Commands* commands, const MXAccDLTensor& target,
                       const MXAccDLTensor& source) {
    const Tensor to(commands->device(), target);
    if (to.is_empty) return;
    const char* from = HostAddress(source);
    const RowMajor packed(target);
    const bool direct = IsRowMajor(source);
    if (!direct) {
      commands->Wait();  // for what may still write to the source
      char* room = commands->MakeRoom(packed.size);
      CopyElements(packed.tensor, room, source, from);
      from = room;
    }
    if (IsRowMajor(target)) {
      commands->Write(to.location, to.item, from, packed.size);
    } else {
      const typename Backend::Location between{commands->MakeScratch(packed.size), 0};
      commands->Write(between, to.item, from, packed.size);
      CopyOnDevice(commands, to.item, CopyAxes(target, packed.tensor), to.location, between);
    }
    if (!direct) commands->Wait();
  }

  static void ToHost(Commands* commands, const MXAccDLTensor& target, const MXAccDLTensor& source) {
    const Tensor from(commands->device(), source);
    if (from.is_empty) return;
    char* to = HostAddress(target);
    const RowMajor packed(target);
    const bool direct = IsRowMajor(target);
    char* dense = direct ? to : commands->MakeRoom(packed.size);
    if (IsRowMajor(source)) {
      commands->Read(dense, from.location, from.item, packed.size);
    } else {
      const typename Backend::Location between{commands->MakeScratch(packed.size), 0};
      CopyOnDevice(commands, from.item, CopyAxes(packed.tensor, source), between, from.location);
      commands->Read(dense, between, from.item, packed.size);
    }
    if (direct) return;
    commands->Wait();
    CopyElements(target, to, packed.tensor, dense);
  }

  static void Within(Commands* commands, const MXAccDLTensor& target, const MXAccDLTensor& source) {
    if (target.device.device_id != source.device.device_id) Unsupported(Backend::kCopiesBetween);
    const Tensor to(commands->device(), target);
    const Tensor from(commands->device(), source);
    if (to.is_empty) return;
    CopyOnDevice(commands, to.item, CopyAxes(target, source), to.location, from.location);
  }

  using CopyOne = void (*)(Commands*, const MXAccDLTensor&, const MXAccDLTensor&);

  template <CopyOne copy>
  static MXAccStatus Copy(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                          int32_t count, MXAccStream stream) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      CheckCopies(targets, sources, count);
      Commands commands(&device, reinterpret_cast<typename Backend::Stream*>(stream),
                        count == 0 ? 0 : targets[0].work);
      for (int32_t i = 0; i < count; ++i) copy(&commands, targets[i].tensor, sources[i].tensor);
      commands.Finish();
    });
  }

  static MXAccStatus Zero(void* self, int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                          MXAccStream stream, uint64_t work) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      const Bytes bytes(dev_id, data, byte_offset, size);
      const Tensor to(device, bytes.tensor);
      Commands commands(&device, reinterpret_cast<typename Backend::Stream*>(stream), work);
      commands.Zero(to.location, size);
      commands.Finish();
    });
  }

  static void Set(MXAccApi* api) {
    api->copyToAcc = Copy<ToDevice>;
    api->copyFromAcc = Copy<ToHost>;
    api->copyWithinAcc = Copy<Within>;
    api->mx_zero = Zero;
  }
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_MEMORY_H_
