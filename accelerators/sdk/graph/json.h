/*!
 * \file json.h
 * \brief JSON as a tree of values.
 */
#ifndef MXACC_SDK_GRAPH_JSON_H_
#define MXACC_SDK_GRAPH_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

namespace mxacc {

/*! \brief A value; which of the members counts, kind says. */
struct Json {
  enum class Kind { kNull, kBool, kInt, kFloat, kText, kArray, kObject };

  Kind kind = Kind::kNull;
  int64_t integer = 0; /*!< of kBool and kInt */
  double real = 0;     /*!< of kInt and kFloat */
  std::string text;
  std::vector<Json> items;
  std::vector<std::string> keys; /*!< of kObject, as many as items */

  /*! \brief The member of an object; NULL where it has none of that name, or is none. */
  const Json* Find(const char* key) const;
  /*! \brief The same; Failure where there is none of that kind. */
  const Json& At(const char* key, Kind wanted) const;
};

/*! \brief Reads a text, which may have NaN and Infinity; Failure, kMXAccBadArgument, where it is no
 * JSON. */
Json ReadJson(const char* text);

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_JSON_H_
