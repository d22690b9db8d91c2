/*!
 * \file table.cc
 * \brief Loading and unloading accelerators by name.
 */
#include "acc/device/table.h"

#include <mxnet/runtime/error.h>
#include <pthread.h>

#include <algorithm>
#include <new>

#include "acc/isolated/library.h"
#include "runtime/library/dynamic_library.h"

namespace mxnet {
namespace acc {
namespace {

[[noreturn]] void ThrowForked(const std::string& name) {
  MXNET_THROW("RuntimeError") << "the accelerator " << name
                              << " was loaded before this process was "
                              << "forked, and a child cannot use it; start the process with "
                              << "multiprocessing's 'spawn', or load it after the fork";
}

std::unique_ptr<Plugin> OpenPlugin(const std::string& path, Isolation isolation) {
  if (!isolation.isolated) return std::make_unique<Plugin>(path);
  return std::make_unique<Plugin>(path,
                                  std::make_unique<isolated::Library>(path, isolation.timeout));
}

}  // namespace

void InUse::ThrowUnknown(Context ctx) {
  MXNET_THROW("ValueError") << ContextName(ctx)
                            << " is no device of an accelerator that is loaded; "
                            << "an array of another library's devices is to be copied to the CPU "
                            << "by that library";
}

void InUse::ThrowNotLoaded(const Slot* slot) {
  if (slot == nullptr) MXNET_THROW("ValueError") << "no accelerator of that name is loaded";
  if (slot->is_parents.load()) ThrowForked(slot->name);
  MXNET_THROW("ValueError") << "the accelerator " << slot->name << " is not loaded";
}

Table* Table::Global() {
  static Table* table = new Table();
  return table;
}

Slot* Table::Find(const std::string& name) {
  for (const std::atomic<Slot*>& entry : slots_) {
    Slot* slot = entry.load(std::memory_order_acquire);
    if (slot == nullptr || slot->name == name) return slot;
  }
  return nullptr;
}

std::vector<Slot*> Table::Slots() {
  std::vector<Slot*> all;
  for (const std::atomic<Slot*>& entry : slots_) {
    Slot* slot = entry.load(std::memory_order_acquire);
    if (slot != nullptr) all.push_back(slot);
  }
  return all;
}

std::vector<Slot*> Table::Loaded() {
  std::vector<Slot*> loaded = Slots();
  loaded.erase(std::remove_if(loaded.begin(), loaded.end(),
                              [](Slot* slot) { return slot->accelerator.load() == nullptr; }),
               loaded.end());
  return loaded;
}

Table::Table() { pthread_atfork(nullptr, nullptr, &AfterForkInChild); }

void Table::AfterForkInChild() {
  // Nothing of an accelerator is freed or locked in the child: other threads of the parent may have
  // been in the middle of changing it.
  Table* table = Global();
  new (&table->loading_) std::mutex();
  for (const std::atomic<Slot*>& entry : table->slots_) {
    Slot* slot = entry.load();
    if (slot == nullptr || slot->accelerator.load() == nullptr) continue;
    Adapter* adapter = slot->accelerator.load()->plugin().adapter();
    if (adapter != nullptr) adapter->Forget();
    slot->is_parents.store(true);
    slot->accelerator.store(nullptr);
  }
}

Slot* Table::SlotFor(const std::string& name) {
  for (int number = 0; number < kMaxSlots; ++number) {
    Slot* slot = slots_[number].load(std::memory_order_acquire);
    if (slot == nullptr) {
      slot = new Slot();
      slot->name = name;
      slot->device_type = static_cast<int>(kFirstType) + number;
      slots_[number].store(slot, std::memory_order_release);
    }
    if (slot->name == name) return slot;
  }
  MXNET_THROW("RuntimeError") << "cannot load another accelerator: " << kMaxSlots
                              << " names have been used in this process";
}

Slot* Table::FindFile(const std::string& path) {
  void* library = dynamic_library::FindLoaded(path);
  if (library == nullptr) return nullptr;
  Slot* found = nullptr;
  for (Slot* slot : Slots()) {
    if (slot->library == library) found = slot;
  }
  dynamic_library::Close(library);
  if (found != nullptr && found->is_parents.load()) ThrowForked(found->name);
  return found;
}

Slot* Table::FindIsolated(const std::string& path, const std::string& name) {
  for (Slot* slot : Loaded()) {
    const Plugin& plugin = slot->accelerator.load()->plugin();
    if (!plugin.isolated() || plugin.path() != path) continue;
    if (name.empty() || slot->name == name) return slot;
  }
  return nullptr;
}

Slot* Table::Load(const std::string& path, const std::string& name, Isolation isolation,
                  AnswerCacheFactory make_answers) {
  std::lock_guard<std::mutex> lock(loading_);
  if (Slot* slot = isolation.isolated ? FindIsolated(path, name) : nullptr) {
    Adapter* adapter = slot->accelerator.load()->plugin().adapter();
    if (isolation.timeout != 0) adapter->SetTimeout(isolation.timeout);
    if (adapter->HasEnded()) {
      slot->accelerator.load()->Restart();
    }
    return slot;
  }
  if (Slot* slot = isolation.isolated ? nullptr : FindFile(path)) {
    if (name.empty() || slot->name == name) return slot;
    MXNET_THROW("ValueError") << path << " is loaded already, as " << slot->name;
  }
  auto plugin = OpenPlugin(path, isolation);
  const std::string given = name.empty() ? plugin->own_name() : name;
  if (!IsAcceleratorName(given)) {
    MXNET_THROW("ValueError") << "'" << given << "' is no name for an accelerator, expected "
                              << "[a-z][a-z0-9_]* of at most " << MXACC_NAME_SIZE - 1
                              << " characters";
  }
  if (given == "cpu") MXNET_THROW("ValueError") << "the name cpu is taken by the CPU";
  Slot* slot = SlotFor(given);
  if (slot->is_parents.load()) {
    MXNET_THROW("ValueError") << "the name " << given
                              << " is taken by an accelerator that was loaded "
                              << "before this process was forked; give " << path
                              << " another with acc_name";
  }
  Accelerator* present = slot->accelerator.load();
  if (present == nullptr) {
    const void* library = plugin->library();
    slot->accelerator.store(
        new Accelerator(std::move(plugin), given, slot->device_type, make_answers));
    slot->library = library;
  } else {
    MXNET_THROW("ValueError") << "the name " << given << " is taken by " << present->plugin().path()
                              << "; give " << path << " another with acc_name";
  }
  return slot;
}

std::vector<FailureRef> Table::Unload(const std::string& name) {
  std::lock_guard<std::mutex> lock(loading_);
  Slot* slot = Find(name);
  Accelerator* accelerator = slot == nullptr ? nullptr : slot->accelerator.load();
  if (accelerator == nullptr) {
    if (slot != nullptr && slot->is_parents.load()) ThrowForked(name);
    MXNET_THROW("ValueError") << "no accelerator named '" << name << "' is loaded";
  }
  // First made unreachable, then checked: a call that comes in between finds it unloaded.
  slot->accelerator.store(nullptr);
  // Calls are checked before arrays, as a call that ends meanwhile leaves arrays behind.
  uint64_t users = slot->users.Read();
  users += accelerator->num_blocks();
  if (users != 0) {
    slot->accelerator.store(accelerator);
    MXNET_THROW("RuntimeError") << "cannot unload " << name << ": " << users
                                << " arrays or calls use it";
  }
  slot->library = nullptr;
  std::vector<FailureRef> untold = accelerator->TakeUntold();
  delete accelerator;
  return untold;
}

}  // namespace acc
}  // namespace mxnet
