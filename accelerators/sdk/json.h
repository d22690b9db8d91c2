/*!
 * \file json.h
 * \brief The attributes of an operator and the JSON that their values are.
 */
#ifndef MXACC_SDK_JSON_H_
#define MXACC_SDK_JSON_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mxacc {

/*! \brief A value; which of the members counts, kind says. */
struct JsonValue {
  enum class Kind { kNull, kBool, kInt, kUInt, kFloat, kText, kArray };

  Kind kind = Kind::kNull;
  int64_t integer = 0; /*!< of kBool and kInt; of kUInt, which is above 2^63 - 1, its bits */
  double real = 0;
  std::string text;
  std::vector<JsonValue> items;
};

/*! \brief Failure where the text is no JSON, and kMXAccUnsupported for an object. */
JsonValue ReadJson(const char* text);

/*! \brief The value of an attribute; none where the operator does not have it. */
std::optional<JsonValue> FindAttribute(const MXAccOperator& op, const char* key);

}  // namespace mxacc

#endif  // MXACC_SDK_JSON_H_
