/*!
 * \file asker.cc
 * \brief Sends questions, and answers requests until the reply comes.
 */
#include "acc/isolated/asker.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "acc/isolated/channel.h"

namespace mxnet {
namespace acc {
namespace isolated {

Reader Asker::Ask(const Writer& asked) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_open_) MXNET_THROW("RuntimeError") << "the call is over";
  std::string message = asked.bytes();
  for (;;) {
    std::string bytes;
    if (!Send(kSocket, message) || !Receive(kSocket, &bytes)) _exit(1);
    Reader request(std::move(bytes));
    const auto what = static_cast<Request>(request.Number<int32_t>());
    if (what == Request::kReply) return request;
    message = answer_(what, &request).bytes();
  }
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
