/*!
 * \file stream_functions.cc
 * \brief The members of the table for streams and events.
 */
#include "library.h"
#include "stream.h"

namespace opencl {
namespace {

MXAccStatus CreateStream(int32_t dev_id, MXAccStream* out) {
  return OnDevice(
      dev_id, [&](Device& device) { *out = reinterpret_cast<MXAccStream>(new Stream(device)); });
}

void DestroyStream(int32_t, MXAccStream stream) { delete FromHandle(stream); }

MXAccStatus SyncStream(int32_t dev_id, MXAccStream stream) {
  return OnDevice(dev_id, [&](Device&) { FromHandle(stream)->Sync(); });
}

MXAccStatus CreateEvent(int32_t dev_id, MXAccEvent* out) {
  return OnDevice(dev_id,
                  [&](Device& device) { *out = reinterpret_cast<MXAccEvent>(new Event(device)); });
}

void DestroyEvent(int32_t, MXAccEvent event) { delete FromHandle(event); }

MXAccStatus RecordEvent(int32_t dev_id, MXAccEvent event, MXAccStream stream) {
  return OnDevice(dev_id, [&](Device&) { FromHandle(event)->Record(FromHandle(stream)); });
}

MXAccStatus WaitEvent(int32_t dev_id, MXAccEvent event, MXAccStream stream) {
  return OnDevice(dev_id, [&](Device&) { FromHandle(event)->Wait(FromHandle(stream)); });
}

}  // namespace

void SetStreamFunctions(MXAccApi* api) {
  api->createStream = CreateStream;
  api->destroyStream = DestroyStream;
  api->syncStream = SyncStream;
  api->createEvent = CreateEvent;
  api->destroyEvent = DestroyEvent;
  api->recordEvent = RecordEvent;
  api->waitEvent = WaitEvent;
}

}  // namespace opencl
