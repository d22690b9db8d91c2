/*!
 * \file memory_functions.cc
 * \brief The members of the table for memory and copies.
 */
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "library.h"
#include "sdk.h"
#include "stream.h"

namespace refacc {
namespace {

MXAccStatus Alloc(void* self, int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                  void** out) {
  return OnDevice("mx_alloc", self, dev_id, [&](Device& device, const Settings& settings) {
    CheckMemory(memory);
    *out = device.memory.Alloc(size, alignment, settings);
  });
}

void Free(void* self, int32_t dev_id, void* data) {
  // mx_free has no status: the only fault that it can have is a crash.
  (void)OnDevice("mx_free", self, dev_id, [&](Device& device, const Settings& settings) {
    const std::string wrong = device.memory.Free(data, settings.poison);
    if (!wrong.empty()) LibraryOf(self).Warn("refacc: mx_free: " + wrong);
  });
}

MXAccStatus ReleaseAll(void* self, int32_t dev_id, size_t* live) {
  return OnDevice("mx_releaseAll", self, dev_id,
                  [&](Device& device, const Settings&) { *live = device.memory.ReleaseAll(); });
}

enum class Side { kHost, kDevice };

/*! \brief Where the first element is; NULL where there are no elements. */
char* AddressOf(Library* library, Side side, const MXAccDLTensor& tensor) {
  if (side == Side::kDevice) {
    return library->device(tensor.device.device_id).memory.AddressOf(tensor);
  }
  if (SpanOf(tensor).empty()) return nullptr;
  if (tensor.device.device_type != kMXAccHost || tensor.data == nullptr) {
    throw Failure(kMXAccBadArgument, "a tensor that is not of the host where one of it belongs");
  }
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

void CheckPair(const MXAccDLTensor& target, const MXAccDLTensor& source, const Settings& settings) {
  SpanOf(target);
  SpanOf(source);
  if (!SameSpec(target, source)) {
    throw Failure(kMXAccBadArgument, "a copy of " + SpecText(source) + " to " + SpecText(target));
  }
  if (!settings.strides && !(IsRowMajor(target) && IsRowMajor(source))) {
    throw Failure(kMXAccBadArgument, "a copy with strides, but the device has no kMXAccStrides");
  }
}

void CopyPair(Library* library, Side to, const MXAccDLTensor& target, Side from,
              const MXAccDLTensor& source) {
  char* target_address = AddressOf(library, to, target);
  const char* source_address = AddressOf(library, from, source);
  if (target_address == nullptr) return;
  CopyElements(target, target_address, source, source_address);
  if (to == Side::kDevice) {
    library->device(target.device.device_id).memory.CheckZones(target);
  }
}

struct Direction {
  Side to;
  Side from;
};

void CopyAll(Library* library, Direction direction, Device* device, const MXTensor* targets,
             const MXTensor* sources, int32_t count, int64_t slow) {
  if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
  for (int32_t i = 0; i < count; ++i) {
    CopyPair(library, direction.to, targets[i].tensor, direction.from, sources[i].tensor);
  }
  device->copies.Add();
}

/*! \brief The number of the work that writes to tensors. */
uint64_t NumberOf(const MXTensor* targets, int32_t count) {
  return count == 0 ? 0 : targets[0].work;
}

MXAccStatus Copy(const char* name, Direction direction, void* self, int32_t dev_id,
                 const MXTensor* targets, const MXTensor* sources, int32_t count,
                 MXAccStream stream) {
  return OnDevice(name, self, dev_id, [&](Device& device, const Settings& settings) {
    for (int32_t i = 0; i < count; ++i) CheckPair(targets[i].tensor, sources[i].tensor, settings);
    const int64_t slow = settings.slow;
    Library* library = &LibraryOf(self);
    if (stream == nullptr)
      return CopyAll(library, direction, &device, targets, sources, count, slow);
    // What the call was given may be gone when the stream comes to it.
    auto kept = std::make_shared<std::pair<TensorCopies, TensorCopies>>(
        TensorCopies(targets, count), TensorCopies(sources, count));
    GiveWork(stream, NumberOf(targets, count), settings, [library, direction, kept, &device, slow] {
      CopyAll(library, direction, &device, kept->first.data(), kept->second.data(),
              kept->first.size(), slow);
    });
  });
}

MXAccStatus CopyToAcc(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                      int32_t count, MXAccStream stream) {
  return Copy("copyToAcc", {Side::kDevice, Side::kHost}, self, dev_id, targets, sources, count,
              stream);
}

MXAccStatus CopyFromAcc(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                        int32_t count, MXAccStream stream) {
  return Copy("copyFromAcc", {Side::kHost, Side::kDevice}, self, dev_id, targets, sources, count,
              stream);
}

MXAccStatus CopyWithinAcc(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                          int32_t count, MXAccStream stream) {
  return Copy("copyWithinAcc", {Side::kDevice, Side::kDevice}, self, dev_id, targets, sources,
              count, stream);
}

MXAccStatus Zero(void* self, int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                 MXAccStream stream, uint64_t work) {
  return OnDevice("mx_zero", self, dev_id, [&](Device& device, const Settings& settings) {
    const int64_t slow = settings.slow;
    const auto zero = [&device, data, byte_offset, size, slow] {
      if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
      device.memory.Zero(data, byte_offset, size);
    };
    if (stream == nullptr) return zero();
    GiveWork(stream, work, settings, zero);
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

}  // namespace refacc
