/*!
 * \file object.cc
 * \brief Reference counts.
 */
#include <mxnet/runtime/object.h>

#include "runtime/core/c_api_guard.h"

using mxnet::runtime::Guard;
using mxnet::runtime::RequireNotNull;

int MXNetObjectRetain(MXNetObjectHandle obj) {
  return Guard([&] {
    RequireNotNull(obj, "MXNetObjectRetain", "obj");
    mxnet::runtime::details::Retain(static_cast<MXNetObject*>(obj));
  });
}

int MXNetObjectFree(MXNetObjectHandle obj) {
  mxnet::runtime::details::Release(static_cast<MXNetObject*>(obj));
  return 0;
}

int MXNetObjectGetTypeIndex(MXNetObjectHandle obj, uint32_t* out_index) {
  return Guard([&] {
    RequireNotNull(obj, "MXNetObjectGetTypeIndex", "obj");
    RequireNotNull(out_index, "MXNetObjectGetTypeIndex", "out_index");
    *out_index = static_cast<MXNetObject*>(obj)->type_index;
  });
}
