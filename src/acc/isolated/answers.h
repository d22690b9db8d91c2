/*!
 * \file answers.h
 * \brief How answers of the process that serves a library begin.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_ANSWERS_H_
#define MXNET_SRC_ACC_ISOLATED_ANSWERS_H_

#include <string>

#include "acc/isolated/message.h"
#include "acc/plugin/adapter.h"
#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace isolated {

/*! \brief Whether a call failed, and why; in questions and replies, too. */
inline void WriteStatus(MXAccStatus status, Writer* message) {
  message->Number<int32_t>(status != nullptr);
  if (status == nullptr) return;
  int32_t code = kMXAccFailed;
  std::string text;
  if (!ReadError(status, &code, &text)) text = "it gave no MXAccError to say why";
  message->Number(code);
  message->Number(NodeOf(status));
  message->Text(text);
}

inline Writer StatusOnly(MXAccStatus status) {
  Writer answer;
  WriteStatus(status, &answer);
  return answer;
}

/*! \brief What follows a status that is no success, as a status of this process. */
inline MXAccStatus ReadFailure(Reader* message) {
  const auto code = message->Number<int32_t>();
  const auto node = message->Number<int64_t>();
  return Failure(code, message->Text(), node);
}

/*! \brief What WriteStatus has written. */
inline MXAccStatus ReadStatus(Reader* message) {
  return message->Number<int32_t>() == 0 ? nullptr : ReadFailure(message);
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_ANSWERS_H_
