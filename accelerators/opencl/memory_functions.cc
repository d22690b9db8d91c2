/*!
 * \file memory_functions.cc
 * \brief The members of the table for memory and copies.
 */
#include <vector>

#include "../common/operators/copies.h"
#include "copy.h"
#include "library.h"

namespace opencl {
namespace {

MXAccStatus Alloc(int32_t dev_id, size_t size, size_t, void** out) {
  return OnDevice(dev_id,
                  [&](Device& device) { *out = device.memory.Alloc(device.context(), size); });
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
  OnDeviceTensor(const Device& device, const MXAccGeometry& geometry) : tensor(geometry) {
    MXAccGeometry at_zero = geometry;
    at_zero.byte_offset = 0;
    buffer = device.memory.Find(geometry, SpanOf(at_zero));
  }

  Place place() const {
    return {buffer, static_cast<int64_t>(tensor.byte_offset) / ItemSize(tensor.dtype)};
  }

  const MXAccGeometry& tensor;
  cl_mem buffer; /*!< NULL where there are no elements */
};

void Write(Commands* commands, Place to, int64_t item, const char* from, size_t size) {
  Check(clEnqueueWriteBuffer(commands->queue(), to.buffer, CL_FALSE,
                             static_cast<size_t>(to.first * item), size, from, 0, nullptr,
                             commands->NextEvent()),
        "clEnqueueWriteBuffer");
}

void Read(Commands* commands, char* to, Place from, int64_t item, size_t size) {
  Check(clEnqueueReadBuffer(commands->queue(), from.buffer, CL_FALSE,
                            static_cast<size_t>(from.first * item), size, to, 0, nullptr,
                            commands->NextEvent()),
        "clEnqueueReadBuffer");
}

/*! \brief Rows are packed on the host, and spread and gathered on the device. */
void CopyToDevice(Commands* commands, const MXAccGeometry& target, const MXAccGeometry& source) {
  const OnDeviceTensor to(commands->device(), target);
  if (to.buffer == nullptr) return;
  const char* from = HostAddress(source);
  const int64_t item = ItemSize(target.dtype);
  RowMajor packed(target);
  const bool direct = IsRowMajor(source);
  if (!direct) {
    commands->Wait();  // for what may still write to the source
    char* room = commands->MakeRoom(packed.size);
    CopyElements(packed.tensor, room, source, from);
    from = room;
  }
  if (IsRowMajor(target)) {
    Write(commands, to.place(), item, from, packed.size);
  } else {
    const Buffer between = MakeBuffer(commands->device().context(), packed.size);
    Write(commands, {between.get(), 0}, item, from, packed.size);
    CopyOnDevice(commands, item, CopyAxes(target, packed.tensor), to.place(), {between.get(), 0});
  }
  if (!direct) commands->Wait();
}

void CopyToHost(Commands* commands, const MXAccGeometry& target, const MXAccGeometry& source) {
  const OnDeviceTensor from(commands->device(), source);
  if (from.buffer == nullptr) return;
  char* to = HostAddress(target);
  const int64_t item = ItemSize(target.dtype);
  RowMajor packed(target);
  const bool direct = IsRowMajor(target);
  char* dense = direct ? to : commands->MakeRoom(packed.size);
  if (IsRowMajor(source)) {
    Read(commands, dense, from.place(), item, packed.size);
  } else {
    const Buffer between = MakeBuffer(commands->device().context(), packed.size);
    CopyOnDevice(commands, item, CopyAxes(packed.tensor, source), {between.get(), 0}, from.place());
    Read(commands, dense, {between.get(), 0}, item, packed.size);
  }
  if (direct) return;
  commands->Wait();
  CopyElements(target, to, packed.tensor, dense);
}

void CopyWithin(Commands* commands, const MXAccGeometry& target, const MXAccGeometry& source) {
  if (target.device.device_id != source.device.device_id) {
    Unsupported("copies between two devices, which share no context");
  }
  const OnDeviceTensor to(commands->device(), target);
  const OnDeviceTensor from(commands->device(), source);
  if (to.buffer == nullptr) return;
  CopyOnDevice(commands, ItemSize(target.dtype), CopyAxes(target, source), to.place(),
               from.place());
}

template <typename CopyOne>
MXAccStatus CopyAll(CopyOne&& copy, int32_t dev_id, const MXTensor* targets,
                    const MXTensor* sources, int32_t count, MXAccStream stream) {
  return OnDevice(dev_id, [&](Device& device) {
    CheckCopies(targets, sources, count);
    Commands commands(&device, FromHandle(stream), count == 0 ? 0 : targets[0].work);
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
                 uint64_t work) {
  return OnDevice(dev_id, [&](Device& device) {
    const Bytes bytes(dev_id, data, byte_offset, size);
    const OnDeviceTensor to(device, bytes.tensor);
    constexpr unsigned char kZero = 0;
    Commands commands(&device, FromHandle(stream), work);
    Check(clEnqueueFillBuffer(commands.queue(), to.buffer, &kZero, sizeof(kZero), byte_offset, size,
                              0, nullptr, commands.NextEvent()),
          "clEnqueueFillBuffer");
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

}  // namespace opencl
