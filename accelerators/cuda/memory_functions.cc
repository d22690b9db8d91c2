/*!
 * \file memory_functions.cc
 * \brief The members of the table for memory and copies.
 */
#include "../common/operators/copies.h"
#include "copying.h"
#include "library.h"

namespace cudaacc {
namespace {

MXAccStatus Alloc(int32_t dev_id, size_t size, size_t alignment, void** out) {
  return OnDevice(dev_id, [&](Device& device) { *out = device.memory.Alloc(size, alignment); });
}

void Free(int32_t dev_id, void* data) {
  (void)OnDevice(dev_id, [&](Device& device) {
    if (!device.memory.Free(data)) TheLibrary().Warn("mx_free: no living memory of the device");
  });
}

MXAccStatus ReleaseAll(int32_t dev_id, size_t* live) {
  return OnDevice(dev_id, [&](Device& device) { *live = device.memory.ReleaseAll(); });
}

/*! \brief One tensor of the device's in a copy. */
struct OnDeviceTensor {
  OnDeviceTensor(const Device& device, const MXAccGeometry& geometry) {
    MXAccGeometry at_zero = geometry;
    at_zero.byte_offset = 0;
    place.data = device.memory.Find(geometry, SpanOf(at_zero));
    place.first = static_cast<int64_t>(geometry.byte_offset) / ItemSize(geometry.dtype);
    address = static_cast<char*>(place.data) + geometry.byte_offset;
  }

  bool is_empty() const { return place.data == nullptr; }

  Place place;
  char* address; /*!< of the first element */
};

/*! \brief Rows are packed on the host, and spread and gathered on the device. */
void CopyToDevice(Commands* commands, const MXAccGeometry& target, const MXAccGeometry& source) {
  const OnDeviceTensor to(commands->device(), target);
  if (to.is_empty()) return;
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
    CopyBytes(to.address, from, packed.size, commands->stream());
  } else {
    void* between = commands->MakeScratch(packed.size);
    CopyBytes(between, from, packed.size, commands->stream());
    CopyOnDevice(commands, ItemSize(target.dtype), CopyAxes(target, packed.tensor), to.place,
                 {between, 0});
  }
  if (!direct) commands->Wait();
}

void CopyToHost(Commands* commands, const MXAccGeometry& target, const MXAccGeometry& source) {
  const OnDeviceTensor from(commands->device(), source);
  if (from.is_empty()) return;
  char* to = HostAddress(target);
  const RowMajor packed(target);
  const bool direct = IsRowMajor(target);
  char* dense = direct ? to : commands->MakeRoom(packed.size);
  if (IsRowMajor(source)) {
    CopyBytes(dense, from.address, packed.size, commands->stream());
  } else {
    void* between = commands->MakeScratch(packed.size);
    CopyOnDevice(commands, ItemSize(target.dtype), CopyAxes(packed.tensor, source), {between, 0},
                 from.place);
    CopyBytes(dense, between, packed.size, commands->stream());
  }
  if (direct) return;
  commands->Wait();
  CopyElements(target, to, packed.tensor, dense);
}

void CopyWithin(Commands* commands, const MXAccGeometry& target, const MXAccGeometry& source) {
  if (target.device.device_id != source.device.device_id) {
    Unsupported("copies between two devices");
  }
  const OnDeviceTensor to(commands->device(), target);
  const OnDeviceTensor from(commands->device(), source);
  if (to.is_empty()) return;
  CopyOnDevice(commands, ItemSize(target.dtype), CopyAxes(target, source), to.place, from.place);
}

template <typename CopyOne>
MXAccStatus CopyAll(CopyOne&& copy, int32_t dev_id, const MXTensor* targets,
                    const MXTensor* sources, int32_t count, MXAccStream stream) {
  return OnDevice(dev_id, [&](Device& device) {
    CheckCopies(targets, sources, count);
    Commands commands(&device, FromHandle(stream));
    for (int32_t i = 0; i < count; ++i) copy(&commands, targets[i].tensor, sources[i].tensor);
    commands.Finish();
  });
}

MXAccStatus CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                      MXAccStream stream) {
  return CopyAll(CopyToDevice, dev_id, targets, sources, count, stream);
}

MXAccStatus CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                        MXAccStream stream) {
  return CopyAll(CopyToHost, dev_id, targets, sources, count, stream);
}

MXAccStatus CopyWithinAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                          MXAccStream stream) {
  return CopyAll(CopyWithin, dev_id, targets, sources, count, stream);
}

MXAccStatus Zero(int32_t dev_id, void* data, uint64_t byte_offset, size_t size, MXAccStream stream,
                 uint64_t) {
  return OnDevice(dev_id, [&](Device& device) {
    const Bytes bytes(dev_id, data, byte_offset, size);
    const OnDeviceTensor to(device, bytes.tensor);
    Commands commands(&device, FromHandle(stream));
    ZeroBytes(to.address, size, commands.stream());
    commands.Finish();
  });
}

}  // namespace

void SetMemoryFunctions(MXAccApi* api) {
  api->mx_alloc = Alloc;
  api->mx_free = Free;
  api->mx_releaseAll = ReleaseAll;
  api->copyToAcc = CopyToAcc;
  api->copyFromAcc = CopyFromAcc;
  api->copyWithinAcc = CopyWithinAcc;
  api->mx_zero = Zero;
}

}  // namespace cudaacc
