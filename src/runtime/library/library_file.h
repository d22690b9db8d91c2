/*!
 * \file library_file.h
 * \brief Whether a file can be a library of this process, told before the loader tries it.
 */
#ifndef MXNET_SRC_RUNTIME_LIBRARY_LIBRARY_FILE_H_
#define MXNET_SRC_RUNTIME_LIBRARY_LIBRARY_FILE_H_

#include <string>

namespace mxnet {
namespace runtime {

/*!
 * \brief Rejects what is no shared library for this processor, with the reason.
 *
 * Throws FileNotFoundError, IsADirectoryError or PermissionError, and ImportError for a file of
 * another kind or for another architecture.
 */
void CheckLibraryFile(const std::string& path);

/*! \brief The loader's words about a library, in words that name what is missing. */
std::string ExplainLoaderMessage(const std::string& message, const std::string& path);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_LIBRARY_LIBRARY_FILE_H_
