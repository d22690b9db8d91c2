/*!
 * \file operator_functions.h
 * \brief The operators of an accelerator in the registry.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_OPERATOR_FUNCTIONS_H_
#define MXNET_SRC_ACC_DISPATCH_OPERATOR_FUNCTIONS_H_

#include "acc/device/table.h"

namespace mxnet {
namespace acc {

/*!
 * \brief Registers "acc.<name>.<operator>" for each operator, which carries it out there or fails.
 *
 * Nothing where the library is not asked for operators.
 */
void RegisterOperators(Slot* slot);

/*! \brief Takes what RegisterOperators registered out of the registry. */
void RemoveOperators(const std::string& accelerator);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_OPERATOR_FUNCTIONS_H_
