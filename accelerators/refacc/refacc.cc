/*!
 * \file refacc.cc
 * \brief The entry of the library, and the members of the table that are about all of it.
 */
#include <mxnet_acc.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "library.h"

namespace refacc {
namespace {

constexpr char kRelease[] = "1.0";

MXAccStatus GetAccName(void*, char* name, size_t size) {
  return StatusOf([&] {
    Settings settings = Settings::OfEnvironment();
    settings.faults.Reach("getAccName");
    WriteName(settings.name, name, size);
  });
}

MXAccStatus GetNumAcc(void* self, int32_t* count) {
  return StatusOf([&] {
    LibraryOf(self).settings().faults.Reach("getNumAcc");
    *count = static_cast<int32_t>(LibraryOf(self).num_devices());
  });
}

MXAccStatus Initialize(void* self, const MXAccRuntime* runtime) {
  return StatusOf([&] { MakeLibrary(self, runtime); });
}

void Finalize(void* self) {
  // finalize has no status: the only fault that it can have is a crash.
  (void)StatusOf([self] { LibraryOf(self).settings().faults.Reach("finalize"); });
  Instance<Library>::Drop(self);
}

MXAccStatus GetDeviceInfo(void* self, int32_t dev_id, MXAccDeviceInfo* info) {
  return OnDevice("getDeviceInfo", self, dev_id, [&](Device& device, const Settings& settings) {
    const uint64_t used = device.memory.state().bytes;
    MXAccDeviceInfo told{};
    if (!settings.opaque) told.flags |= kMXAccHostVisible;
    if (settings.one_thread) told.flags |= kMXAccOneThread;
    if (settings.strides) told.flags |= kMXAccStrides;
    told.memory_total = static_cast<uint64_t>(settings.memory);
    told.memory_free = told.memory_total - std::min(told.memory_total, used);
    told.name = device.name.c_str();
    told.vendor = "mxffi";
    told.driver = "the operators of the CPU";
    FillDeviceInfo(told, info);
  });
}

/*! \brief Emits the settings and what has happened on the device. */
void EmitState(const Device& device, const Settings& settings, MXAccEmit emit, void* context) {
  const auto tell = [&](const char* key, const std::string& value) {
    Emit(emit, context, key, value);
  };
  settings.ForEach(tell);
  const MemoryState state = device.memory.state();
  tell("live", std::to_string(state.live));
  tell("bytes", std::to_string(state.bytes));
  tell("peak_bytes", std::to_string(state.peak_bytes));
  tell("runs", std::to_string(device.runs.Read()));
  tell("copies", std::to_string(device.copies.Read()));
  tell("compiled", std::to_string(device.compiled.Read()));
  tell("imported", std::to_string(device.imported.Read()));
  tell("updated", std::to_string(device.updated.Read()));
  tell("violations", std::to_string(state.violations));
  tell("violation", state.violation);
}

MXAccStatus Configure(void* self, int32_t dev_id, const char* const* in_keys,
                      const char* const* in_vals, int32_t num_in, MXAccEmit emit, void* context) {
  return OnDevice("configure", self, dev_id, [&](Device& device, const Settings&) {
    bool check = false;
    const Settings& now = LibraryOf(self).ChangeSettings([&](Settings* settings) {
      for (int32_t i = 0; i < num_in; ++i) {
        if (std::strcmp(in_keys[i], "check") == 0) {
          check = true;
        } else {
          settings->Set(in_keys[i], in_vals[i]);
        }
      }
    });
    if (check) device.memory.CheckAllZones();
    EmitState(device, now, emit, context);
  });
}

}  // namespace
}  // namespace refacc

MXAccStatus mxacc_get_api(const MXAccRuntime*, MXAccApi* api) {
  return refacc::StatusOf([&] {
    refacc::Settings settings = refacc::Settings::OfEnvironment();
    settings.faults.Reach("mxacc_get_api");
    MXAccApi table{};
    table.abi_major = static_cast<int32_t>(settings.abi_major);
    table.abi_minor = MXACC_ABI_MINOR;
    table.release = refacc::kRelease;
    table.self = refacc::Instance<refacc::Library>::Unused();
    table.getAccName = refacc::GetAccName;
    table.getNumAcc = refacc::GetNumAcc;
    table.initialize = refacc::Initialize;
    table.finalize = refacc::Finalize;
    table.getDeviceInfo = refacc::GetDeviceInfo;
    table.configure = refacc::Configure;
    refacc::SetMemoryFunctions(&table);
    refacc::SetOperatorFunctions(&table);
    if (settings.models) refacc::SetModelFunctions(&table);
    if (settings.streams) refacc::SetStreamFunctions(&table);
    refacc::FillTable(table, api, static_cast<size_t>(settings.api_size));
  });
}
