/*!
 * \file items.h
 * \brief The items of what Python has as a sequence.
 */
#ifndef MXNET_SRC_OP_SCHEMA_ITEMS_H_
#define MXNET_SRC_OP_SCHEMA_ITEMS_H_

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief The items of a tuple, list or container; false for anything else, and for spans of ints.
 */
inline bool ItemsOf(const MXNetValue& value, int type_code, MXNetAnyArray* out) {
  if (type_code == kMXNetTuple || type_code == kMXNetList) {
    *out = value.v_seq;
    return true;
  }
  const uint32_t type = ObjectTypeOf(value, type_code);
  if (type != kMXNetObjectTuple && type != kMXNetObjectArray) return false;
  *out = static_cast<const MXNetSeqObject*>(value.v_handle)->items;
  return true;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SCHEMA_ITEMS_H_
