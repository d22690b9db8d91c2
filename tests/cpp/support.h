/*!
 * \file support.h
 * \brief What the tests of the runtime share.
 */
#ifndef MXNET_TESTS_CPP_SUPPORT_H_
#define MXNET_TESTS_CPP_SUPPORT_H_

#include <doctest/doctest.h>
#include <mxnet/runtime/registry.h>

#include <string>

namespace mxnet {
namespace tests {

/*! \brief Runs body and returns "kind: message" of the Error it throws, "" where it throws none. */
template <typename Body>
std::string ErrorOf(Body&& body) {
  try {
    body();
  } catch (const runtime::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "";
}

/*! \brief "kind: message" of the calling thread's last error. */
inline std::string LastError() {
  const MXNetErrorInfo* info = MXNetGetLastError();
  return std::string(info->kind) + ": " + std::string(info->message.data, info->message.size);
}

}  // namespace tests
}  // namespace mxnet

#endif  // MXNET_TESTS_CPP_SUPPORT_H_
