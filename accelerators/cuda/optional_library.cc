#include "optional_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "runtime.h"

namespace cudaacc {
namespace {

std::string LoaderError() {
  const char* error = dlerror();
  return error == nullptr ? "unknown" : error;
}

}  // namespace

OptionalLibrary::OptionalLibrary(const char* variable, std::initializer_list<const char*> names)
    : library_(Load(variable, names)) {}

void* OptionalLibrary::Load(const char* variable, std::initializer_list<const char*> names) {
  const char* path = std::getenv(variable);
  if (path != nullptr && *path != '\0') {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) reason_ = std::string(variable) + ": " + LoaderError();
    return library;
  }
  if (!AreGpus()) {
    reason_ = "the devices are no GPUs";
    return nullptr;
  }
  std::string first_error;
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (first_error.empty()) first_error = LoaderError();
  }
  reason_ = first_error;
  return nullptr;
}

void* OptionalLibrary::Symbol(const char* name, bool needed) {
  if (library_ == nullptr) return nullptr;
  void* symbol = dlsym(library_, name);
  if (symbol == nullptr && needed) reason_ = LoaderError();
  return symbol;
}

}  // namespace cudaacc
