#include "library.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "status.h"

namespace mxacc {

void FillTable(const MXAccApi& table, MXAccApi* api, size_t size) {
  size = std::min({size, api->struct_size, sizeof(table)});
  std::memcpy(api, &table, size);
  api->struct_size = size;
}

void CheckDevice(int32_t dev_id, size_t num_devices) {
  if (dev_id >= 0 && static_cast<size_t>(dev_id) < num_devices) return;
  const std::string known = num_devices > 1 ? "0 to " + std::to_string(num_devices - 1) : "0";
  throw Failure(kMXAccNoDevice, "there is no device " + std::to_string(dev_id) +
                                    (num_devices == 0 ? "" : ", only " + known));
}

void CheckMemory(int32_t memory) {
  if (memory != kMXAccDeviceMemory) Unsupported("memory other than that of the device");
}

void FillDeviceInfo(MXAccDeviceInfo told, MXAccDeviceInfo* info) {
  told.struct_size = info->struct_size;
  std::memcpy(info, &told, std::min(info->struct_size, sizeof(told)));
}

void WriteName(const std::string& text, char* name, size_t size) {
  if (text.size() >= size) {
    throw Failure(kMXAccBadArgument,
                  "the name '" + text + "' does not go into " + std::to_string(size) + " bytes");
  }
  std::memcpy(name, text.c_str(), text.size() + 1);
}

MXAccStatus SupportsImperative(void*, int32_t* yes) {
  *yes = 1;
  return nullptr;
}

void Log(const MXAccRuntime& runtime, int32_t level, const std::string& message) {
  if (runtime.struct_size < offsetof(MXAccRuntime, log) + sizeof(runtime.log)) return;
  if (runtime.log != nullptr) runtime.log(runtime.context, level, message.c_str());
}

void Emit(MXAccEmit emit, void* context, const char* key, const std::string& value) {
  emit(context, key, value.data(), value.size());
}

}  // namespace mxacc
