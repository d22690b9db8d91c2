/*!
 * \file status.h
 * \brief Turns errors of accelerator libraries into exceptions.
 */
#ifndef MXNET_SRC_ACC_PLUGIN_STATUS_H_
#define MXNET_SRC_ACC_PLUGIN_STATUS_H_

#include <mxnet/runtime/error.h>
#include <mxnet_acc.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace mxnet {
namespace acc {

using namespace runtime;  // NOLINT(build/namespaces): the namespace is the project's own

/*! \brief Whether size bytes from address on can be read; never faults. */
bool IsReadable(const void* address, size_t size);

/*! \brief A text of the library, cut to limit characters, with control characters replaced. */
std::string TextOf(const char* text, size_t limit = 2000);

/*! \brief Code and text of a failure; false where it is no MXAccError at all. */
bool ReadError(MXAccStatus status, int32_t* code, std::string* message);

/*! \brief The number of the work that a status is about; 0 where it does not say. */
uint64_t WorkOf(MXAccStatus status);

/*! \brief The id of the graph's node that a status is about; 0 where it does not say. */
int64_t NodeOf(MXAccStatus status);

/*! \brief A failure, as the error "refacc: mx_alloc failed: ...". */
Error ErrorOf(MXAccStatus status, const std::string& accelerator, const char* function);

/*! \brief Throws where the call failed. */
inline void Check(MXAccStatus status, const std::string& accelerator, const char* function) {
  if (__builtin_expect(status != nullptr, 0)) throw ErrorOf(status, accelerator, function);
}

/*! \brief Whether the call succeeded; false for kMXAccUnsupported. Throws for other failures. */
bool WasDone(MXAccStatus status, const std::string& accelerator, const char* function);

/*! \brief Whether the size of a struct of the library, as it was compiled, includes the member. */
#define MXNET_ACC_HAS(value, member) \
  ((value).struct_size >= offsetof(std::decay_t<decltype(value)>, member) + sizeof((value).member))

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PLUGIN_STATUS_H_
