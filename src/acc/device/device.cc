/*!
 * \file device.cc
 * \brief Memory of a device, with a pool on the host's side, and copies.
 */
#include "acc/device/device.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "acc/device/accelerator.h"
#include "acc/device/table.h"
#include "acc/plugin/adapter.h"
#include "acc/plugin/bytes.h"
#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief Zeros are sent in pieces of that size. */
constexpr size_t kZeros = size_t{1} << 20;

}  // namespace

Device::Device(Accelerator* accelerator, int id, std::unique_ptr<AnswerCache> answers)
    : accelerator_(accelerator),
      id_(id),
      type_(accelerator->device_type()),
      slot_(Table::Global()->Find(type_)),
      adapter_(accelerator->plugin().adapter()),
      answers_(std::move(answers)) {
  ReadInfo();
  if (api().createStream != nullptr && (info_.flags & kMXAccUnusable) == 0) CreateStreams();
}

Device::~Device() {
  answers_.reset();
  TrimPool();
  DeviceCall call(this);
  if (event_ != nullptr) api().destroyEvent(api().self, id_, event_);
  if (stream_ != nullptr) api().destroyStream(api().self, id_, stream_);
}

void Device::CreateStreams() {
  Check(api().createStream(api().self, id_, &stream_), name(), "createStream");
  const MXAccStatus status = api().createEvent(api().self, id_, &event_);
  if (status == nullptr) return;
  event_ = nullptr;
  const Error error = ErrorOf(status, name(), "createEvent");
  api().destroyStream(api().self, id_, stream_);
  throw error;
}

const std::string& Device::accelerator_name() const { return accelerator_->name(); }

bool Device::imperative() const { return accelerator_->plugin().imperative(); }

const MXAccApi& Device::api() const { return accelerator_->api(); }

void Device::CheckContent(const DeviceMemory& memory) {
  const std::lock_guard<std::mutex> lock(log_.mutex());
  memory.content.Check();
}

void Device::Forget(DeviceMemory* memory) {
  const std::lock_guard<std::mutex> lock(log_.mutex());
  memory->content = Content();
}

template <typename Call>
MXAccStatus Device::GiveTied(const Access& access, Device* other, Call&& call) {
  MXAccStatus status;
  {
    std::unique_lock<std::mutex> lock(log_.mutex());
    if (log_.is_full()) AwaitRoom(&lock);
  }
  {
    // With both logs locked, so that nobody marks the source as lost after it is checked here and
    // before this work is in the log.
    const std::scoped_lock locks(log_.mutex(), other->log_.mutex());
    WorkLog::Check(access);
    log_.Reserve(access);
    const uint64_t number = WorkLog::NextNumber();
    status = call(number);
    if (status == nullptr) {
      log_.AddTied(access, number);
      return nullptr;
    }
  }
  return SettledStatus(status);
}

void Device::AwaitRoom(std::unique_lock<std::mutex>* lock) {
  while (log_.is_full()) {
    lock->unlock();
    Settle();
    lock->lock();
  }
}

MXAccStatus Device::SettledStatus(MXAccStatus status) {
  int32_t code;
  std::string message;
  ReadError(status, &code, &message);
  SettleEvenIdle(this);
  return Failure(code, std::move(message));
}

void Device::WaitFor(Device* other) {
  std::lock_guard<std::mutex> lock(other->event_mutex_);
  {
    DeviceCall call(other);
    Check(api().recordEvent(api().self, other->id_, other->event_, other->stream_), other->name(),
          "recordEvent");
  }
  DeviceCall call(this);
  Check(api().waitEvent(api().self, id_, other->event_, stream_), name(), "waitEvent");
}

