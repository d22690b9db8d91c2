/*!
 * \file plugin.cc
 * \brief The entry of the library, its devices, streams and options.
 */
#include <mxnet_acc.h>
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "accelerators/sdk/library.h"
#include "device.h"
#include "fault.h"
#include "stream.h"

namespace planted {
namespace {

using mxacc::Failure;

std::vector<std::unique_ptr<Memory>>& Memories() {
  static std::vector<std::unique_ptr<Memory>> memories;
  return memories;
}

char speed = '0';

MXAccStatus GetAccName(void*, char* name, size_t size) {
  return StatusOf([&] { mxacc::WriteName("planted", name, size); });
}

MXAccStatus GetNumAcc(void*, int32_t* count) {
  *count = kDevices;
  return nullptr;
}

/*! \brief Starts a thread that sleeps for ever, and never is in the library, which may go. */
void LeaveThread() {
  pthread_t thread;
  void* const sleep = reinterpret_cast<void*>(pause);
  pthread_create(&thread, nullptr, reinterpret_cast<void* (*)(void*)>(sleep), nullptr);
}

MXAccStatus Initialize(void*, const MXAccRuntime*) {
  for (int32_t i = 0; i < kDevices; ++i) Memories().push_back(std::make_unique<Memory>(i));
  if (Has("threads are left")) LeaveThread();
  return nullptr;
}

void Finalize(void*) {
  if (Has("finalize crashes")) *static_cast<volatile int*>(nullptr) = 0;
  Memories().clear();
}

MXAccStatus GetDeviceInfo(void*, int32_t dev_id, MXAccDeviceInfo* info) {
  return StatusOf([&] {
    MXAccDeviceInfo told{};
    told.flags = kMXAccStrides;
    told.memory_total = Memory::kTotal;
    told.memory_free = Memory::kTotal - MemoryOf(dev_id).used();
    told.name = "memory of the host, behind handles";
    mxacc::FillDeviceInfo(told, info);
  });
}

MXAccStatus Configure(void*, int32_t, const char* const* keys, const char* const* values,
                      int32_t count, MXAccEmit emit, void* context) {
  return StatusOf([&] {
    const auto known = [&](int32_t i) { return std::strcmp(keys[i], "speed") == 0; };
    for (int32_t i = 0; i < count; ++i) {
      if (known(i) || Has("unknown keywords")) continue;
      throw Failure(kMXAccBadArgument, std::string("there is no keyword ") + keys[i]);
    }
    for (int32_t i = 0; i < count; ++i) {
      if (known(i)) speed = values[i][0];
    }
    mxacc::Emit(emit, context, "speed", std::string(1, speed));
  });
}

template <typename Handle, typename Made>
MXAccStatus Create(void*, int32_t dev_id, Handle* out) {
  return StatusOf([&] { *out = reinterpret_cast<Handle>(new Made(dev_id)); });
}

template <typename Handle>
void Destroy(void*, int32_t, Handle handle) {
  delete FromHandle(handle);
}

MXAccStatus SyncStream(void*, int32_t, MXAccStream stream) {
  try {
    FromHandle(stream)->Sync();
    return nullptr;
  } catch (const WorkFailure& failed) {
    const mxacc::Failure& failure = failed.failure;
    return Shared(mxacc::KeepError(failure.code(), failure.what(), failed.number));
  }
}

MXAccStatus RecordEvent(void*, int32_t, MXAccEvent event, MXAccStream stream) {
  return StatusOf([&] { FromHandle(event)->Record(FromHandle(stream)); });
}

MXAccStatus WaitEvent(void*, int32_t, MXAccEvent event, MXAccStream stream) {
  return StatusOf([&] { FromHandle(event)->Wait(FromHandle(stream)); });
}

}  // namespace

Memory& MemoryOf(int32_t dev_id) {
  mxacc::CheckDevice(dev_id, Memories().size());
  return *Memories()[static_cast<size_t>(dev_id)];
}

MXAccStatus Shared(MXAccStatus status) {
  if (status == nullptr || !Has("one error for all threads")) return status;
  static char message[2000];
  static MXAccError error{sizeof(MXAccError), 0, message, 0, 0};
  std::strncpy(message, status->message, sizeof(message) - 1);
  error.code = status->code;
  error.work = status->work;
  return &error;
}

void SetStreamFunctions(MXAccApi* api) {
  api->createStream = Create<MXAccStream, Stream>;
  api->destroyStream = Destroy<MXAccStream>;
  api->syncStream = SyncStream;
  api->createEvent = Create<MXAccEvent, Event>;
  api->destroyEvent = Destroy<MXAccEvent>;
  api->recordEvent = RecordEvent;
  api->waitEvent = WaitEvent;
}

}  // namespace planted

MXAccStatus mxacc_get_api(const MXAccRuntime*, MXAccApi* api) {
  MXAccApi table{};
  table.abi_major = MXACC_ABI_MAJOR;
  table.abi_minor = MXACC_ABI_MINOR;
  table.release = "1.0";
  table.getAccName = planted::GetAccName;
  table.getNumAcc = planted::GetNumAcc;
  table.initialize = planted::Initialize;
  table.finalize = planted::Finalize;
  table.getDeviceInfo = planted::GetDeviceInfo;
  table.configure = planted::Configure;
  planted::SetMemoryFunctions(&table);
  planted::SetStreamFunctions(&table);
  planted::SetOperatorFunctions(&table);
  mxacc::FillTable(table, api);
  return nullptr;
}
