/*!
 * \file attribute.h
 * \brief Values of attributes as the text that accelerator libraries get.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_ATTRIBUTE_H_
#define MXNET_SRC_ACC_DISPATCH_ATTRIBUTE_H_

#include <string>

#include "acc/dispatch/call.h"

namespace mxnet {
namespace acc {

/*! \brief Appends a value as MXAccOperator says of attributes; false where it has no such text. */
bool AppendAttribute(const MXNetValue& value, int type_code, std::string* out);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_ATTRIBUTE_H_
