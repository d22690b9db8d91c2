/*!
 * \file rejections.cc
 * \brief The errors of typed bodies for arguments that they do not take.
 */
#include <mxnet/runtime/packed_func.h>

#include <string>

#include "runtime/core/c_api_guard.h"

namespace mxnet {
namespace runtime {
namespace {

Error CountError(MXNetFunctionHandle func, int expected, bool at_least, int given) {
  const MXNetFuncInfo* info = nullptr;
  const bool named = func != nullptr && MXNetFuncGetInfo(func, &info) == 0;
  return Error("TypeError", std::string(named ? info->name : "function") + " expected " +
                                (at_least ? "at least " : "") + std::to_string(expected) +
                                " arguments, got " + std::to_string(given));
}

}  // namespace
}  // namespace runtime
}  // namespace mxnet

using mxnet::runtime::Guard;

int MXNetFuncRejectArgument(MXNetFunctionHandle func, int index, const char* expected,
                            const MXNetAny* given, int out_of_range) {
  return Guard([&] {
    using mxnet::runtime::Match;
    mxnet::runtime::RequireNotNull(expected, "MXNetFuncRejectArgument", "expected");
    mxnet::runtime::RequireNotNull(given, "MXNetFuncRejectArgument", "given");
    const Match match = out_of_range != 0 ? Match::kOutOfRange : Match::kWrongType;
    throw mxnet::runtime::Error(mxnet::runtime::details::KindOf(match),
                                mxnet::runtime::details::MismatchText(
                                    match, mxnet::runtime::details::ArgumentText(func, index),
                                    expected, given->value, given->type_code));
  });
}

int MXNetFuncRejectCount(MXNetFunctionHandle func, int expected, int at_least, int given) {
  return Guard([&] { throw mxnet::runtime::CountError(func, expected, at_least != 0, given); });
}
