/*!
 * \file channel.h
 * \brief Whole messages over a socket.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_CHANNEL_H_
#define MXNET_SRC_ACC_ISOLATED_CHANNEL_H_

#include <string>

namespace mxnet {
namespace acc {
namespace isolated {

/*! \brief Sends a message; false where the other end is gone. */
bool Send(int socket, const std::string& message);

/*! \brief Waits for a message; false where the other end is gone. Neither side sends twice. */
bool Receive(int socket, std::string* message);

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_CHANNEL_H_
