/*!
 * \file attribute.h
 * \brief The values of an operator's attributes.
 */
#ifndef MXACC_SDK_ATTRIBUTE_H_
#define MXACC_SDK_ATTRIBUTE_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mxacc {

/*! \brief A value; which of the members counts, kind says. A type is its name. */
struct AttributeValue {
  enum class Kind { kNull, kBool, kInt, kUInt, kFloat, kText, kArray };

  Kind kind = Kind::kNull;
  int64_t integer = 0; /*!< of kBool and kInt; of kUInt, which is above 2^63 - 1, its bits */
  double real = 0;     /*!< of kInt, kUInt and kFloat */
  std::string text;
  std::vector<AttributeValue> items;
};

/*! \brief A copy of a value; Failure for a kind that is not known. */
AttributeValue ReadAttribute(const MXAccAttribute& attribute);

/*! \brief The value of an attribute; none where the operator does not have it. */
std::optional<AttributeValue> FindAttribute(const MXAccOperator& op, const char* key);

}  // namespace mxacc

#endif  // MXACC_SDK_ATTRIBUTE_H_
