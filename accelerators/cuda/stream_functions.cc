/*!
 * \file stream_functions.cc
 * \brief The members of the table for streams and events.
 */
#include "library.h"
#include "stream.h"

namespace cudaacc {
namespace {

MXAccStatus CreateStream(int32_t dev_id, MXAccStream* out) {
  return OnDevice(dev_id, [&](Device&) { *out = reinterpret_cast<MXAccStream>(new Stream()); });
}

void DestroyStream(int32_t dev_id, MXAccStream stream) {
  (void)OnDevice(dev_id, [&](Device&) { delete FromHandle(stream); });
}

MXAccStatus SyncStream(int32_t dev_id, MXAccStream stream) {
  return OnDevice(dev_id, [&](Device&) { Synchronize(FromHandle(stream)->handle()); });
}

MXAccStatus CreateEvent(int32_t dev_id, MXAccEvent* out) {
  return OnDevice(dev_id, [&](Device&) { *out = reinterpret_cast<MXAccEvent>(new Event()); });
}

void DestroyEvent(int32_t dev_id, MXAccEvent event) {
  (void)OnDevice(dev_id, [&](Device&) { delete FromHandle(event); });
}

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

}  // namespace cudaacc
