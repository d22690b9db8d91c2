/*!
 * \file provider.h
 * \brief Accelerators as the runtime sees them.
 */
#ifndef MXNET_SRC_ACC_PROVIDER_H_
#define MXNET_SRC_ACC_PROVIDER_H_

namespace mxnet {
namespace acc {

/*! \brief Lets the runtime ask for accelerators; called when there is one. */
void UseProvider();

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PROVIDER_H_
