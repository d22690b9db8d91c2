/*!
 * \file guard.h
 * \brief Calls of a library's functions that let no exception out.
 */
#ifndef MXNET_SRC_ACC_PLUGIN_GUARD_H_
#define MXNET_SRC_ACC_PLUGIN_GUARD_H_

#include <mxnet_acc.h>

#include <exception>

namespace mxnet {
namespace acc {

/*!
 * \brief A table whose functions call those of raw, which has to outlive it. What these throw,
 * against the contract, is a failure, or where they cannot fail a message on the standard error.
 *
 * It is caught while the library is loaded: what it throws may be of a type of its own.
 */
MXAccApi GuardedTable(const MXAccApi* raw);

/*! \brief For a handler of what a function of the library has thrown: that as a status. */
[[gnu::cold]] MXAccStatus StatusOfException();
/*! \brief The same where the function cannot fail. */
[[gnu::cold]] void WarnOfException(const char* function);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PLUGIN_GUARD_H_
