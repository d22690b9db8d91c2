/*!
 * \file arguments.h
 * \brief The values of attributes as arguments of the function boundary.
 */
#ifndef REFACC_ARGUMENTS_H_
#define REFACC_ARGUMENTS_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sdk.h"

namespace refacc {

/*! \brief Makes arguments and keeps what they point to. */
class AttributeArguments {
 public:
  AttributeArguments() = default;
  AttributeArguments(const AttributeArguments&) = delete;
  AttributeArguments& operator=(const AttributeArguments&) = delete;

  /*! \brief An array becomes a tuple, of ints alone a span of them. */
  MXNetAny Make(const AttributeValue& value);

 private:
  MXNetAny MakeTuple(const std::vector<AttributeValue>& items);

  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> runs_;
  std::deque<std::vector<MXNetAny>> tuples_;
};

}  // namespace refacc

#endif  // REFACC_ARGUMENTS_H_
