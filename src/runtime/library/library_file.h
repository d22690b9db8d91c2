/*!
 * \file library_file.h
 * \brief Checks whether a file can be loaded as a library, for better messages than the loader's.
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

/*! \brief A message of the loader about a library, reworded to name what is missing. */
std::string ExplainLoaderMessage(const std::string& message, const std::string& path);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_LIBRARY_LIBRARY_FILE_H_
