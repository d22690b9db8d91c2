/*!
 * \file json.h
 * \brief The values of attributes, from JSON to arguments of the function boundary.
 */
#ifndef REFACC_JSON_H_
#define REFACC_JSON_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace refacc {

/*! \brief Reads attributes and keeps what their values point to. */
class JsonValues {
 public:
  JsonValues() = default;
  JsonValues(const JsonValues&) = delete;
  JsonValues& operator=(const JsonValues&) = delete;

  /*!
   * \brief The value of a JSON text: an array is a tuple, of ints alone a run of them.
   *
   * Failure where it is none, and kMXAccUnsupported for an object.
   */
  MXNetAny Read(const char* text);

 private:
  class Reader;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> runs_;
  std::deque<std::vector<MXNetAny>> tuples_;
};

}  // namespace refacc

#endif  // REFACC_JSON_H_
