/*!
 * \file channel.h
 * \brief Whole messages over a socket.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_CHANNEL_H_
#define MXNET_SRC_ACC_ISOLATED_CHANNEL_H_

#include <functional>
#include <string>

namespace mxnet {
namespace acc {
namespace isolated {

/*!
 * \brief Whether to go on waiting; asked each time that a wait of the socket has reached its time
 * limit (SO_RCVTIMEO). May throw.
 */
using GoesOn = std::function<bool()>;

/*! \brief Sends a message; false where the other end is gone, or waiting has ended. */
bool Send(int socket, const std::string& message, const GoesOn& goes_on = nullptr);

/*! \brief Waits for a message; false as in Send. The sides send in turns. */
bool Receive(int socket, std::string* message, const GoesOn& goes_on = nullptr);

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_CHANNEL_H_
