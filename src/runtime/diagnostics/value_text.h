/*!
 * \file value_text.h
 * \brief Short texts of values, for traces and reports.
 */
#ifndef MXNET_SRC_RUNTIME_DIAGNOSTICS_VALUE_TEXT_H_
#define MXNET_SRC_RUNTIME_DIAGNOSTICS_VALUE_TEXT_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <string>
#include <string_view>

namespace mxnet {
namespace runtime {

/*! \brief Appends text as valid UTF-8 of at most `limit` bytes and an ellipsis. */
void AppendText(std::string_view text, size_t limit, std::string* out);

/*! \brief "3", "'text'", "float32[3, 4]", "(1, 2)", "list of 5": a short text of a value.
 */
void AppendValue(const MXNetValue& value, int type_code, std::string* out);

/*! \brief A call's arguments, separated by commas, up to a limit of length. */
std::string ArgumentsText(const MXNetValue* values, const int* type_codes, int num_args);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_DIAGNOSTICS_VALUE_TEXT_H_
