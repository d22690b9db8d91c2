/*!
 * \file provider.cc
 * \brief Memory and calls of accelerators, for the runtime; copies, for who executes operators.
 */
#include "acc/device/arrays.h"
#include "acc/device/table.h"
#include "acc/device/transfers.h"
#include "acc/dispatch/dispatch.h"
#include "runtime/core/c_api_guard.h"
#include "runtime/core/observers.h"

namespace mxnet {
namespace acc {
namespace {

class Provider : public DeviceProvider {
 public:
  DeviceBlock Alloc(const DLDevice& ctx, size_t bytes, bool zeroed) override {
    const InUse accelerator(ctx);
    return BlockOf(accelerator->device(ctx.device_id)->Alloc(bytes, zeroed));
  }
  const char* KindName(int device_type) override {
    Slot* slot = Table::Global()->Find(device_type);
    return slot == nullptr ? nullptr : slot->name.c_str();
  }
  int KindNumber(const std::string& name) override {
    Slot* slot = Table::Global()->Find(name);
    if (slot == nullptr) return 0;
    // One that the parent process had loaded before a fork is known by name; using it is an error.
    return slot->accelerator.load() != nullptr || slot->is_parents.load() ? slot->device_type : 0;
  }
  std::vector<std::string> KindNames() override {
    std::vector<std::string> names;
    for (const Slot* slot : Table::Global()->Loaded()) names.push_back(slot->name);
    return names;
  }
  void AwaitContent(const ArrayObject* array) override {
    const DeviceMemory* memory = MemoryOf(array);
    if (memory == nullptr) return;
    const InUse accelerator(array->visible.tensor.device);
    memory->device->Settle();
    memory->device->CheckContent(*memory);
  }
  bool TryCall(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
               int* ret_type_code, int* status) override {
    return acc::TryCall(func, args, ret, ret_type_code, status);
  }
};

NDArray ArrayOf(MXNetNDArrayHandle handle) { return NDArray(ObjectRef::Borrow(handle)); }

int Assign(MXNetNDArrayHandle target, MXNetNDArrayHandle source) {
  return runtime::Guard([&] { CopyArray(ArrayOf(target), ArrayOf(source)); });
}

int AssignBorrowed(MXNetNDArrayHandle target, const DLTensor* source) {
  return runtime::Guard([&] { CopyArray(ArrayOf(target), Borrowed(*source)); });
}

int AssignWithin(MXNetNDArrayHandle target, MXNetNDArrayHandle source, int* done) {
  return runtime::Guard([&] { *done = TryCopyWithin(ArrayOf(target), ArrayOf(source)) ? 1 : 0; });
}

bool MayAskForOperators() {
  return fallback_mode.load(std::memory_order_relaxed) != FallbackMode::kWhole;
}

int CallOperator(MXNetFunctionHandle func, const MXNetValue* values, const int* type_codes,
                 int num_args, DLDevice ctx, MXNetValue* ret, int* ret_type_code, int* done) {
  return runtime::Guard([&] {
    *done = 0;
    Slot* slot = Table::Global()->Find(ctx.device_type);
    if (slot == nullptr) return;  // another library's device, which executes nothing
    const auto& function = *static_cast<const FunctionObject*>(func);
    MXNetValue filled[runtime::kMaxParams];
    int filled_codes[runtime::kMaxParams];
    if (function.Fill(values, type_codes, num_args, filled, filled_codes) != 0) {
      throw Error::FromLast();
    }
    const auto num_params = static_cast<int>(function.info->body_params().size());
    const CallArguments args{filled, filled_codes, num_params};
    const Call call(function, args);
    const InUse accelerator(slot);
    std::string reason;
    const bool is_done = TryExecutor(call, accelerator->device(ctx.device_id),
                                     &accelerator->stats(), ret, ret_type_code, &reason);
    *done = is_done ? 1 : 0;
  });
}

constexpr runtime::DeviceTransfers kTransfers{&Assign, &AssignBorrowed, &AssignWithin,
                                              &MayAskForOperators, &CallOperator};

// Set when this library is loaded and not with the first accelerator, because an array of another
// library's device may come before that.
[[maybe_unused]] const bool is_used = [] {
  runtime::device_transfers.store(&kTransfers, std::memory_order_release);
  return true;
}();

}  // namespace

void UseProvider() {
  static Provider* provider = new Provider();
  device_provider.store(provider, std::memory_order_release);
  observers.fetch_or(kObserveDevices);
}

}  // namespace acc
}  // namespace mxnet