void Device::ReadInfo() {
  info_.struct_size = sizeof(info_);
  if (api().getDeviceInfo != nullptr) {
    Check(api().getDeviceInfo(api().self, id_, &info_), accelerator_->name(), "getDeviceInfo");
  }
  const char** given[kTexts] = {&info_.name, &info_.vendor, &info_.driver, &info_.reason,
                                &info_.bus};
  for (int i = 0; i < kTexts; ++i) {
    texts_[i] = TextOf(*given[i]);
    *given[i] = texts_[i].c_str();
  }
  if (info_.alignment != 0) {
    if ((info_.alignment & (info_.alignment - 1)) != 0) {
      MXNET_THROW("ImportError") << accelerator_->name() << ": device " << id_
                                 << " gives an alignment of " << info_.alignment
                                 << " bytes, expected a power of two";
    }
    alignment_ = std::max<size_t>(alignment_, info_.alignment);
  }
}

std::string Device::name() const { return accelerator_->name() + "(" + std::to_string(id_) + ")"; }

void Device::ThrowNoMemory(size_t size, const std::string& reason) {
  const MemoryUse use = Use();
  std::string text = "unable to allocate " + std::to_string(size) + " bytes on " + name() + ": " +
                     std::to_string(use.in_use) + " bytes are in use by arrays";
  if (use.total != 0) {
    text += ", " + std::to_string(use.free_bytes) + " of " + std::to_string(use.total) +
            " are free on the device";
  }
  if (!reason.empty()) text += "; " + reason;
  throw Error("MemoryError", text);
}

void* Device::AllocRaw(size_t size) {
  std::string reason;
  // Freeing what the pool keeps may give the device enough memory.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt == 1) TrimPool();
    void* data = nullptr;
    MXAccStatus status;
    {
      DeviceCall call(this);
      status = api().mx_alloc(api().self, id_, kMXAccDeviceMemory, size, alignment_, &data);
      if (status == nullptr && data != nullptr) return data;
      reason = status == nullptr ? "mx_alloc gave NULL"
                                 : ErrorOf(status, accelerator_->name(), "mx_alloc").message();
    }
    if (status == nullptr) continue;
    const Error error = ErrorOf(status, name(), "mx_alloc");
    if (error.kind() != "MemoryError") throw error;
  }
  ThrowNoMemory(size, reason);
}

DeviceMemory* Device::NewMemory(size_t size) {
  if (api().mx_alloc == nullptr) {
    MXNET_THROW("NotImplementedError") << name() << " has no memory for arrays: its library runs "
                                       << "whole models only";
  }
  if ((info_.flags & kMXAccUnusable) != 0) {
    MXNET_THROW("RuntimeError") << name() << " cannot be used: "
                                << (texts_[3].empty() ? "its library gives no reason" : texts_[3]);
  }
  if (size > DevicePool::kMaxSize) ThrowNoMemory(size, "");
  auto memory =
      std::make_unique<DeviceMemory>(DeviceMemory{nullptr, this, nullptr, SizeClass(size), {}});
  memory->data = AllocRaw(memory->size.size);
  pool_.Add(*memory);
  return memory.release();
}

inline void Device::Zero(DeviceMemory* memory, size_t size) {
  if (host_visible() && (stream_ == nullptr || api().mx_zero == nullptr)) {
    // The memory may be that of a freed array, which unfinished work still reads or writes.
    Settle();
    std::memset(memory->data, 0, size);
    return;
  }
  if (api().mx_zero == nullptr) return CopyZeros(memory, size);
  const MXAccStatus status = TryZero(memory, size);
  if (__builtin_expect(status == nullptr, 1)) return;
  if (!WasDone(status, name(), "mx_zero")) CopyZeros(memory, size);
}

inline MXAccStatus Device::TryZero(DeviceMemory* memory, size_t size) {
  const auto zero = [&](uint64_t work) {
    DeviceCall call(this);
    return api().mx_zero(api().self, id_, memory->data, 0, size, stream_, work);
  };
  if (stream_ == nullptr) return zero(0);
  return Give({"mx_zero", &memory->content, false, nullptr, 0}, zero);
}

void Device::ZeroNew(DeviceMemory* memory, size_t size) {
  try {
    Zero(memory, size);
  } catch (...) {
    Free(memory);
    throw;
  }
}

bool Device::IsThere(const DeviceMemory& memory) const { return adapter_->Holds(memory.data); }

