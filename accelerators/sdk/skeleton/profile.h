/*!
 * \file profile.h
 * \brief The member of the table for profiles, of a library whose models tell of their steps.
 *
 * For this file the Device of a backend has
 *
 *   profiler                  a Profiler
 */
#ifndef MXACC_SDK_SKELETON_PROFILE_H_
#define MXACC_SDK_SKELETON_PROFILE_H_

#include "../profiler.h"
#include "devices.h"

namespace mxacc {

template <typename Backend>
struct ProfileMembers {
  using Device = typename Backend::Device;

  static MXAccStatus Profile(void* self, int32_t dev_id, MXAccProfileSink sink, void* context) {
    return OnDevice<Backend>(self, dev_id,
                             [&](Device& device) { device.profiler.Set(sink, context); });
  }

  static void Set(MXAccApi* api) { api->profile = Profile; }
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_PROFILE_H_
