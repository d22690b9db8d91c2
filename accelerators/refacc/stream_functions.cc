/*!
 * \file stream_functions.cc
 * \brief The members of the table for streams and events.
 */
#include "library.h"
#include "stream.h"

namespace refacc {
namespace {

MXAccStatus CreateStream(void* self, int32_t dev_id, MXAccStream* out) {
  return OnDevice("createStream", self, dev_id, [&](Device&, const Settings&) {
    *out = reinterpret_cast<MXAccStream>(new Stream);
  });
}

void DestroyStream(void*, int32_t, MXAccStream stream) { delete FromHandle(stream); }

MXAccStatus SyncStream(void* self, int32_t dev_id, MXAccStream stream) {
  return StatusOf([&] {
    try {
      const DeviceCall call(LibraryOf(self), "syncStream", dev_id);
      FromHandle(stream)->Wait();
      FromHandle(stream)->Tell(call.settings().failures_named);
    } catch (const Failure&) {
      // A fault of syncStream itself must not let work run on.
      FromHandle(stream)->Wait();
      throw;
    }
  });
}

MXAccStatus CreateEvent(void* self, int32_t dev_id, MXAccEvent* out) {
  return OnDevice("createEvent", self, dev_id, [&](Device&, const Settings&) {
    *out = reinterpret_cast<MXAccEvent>(new Event);
  });
}

void DestroyEvent(void*, int32_t, MXAccEvent event) { delete FromHandle(event); }

MXAccStatus RecordEvent(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream) {
  return OnDevice("recordEvent", self, dev_id,
                  [&](Device&, const Settings&) { FromHandle(event)->Record(FromHandle(stream)); });
}

MXAccStatus WaitEvent(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream) {
  return OnDevice("waitEvent", self, dev_id,
                  [&](Device&, const Settings&) { FromHandle(event)->Wait(FromHandle(stream)); });
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

}  // namespace refacc
