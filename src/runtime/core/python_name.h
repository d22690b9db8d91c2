/*!
 * \file python_name.h
 * \brief Names that Python code writes: of parameters, fields, methods and members of enums.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_PYTHON_NAME_H_
#define MXNET_SRC_RUNTIME_CORE_PYTHON_NAME_H_

#include <string_view>

namespace mxnet {
namespace runtime {

/*! \brief Whether it is letters, digits and _, and no digit first. */
bool IsIdentifier(std::string_view name);

/*!
 * \brief ValueError where a name is no identifier of Python, or a keyword.
 *
 * Stubs, signatures and keyword arguments write the name as it is. The error begins with the owner,
 * "demo.Point", and says what has the name, "a parameter".
 */
void CheckPythonName(const char* owner, const char* what, const char* name);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_PYTHON_NAME_H_
