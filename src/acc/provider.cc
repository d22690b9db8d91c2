/*!
 * \file provider.cc
 * \brief Memory and calls of accelerators, for the runtime.
 */
#include "acc/provider.h"

#include <memory>

#include "acc/dispatch.h"
#include "acc/table.h"
#include "runtime/devices.h"
#include "runtime/observers.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief The memory of an array: keeps its accelerator loaded. */
struct ArrayMemory {
  Slot* slot;
  Device* device;
  void* data;
};

void ReleaseMemory(void* owner, size_t size) {
  std::unique_ptr<ArrayMemory> memory(static_cast<ArrayMemory*>(owner));
  if (memory->slot->is_parents.load(std::memory_order_relaxed)) return;
  memory->device->Free(memory->data, size);
  memory->slot->users.fetch_sub(1);
}

class Provider : public DeviceProvider {
 public:
  DeviceBlock Alloc(DLDevice ctx, size_t bytes, bool zeroed) override {
    InUse accelerator(ctx);
    Device* device = accelerator->device(ctx.device_id);
    auto memory = std::make_unique<ArrayMemory>();
    memory->device = device;
    memory->data = device->Alloc(bytes, zeroed);
    memory->slot = accelerator.Keep();
    void* data = memory->data;
    return {data, memory.release(), &ReleaseMemory};
  }
  const char* KindName(int device_type) override {
    Slot* slot = Table::Global()->Find(device_type);
    return slot == nullptr ? nullptr : slot->name.c_str();
  }
  int KindNumber(const std::string& name) override {
    Slot* slot = Table::Global()->Find(name);
    if (slot == nullptr) return 0;
    // Whoever uses a parent's accelerator is told so then.
    return slot->accelerator.load() != nullptr || slot->is_parents.load() ? slot->device_type : 0;
  }
  bool TryCall(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
               int* ret_type_code, int* status) override {
    return acc::TryCall(func, args, ret, ret_type_code, status);
  }
};

}  // namespace

void UseProvider() {
  static Provider* provider = new Provider();
  device_provider.store(provider, std::memory_order_release);
  observers.fetch_or(kObserveDevices);
}

}  // namespace acc
}  // namespace mxnet
