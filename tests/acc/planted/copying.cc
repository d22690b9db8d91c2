/*!
 * \file copying.cc
 * \brief The members of the table for memory and copies.
 */
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "accelerators/sdk/library.h"
#include "device.h"
#include "fault.h"
#include "stream.h"

namespace planted {
namespace {

using mxacc::Failure;
using mxacc::TensorCopies;

MXAccStatus Alloc(void*, int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                  void** out) {
  return StatusOf([&] {
    mxacc::CheckMemory(memory);
    *out = MemoryOf(dev_id).Alloc(size, alignment);
  });
}

void Free(void*, int32_t dev_id, void* data) {
  (void)StatusOf([&] { MemoryOf(dev_id).Free(data); });
}

MXAccStatus ReleaseAll(void*, int32_t dev_id, size_t* live) {
  return StatusOf([&] { *live = MemoryOf(dev_id).ReleaseAll(); });
}

/*! \brief Where the first element is, on either side; NULL where there are none. */
char* AddressOf(const MXAccDLTensor& tensor) {
  if (mxacc::SpanOf(tensor).empty()) return nullptr;
  const bool on_host = tensor.device.device_type == kMXAccHost;
  char* begin =
      on_host ? static_cast<char*>(tensor.data) : MemoryOf(tensor.device.device_id).Begin(tensor);
  return begin + tensor.byte_offset;
}

/*! \brief Strides without their signs, where that is the fault. */
char* WithoutSigns(const MXAccDLTensor& tensor, char* first) {
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.strides[i] >= 0) continue;
    first += (tensor.shape[i] - 1) * tensor.strides[i] * mxacc::ItemSize(tensor.dtype);
    tensor.strides[i] = -tensor.strides[i];
  }
  return first;
}

void CopyPair(MXAccDLTensor target, MXAccDLTensor source) {
  if (!mxacc::SameSpec(target, source)) {
    throw Failure(kMXAccBadArgument, "a copy between tensors that are not alike");
  }
  char* to = AddressOf(target);
  char* from = AddressOf(source);
  if (to == nullptr) return;
  if (Has("negative strides of copies")) {
    to = WithoutSigns(target, to);
    from = WithoutSigns(source, from);
  }
  int64_t rows = 1000;
  if (Has("copies of more than 1000 rows") && target.ndim > 1 && target.shape[0] > rows) {
    target.shape[0] = source.shape[0] = rows;
  }
  mxacc::CopyElements(target, to, source, from);
}

/*! \brief Does all pairs; the structs are not those of the call. */
void CopyAll(TensorCopies* targets, TensorCopies* sources) {
  for (int32_t i = 0; i < targets->size(); ++i) {
    CopyPair(targets->data()[i].tensor, sources->data()[i].tensor);
  }
}

/*! \brief Copies after the structs may have gone. */
void CopyGiven(MXTensor* targets, const MXTensor* sources, int32_t count) {
  for (int32_t i = 0; i < count; ++i) CopyPair(targets[i].tensor, sources[i].tensor);
}

MXAccStatus Copy(void*, int32_t dev_id, MXTensor* targets, const MXTensor* sources, int32_t count,
                 MXAccStream stream) {
  return StatusOf([&] {
    MemoryOf(dev_id);
    const uint64_t number = count == 0 ? 0 : targets->work;
    if (stream != nullptr && Has("structs are kept")) {
      return Give(stream, number, [=] { CopyGiven(targets, sources, count); });
    }
    auto to = std::make_shared<TensorCopies>(targets, count);
    auto from = std::make_shared<TensorCopies>(sources, count);
    Give(stream, number, [to, from] { CopyAll(to.get(), from.get()); });
  });
}

MXAccStatus CopyToAcc(void*, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                      int32_t count, MXAccStream stream) {
  if (stream != nullptr || !Has("the host is read late")) {
    return Copy(nullptr, dev_id, targets, sources, count, stream);
  }
  return StatusOf([&] {
    auto to = std::make_shared<TensorCopies>(targets, count);
    auto from = std::make_shared<TensorCopies>(sources, count);
    std::thread([to, from] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      (void)StatusOf([&] { CopyAll(to.get(), from.get()); });
    }).detach();
  });
}

MXAccStatus CopyWithinAcc(void*, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                          int32_t count, MXAccStream stream) {
  if (Has("copyWithinAcc outside its stream")) stream = nullptr;
  return Copy(nullptr, dev_id, targets, sources, count, stream);
}

MXAccStatus Zero(void*, int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                 MXAccStream stream, uint64_t work) {
  return StatusOf([&] {
    Memory& memory = MemoryOf(dev_id);
    const uint64_t first = Has("mx_zero without its offset") ? 0 : byte_offset;
    Give(stream, work,
         [=, &memory] { std::memset(memory.Begin(data, byte_offset + size) + first, 0, size); });
  });
}

}  // namespace

void SetMemoryFunctions(MXAccApi* api) {
  api->mx_alloc = Alloc;
  api->mx_free = Free;
  api->mx_releaseAll = ReleaseAll;
  api->copyToAcc = CopyToAcc;
  api->copyFromAcc = Copy;
  api->copyWithinAcc = CopyWithinAcc;
  api->mx_zero = Zero;
}

}  // namespace planted
