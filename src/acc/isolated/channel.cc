/*!
 * \file channel.cc
 * \brief A message is its size and its bytes.
 */
#include "acc/isolated/channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

/*! \brief Most messages are smaller, and come with one call. */
constexpr size_t kUsual = 4096;
/*! \brief No message is as large: elements go through the shared memory. */
constexpr uint64_t kMost = uint64_t{1} << 32;

/*! \brief Whether a call that has failed is to be made again. */
bool IsToBeRepeated(const GoesOn& goes_on) {
  if (errno != EINTR && errno != EAGAIN) return false;
  return goes_on == nullptr || goes_on();
}

}  // namespace

bool Send(int socket, const std::string& message, const GoesOn& goes_on) {
  const uint64_t size = message.size();
  std::string whole(reinterpret_cast<const char*>(&size), sizeof(size));
  whole += message;
  size_t sent = 0;
  while (sent < whole.size()) {
    const ssize_t count = send(socket, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && IsToBeRepeated(goes_on)) continue;
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

bool Receive(int socket, std::string* message, const GoesOn& goes_on) {
  std::string whole(kUsual, '\0');
  uint64_t size = 0;
  size_t received = 0;
  while (received < sizeof(size) || received < sizeof(size) + size) {
    const ssize_t count = recv(socket, whole.data() + received, whole.size() - received, 0);
    if (count < 0 && IsToBeRepeated(goes_on)) continue;
    if (count <= 0) return false;
    received += static_cast<size_t>(count);
    if (received < sizeof(size)) continue;
    std::memcpy(&size, whole.data(), sizeof(size));
    if (size > kMost) throw std::length_error("the size of a message");
    if (whole.size() < sizeof(size) + size) whole.resize(sizeof(size) + size);
  }
  *message = whole.substr(sizeof(size), size);
  return true;
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
