/*!
 * \file python_name.cc
 * \brief Tells names that Python code can write from those that it cannot.
 */
#include "runtime/core/python_name.h"

#include <mxnet/runtime/error.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace mxnet {
namespace runtime {
namespace {

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool MayBegin(char c) {
  // Bytes above ASCII may be letters of other scripts; Python checks those.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool IsIdentifier(std::string_view name) {
  return !name.empty() && MayBegin(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return MayBegin(c) || (c >= '0' && c <= '9'); });
}

void CheckPythonName(const char* owner, const char* what, const char* name) {
  if (!IsIdentifier(name)) {
    MXNET_THROW("ValueError") << owner << ": " << what << " has the name '" << name
                              << "', which is no identifier";
  }
  if (std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords)) {
    MXNET_THROW("ValueError") << owner << ": " << what << " has the name '" << name
                              << "', which is a keyword of Python";
  }
}

}  // namespace runtime
}  // namespace mxnet
