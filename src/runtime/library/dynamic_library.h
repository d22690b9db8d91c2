/*!
 * \file dynamic_library.h
 * \brief The platform's loader: the only file that calls it.
 *
 * Header-only, because the operator library uses it too and sees nothing of this one but its C API.
 */
#ifndef MXNET_SRC_RUNTIME_LIBRARY_DYNAMIC_LIBRARY_H_
#define MXNET_SRC_RUNTIME_LIBRARY_DYNAMIC_LIBRARY_H_

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#endif

#include <string>

namespace mxnet {
namespace runtime {
namespace dynamic_library {

#if defined(_WIN32)

/*! \brief A UTF-8 path as the system takes it. */
inline std::wstring WidePath(const std::string& path) {
  const int size = static_cast<int>(path.size());
  std::wstring wide(
      static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, path.data(), size, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, path.data(), size, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

/*! \brief The path that the system has, as UTF-8. */
inline std::string NarrowText(const wchar_t* text, int size) {
  std::string narrow(static_cast<size_t>(
                         WideCharToMultiByte(CP_UTF8, 0, text, size, nullptr, 0, nullptr, nullptr)),
                     '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, size, narrow.data(), static_cast<int>(narrow.size()),
                      nullptr, nullptr);
  return narrow;
}

/* The functions are described below; on this system a library also finds those beside it. */

inline void* Open(const std::string& path) {
  return LoadLibraryExW(WidePath(path).c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
}

inline void* FindLoaded(const std::string& path) {
  HMODULE library = nullptr;
  return GetModuleHandleExW(0, WidePath(path).c_str(), &library) != 0 ? library : nullptr;
}

inline void Close(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }

inline void* Symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

inline std::string LastMessage() {
  wchar_t* text = nullptr;
  const DWORD size = FormatMessageW(
      FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
      nullptr, GetLastError(), 0, reinterpret_cast<wchar_t*>(&text), 0, nullptr);
  if (size == 0) return "the loader gives no reason";
  std::string message = NarrowText(text, static_cast<int>(size));
  LocalFree(text);
  return message.substr(0, message.find_last_not_of("\r\n. ") + 1);
}

inline const void* BaseOf(const void* address) {
  HMODULE library = nullptr;
  constexpr DWORD kFlags =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  return GetModuleHandleExW(kFlags, static_cast<LPCWSTR>(address), &library) != 0 ? library
                                                                                  : nullptr;
}

inline bool Holds(void* library, const void* address) { return BaseOf(address) == library; }

inline std::string PathOf(const void* address) {
  wchar_t path[4096];
  const void* library = BaseOf(address);
  if (library == nullptr) return "";
  const DWORD size =
      GetModuleFileNameW(static_cast<HMODULE>(const_cast<void*>(library)), path, 4096);
  return NarrowText(path, static_cast<int>(size));
}

#else

/*!
 * \brief Loads a library and runs its initialisers; NULL, with LastMessage() set, on failure.
 *
 * Every symbol is resolved at once, so that one that is missing shows here and not in a call. The
 * library's own symbols stay its own.
 */
inline void* Open(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

/*! \brief The library, with a reference, where the process has it already; NULL elsewhere. */
inline void* FindLoaded(const std::string& path) {
  // The loader opens what it is given, and opening a pipe would wait for someone to write to it.
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return nullptr;
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

#endif

}  // namespace dynamic_library
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_LIBRARY_DYNAMIC_LIBRARY_H_
