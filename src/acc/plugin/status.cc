/*!
 * \file status.cc
 * \brief Reads errors of accelerator libraries without trusting them.
 */
#include "acc/plugin/status.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace mxnet {
namespace acc {
namespace {

const char* KindOf(int32_t code) {
  switch (code) {
    case kMXAccBadArgument:
      return "ValueError";
    case kMXAccBadIndex:
      return "IndexError";
    case kMXAccUnsupported:
      return "NotImplementedError";
    case kMXAccOutOfMemory:
      return "MemoryError";
    case kMXAccRejected:
      return "ImportError";
    default:
      return "RuntimeError";
  }
}

/*! \brief Whether it is an MXAccError with at least size bytes. */
bool IsError(MXAccStatus status, size_t size) {
  return reinterpret_cast<uintptr_t>(status) % alignof(MXAccError) == 0 &&
         IsReadable(status, size) && status->struct_size >= size;
}

}  // namespace

bool IsReadable(const void* address, size_t size) {
  // The kernel answers for bytes that this process could not read.
  char copy[64];
  const char* at = static_cast<const char*>(address);
  while (size > 0) {
    const size_t part = size < sizeof(copy) ? size : sizeof(copy);
    iovec local{copy, part};
    iovec remote{const_cast<char*>(at), part};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != static_cast<ssize_t>(part)) {
      return false;
    }
    at += part;
    size -= part;
  }
  return true;
}

std::string TextOf(const char* text, size_t limit) {
  std::string copy;
  while (text != nullptr && copy.size() < limit && IsReadable(text, 1) && *text != '\0') {
    const auto c = static_cast<unsigned char>(*text++);
    copy += c < 0x20 || c == 0x7f ? ' ' : static_cast<char>(c);
  }
  return copy;
}

bool ReadError(MXAccStatus status, int32_t* code, std::string* message) {
  if (!IsError(status, offsetof(MXAccError, message) + sizeof(status->message))) {
    *code = kMXAccFailed;
    *message = "it gave no MXAccError to say why";
    return false;
  }
  *code = status->code;
  *message = TextOf(status->message);
  return true;
}

uint64_t WorkOf(MXAccStatus status) {
  return IsError(status, offsetof(MXAccError, work) + sizeof(status->work)) ? status->work : 0;
}

int64_t NodeOf(MXAccStatus status) {
  return IsError(status, offsetof(MXAccError, node) + sizeof(status->node)) ? status->node : 0;
}

Error ErrorOf(MXAccStatus status, const std::string& accelerator, const char* function) {
  std::string what = accelerator + ": " + function + " failed";
  if (const int64_t node = NodeOf(status)) what += " at node " + std::to_string(node);
  int32_t code;
  std::string message;
  if (!ReadError(status, &code, &message)) {
    return Error("RuntimeError", what + " and gave no MXAccError to say why");
  }
  return Error(KindOf(code), what + (message.empty() ? " without a reason" : ": " + message));
}

bool WasDone(MXAccStatus status, const std::string& accelerator, const char* function) {
  if (status == nullptr) return true;
  const Error error = ErrorOf(status, accelerator, function);
  if (error.kind() != "NotImplementedError") throw error;
  return false;
}

}  // namespace acc
}  // namespace mxnet