bool Device::HasModel(const void* state) const {
  return adapter_ == nullptr || adapter_->HoldsModel(state);
}

void Device::Discard(DeviceMemory* memory) {
  api().mx_free(api().self, id_, memory->data);
  pool_.Drop(*memory);
  delete memory;
}

void Device::TrimPool() {
  DeviceMemory* kept = pool_.TakeAll();
  if (kept == nullptr) return;
  // Unfinished work may still read or write the blocks.
  Settle();
  DeviceCall call(this);
  while (kept != nullptr) {
    const std::unique_ptr<DeviceMemory> memory(kept);
    kept = memory->next;
    api().mx_free(api().self, id_, memory->data);
  }
}

MemoryUse Device::Use() {
  MXAccDeviceInfo now{};
  now.struct_size = sizeof(now);
  if (api().getDeviceInfo != nullptr) {
    DeviceCall call(this);
    if (api().getDeviceInfo(api().self, id_, &now) != nullptr) now = MXAccDeviceInfo{};
  }
  MemoryUse use = pool_.Use();
  use.total = now.memory_total;
  use.free_bytes = now.memory_free;
  return use;
}

void Device::CopyZeros(DeviceMemory* memory, size_t size) {
  static const std::vector<char> zeros(kZeros);
  for (size_t at = 0; at < size; at += kZeros) {
    const size_t part = std::min(kZeros, size - at);
    const MXAccDevice device{accelerator_->device_type(), id_};
    Bytes target(memory->data, device, at, part);
    Bytes source(const_cast<char*>(zeros.data()), MXAccDevice{kMXAccHost, 0}, 0, part);
    CopyToDevice(&target.tensor, &source.tensor, {memory, at != 0});
  }
}

void Device::CopyToDevice(MXTensor* target, const MXTensor* source, Written to) {
  const auto copy = [&](uint64_t work) {
    target->work = work;
    DeviceCall call(this);
    return api().copyToAcc(api().self, id_, target, source, 1, stream_);
  };
  if (stream_ == nullptr) return Check(copy(0), name(), "copyToAcc");
  const Access access{"copyToAcc", &to.memory->content, to.is_partial, nullptr, 0};
  Check(Give(access, copy), name(), "copyToAcc");
  Settle();
  CheckContent(*to.memory);
}

void Device::CopyToHost(MXTensor* target, const MXTensor* source, DeviceMemory* from) {
  const auto copy = [&](uint64_t work) {
    target->work = work;
    DeviceCall call(this);
    return api().copyFromAcc(api().self, id_, target, source, 1, stream_);
  };
  if (stream_ == nullptr) return Check(copy(0), name(), "copyFromAcc");
  Content copied;
  Content* const sources[] = {&from->content};
  Check(Give({"copyFromAcc", &copied, false, sources, 1}, copy), name(), "copyFromAcc");
  Settle();
  copied.Check();
}

bool Device::TryCopyWithin(MXTensor* target, const MXTensor* source, Written to,
                           DeviceMemory* from) {
  if (api().copyWithinAcc == nullptr) return false;
  const auto copy = [&](uint64_t work) {
    target->work = work;
    DeviceCall call(this);
    return api().copyWithinAcc(api().self, id_, target, source, 1, stream_);
  };
  if (stream_ == nullptr) return WasDone(copy(0), name(), "copyWithinAcc");
  Content* const sources[] = {&from->content};
  const Access access{"copyWithinAcc", &to.memory->content, to.is_partial, sources, 1};
  Device* other = from->device;
  if (other == this) return WasDone(Give(access, copy), name(), "copyWithinAcc");
  WaitFor(other);
  if (!WasDone(GiveTied(access, other, copy), name(), "copyWithinAcc")) return false;
  HoldBack(other);
  return true;
}

void Device::HoldBack(Device* other) {
  // Later work on the source's stream may overwrite what is still being copied.
  try {
    other->WaitFor(this);
  } catch (...) {
    Settle();
    throw;
  }
}

}  // namespace acc
}  // namespace mxnet
