/*!
 * \file streams.h
 * \brief The members of the table for streams and events.
 *
 * For this file a backend has
 *
 *   Stream(device), with Sync()                  Failure for what failed and was not told
 *   Event(device), with Record(stream), Wait(stream)   with no stream the calling thread waits
 */
#ifndef MXACC_SDK_SKELETON_STREAMS_H_
#define MXACC_SDK_SKELETON_STREAMS_H_

#include "devices.h"

namespace mxacc {

template <typename Backend>
struct StreamMembers {
  using Device = typename Backend::Device;
  using Stream = typename Backend::Stream;
  using Event = typename Backend::Event;

  static Stream* From(MXAccStream stream) { return reinterpret_cast<Stream*>(stream); }
  static Event* From(MXAccEvent event) { return reinterpret_cast<Event*>(event); }

  template <typename Made, typename Handle>
  static MXAccStatus Create(void* self, int32_t dev_id, Handle* out) {
    return OnDevice<Backend>(
        self, dev_id, [&](Device& device) { *out = reinterpret_cast<Handle>(new Made(device)); });
  }
  template <typename Handle>
  static void Destroy(void* self, int32_t dev_id, Handle handle) {
    (void)OnDevice<Backend>(self, dev_id, [&](Device&) { delete From(handle); });
  }
  static MXAccStatus Sync(void* self, int32_t dev_id, MXAccStream stream) {
    return OnDevice<Backend>(self, dev_id, [&](Device&) { From(stream)->Sync(); });
  }
  static MXAccStatus Record(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream) {
    return OnDevice<Backend>(self, dev_id, [&](Device&) { From(event)->Record(From(stream)); });
  }
  static MXAccStatus Wait(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream) {
    return OnDevice<Backend>(self, dev_id, [&](Device&) { From(event)->Wait(From(stream)); });
  }

  static void Set(MXAccApi* api) {
    api->createStream = Create<Stream, MXAccStream>;
    api->destroyStream = Destroy<MXAccStream>;
    api->syncStream = Sync;
    api->createEvent = Create<Event, MXAccEvent>;
    api->destroyEvent = Destroy<MXAccEvent>;
    api->recordEvent = Record;
    api->waitEvent = Wait;
  }
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_STREAMS_H_
