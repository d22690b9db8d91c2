/*!
 * \file dynamic_library.h
 * \brief The platform's loader: the one place that calls it.
 *
 * Header-only, because the operator library uses it too and sees nothing of this one but its C API.
 */
#ifndef MXNET_SRC_RUNTIME_DYNAMIC_LIBRARY_H_
#define MXNET_SRC_RUNTIME_DYNAMIC_LIBRARY_H_

#include <dlfcn.h>
#include <link.h>

#include <string>

namespace mxnet {
namespace runtime {
namespace dynamic_library {

/*!
 * \brief Loads a library and runs its initialisers; NULL, with LastMessage() set, on failure.
 *
 * Every symbol is resolved at once, so that one that is missing shows here and not in a call. The
 * library's own symbols stay its own.
 */
inline void* Open(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

/*! \brief The library, with a reference, where the process has it already; NULL elsewhere. */
inline void* FindLoaded(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

/*! \brief Drops a reference. */
inline void Close(void* library) { dlclose(library); }

/*! \brief Address of a symbol of the library or of one it is linked with; NULL where none is. */
inline void* Symbol(void* library, const char* name) { return dlsym(library, name); }

/*! \brief What the loader says of its last failure on this thread. */
inline std::string LastMessage() {
  const char* text = dlerror();
  return text == nullptr ? "the loader gives no reason" : text;
}

/*! \brief Where the library that holds an address begins in memory; NULL where none does. */
inline const void* BaseOf(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

/*! \brief Whether an address lies in the library itself, not in one that it is linked with. */
inline bool Holds(void* library, const void* address) {
  Dl_info info{};
  void* owner = nullptr;
  struct link_map* map = nullptr;
  return dladdr1(address, &info, &owner, RTLD_DL_LINKMAP) != 0 &&
         dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && owner == map;
}

/*! \brief Path of the library that holds an address, as it was loaded; "" where none does. */
inline std::string PathOf(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 || info.dli_fname == nullptr ? "" : info.dli_fname;
}

}  // namespace dynamic_library
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_DYNAMIC_LIBRARY_H_
