/*!
 * \file library.cc
 * \brief Loads libraries of operators, and keeps what each has registered.
 *
 * A library is never unloaded: objects and functions made of its code may live as long as the
 * process. So one whose loading failed stays too, and keeps failing for the same reason.
 */
#include <mxnet/runtime/registry.h>
#include <pthread.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <optional>

#include "runtime/core/function.h"
#include "runtime/core/registration_log.h"
#include "runtime/library/dynamic_library.h"
#include "runtime/library/library_file.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief A library that this process has. */
struct LoadedLibrary {
  void* handle;
  std::vector<NamedFunction> functions;
  std::vector<std::string> class_keys;
  std::vector<std::string> enum_names;
  std::optional<Error> failure;
};

/*! \brief The libraries that were asked for; leaked, like what they hold. */
class LibraryTable {
 public:
  static LibraryTable* Global() {
    static LibraryTable* table = [] {
      pthread_atfork(nullptr, nullptr, &AfterForkInChild);
      return new LibraryTable();
    }();
    return table;
  }

  /*! \brief Number and functions of the library; loads it where the process lacks it. */
  std::pair<size_t, const LoadedLibrary*> Load(const std::string& path,
                                               std::vector<std::string> replaceable) {
    CheckLibraryFile(path);
    // Held while initialisers run: they may load further libraries, other threads wait.
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    void* handle = dynamic_library::FindLoaded(path);
    for (size_t i = 0; i < libraries_.size(); ++i) {
      if (handle == nullptr || libraries_[i].handle != handle) continue;
      dynamic_library::Close(handle);
      if (libraries_[i].failure) throw Error(*libraries_[i].failure);
      return {i, &libraries_[i]};
    }
    LoadedLibrary library = LoadNew(path, handle, std::move(replaceable));
    libraries_.push_back(std::move(library));
    if (libraries_.back().failure) throw Error(*libraries_.back().failure);
    return {libraries_.size() - 1, &libraries_.back()};
  }

 private:
  /*!
   * \brief Frees the lock in a forked child, where the thread that held it does not exist.
   *
   * A fork does not wait for this lock as it does for others: an initialiser may wait for a lock of
   * the forking thread, such as Python's, and both would wait for ever. The child has what other
   * threads were loading in an unfinished state.
   */
  static void AfterForkInChild() { new (&Global()->mutex_) std::recursive_mutex(); }

  static LoadedLibrary LoadNew(const std::string& path, void* handle,
                               std::vector<std::string> replaceable);

  std::recursive_mutex mutex_;
  std::deque<LoadedLibrary> libraries_;
};

/*! \brief The path being loaded by this thread, for the message of a failing initialiser. */
thread_local const char* loading = nullptr;
std::terminate_handler former_terminate = nullptr;

/*! \brief An exception has left a static initialiser: the loader cannot pass it on. */
[[noreturn]] void Terminate() {
  if (loading != nullptr && std::current_exception() != nullptr) {
    const char* what = "an exception of unknown type";
    try {
      throw;
    } catch (const std::exception& error) {
      what = details::TextOf(error);
    } catch (...) {
    }
    std::fprintf(stderr,
                 "mxnet: cannot load %s: an exception left one of its static initialisers, which "
                 "ends the process: %s\nmxnet: work that can fail belongs into "
                 "`extern \"C\" int MXNetLibraryInit()`, whose exceptions become Python's\n",
                 loading, what);
  }
  if (former_terminate != nullptr) former_terminate();
  std::abort();
}

/*! \brief Has Terminate name the library while the calling thread loads it. */
class LoadingScope {
 public:
  explicit LoadingScope(const std::string& path) : outer_(loading) {
    static const bool installed = (former_terminate = std::set_terminate(&Terminate), true);
    static_cast<void>(installed);
    loading = path.c_str();
  }
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;
  ~LoadingScope() { loading = outer_; }

 private:
  const char* outer_;
};

void* Open(const std::string& path) {
  LoadingScope scope(path);
  void* handle = dynamic_library::Open(path);
  if (handle == nullptr) {
    MXNET_THROW("ImportError") << "cannot load " << path << ": "
                               << ExplainLoaderMessage(dynamic_library::LastMessage(), path);
  }
  return handle;
}

/*! \brief The error of the library's own initialiser, if it has one and that fails. */
std::optional<Error> RunInitialiser(void* handle) {
  using Initialiser = int (*)();
  void* symbol = dynamic_library::Symbol(handle, "MXNetLibraryInit");
  if (symbol == nullptr || !dynamic_library::Holds(handle, symbol)) return std::nullopt;
  auto* run = reinterpret_cast<Initialiser>(symbol);
  MXNetSetLastError(nullptr);
  try {
    const int status = run();
    if (status == 0) return std::nullopt;
    if (MXNetGetLastError()->kind[0] != '\0') return Error::FromLast();
    return Error("RuntimeError",
                 "it returned " + std::to_string(status) + " without MXNetSetLastError");
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error("RuntimeError", details::TextOf(error));
  } catch (...) {
    return Error("RuntimeError", "a C++ exception of unknown type");
  }
}

std::string Described(const Error& error) {
  return error.kind() == "ImportError" ? error.message() : error.kind() + ": " + error.message();
}

/*! \brief The one error of a library whose registrations or initialiser failed. */
Error Combined(const std::string& path, const std::vector<Error>& failures,
               const std::optional<Error>& initialiser) {
  // Made of the first failure, to keep its source locations and the front end's exception.
  Error error = failures.empty() ? *initialiser : failures.front();
  std::string text = "cannot load " + path + ": ";
  if (failures.empty()) {
    text += "its MXNetLibraryInit failed: " + Described(*initialiser);
  } else if (failures.size() == 1) {
    text += Described(failures.front());
  } else {
    text += std::to_string(failures.size()) + " of its registrations failed";
    for (const Error& failure : failures) text += "\n  " + Described(failure);
  }
  return error.Restated("ImportError", std::move(text));
}

/*! \brief The registered functions whose code lies in the library. */
std::vector<NamedFunction> FunctionsOf(void* handle) {
  std::vector<NamedFunction> functions;
  for (NamedFunction& entry : RegisteredFunctions()) {
    const auto* func = reinterpret_cast<const FunctionObject*>(entry.second.get());
    if (dynamic_library::Holds(handle, reinterpret_cast<const void*>(func->call))) {
      functions.push_back(std::move(entry));
    }
  }
  return functions;
}

LoadedLibrary LibraryTable::LoadNew(const std::string& path, void* handle,
                                    std::vector<std::string> replaceable) {
  LoadedLibrary library{handle, {}, {}, {}, std::nullopt};
  RegistrationLog log(std::move(replaceable));
  if (handle == nullptr) {
    library.handle = Open(path);
  } else {
    // The process had it already, so its functions are in the registry.
    library.functions = FunctionsOf(handle);
  }
  const std::optional<Error> initialiser = RunInitialiser(library.handle);
  if (initialiser || !log.failures().empty()) {
    log.Undo();
    library.functions.clear();
    library.failure = Combined(path, log.failures(), initialiser);
    return library;
  }
  for (NamedFunction& entry : log.Functions()) library.functions.push_back(std::move(entry));
  library.class_keys = log.ClassKeys();
  library.enum_names = log.EnumNames();
  std::sort(library.functions.begin(), library.functions.end(),
            [](const NamedFunction& a, const NamedFunction& b) { return a.first < b.first; });
  return library;
}

MXNET_REGISTER_API("ffi.LoadLibrary")
    .describe(
        "Loads a library of operators, once.\n\n"
        "Gives its number, the names it has registered, their functions, and the keys of the "
        "classes and the names of the enums it has registered.")
    .add_argument("path", "str | bytes", "Path of the shared library, bytes where it is no text.")
    .add_argument("replaceable", "tuple[str, ...]",
                  "Names that it may register although they are taken.")
    .returns("tuple[int, tuple[str, ...], tuple[Function, ...], tuple[str, ...], tuple[str, ...]]")
    .release_gil()
    .set_body_typed([](Any given, std::vector<std::string> replaceable) {
      const bool is_text = ObjectTypeOf(given.value(), given.type_code()) != kMXNetObjectBytes;
      const std::string path(is_text ? given.As<std::string>() : given.As<Bytes>().str());
      const auto [number, library] = LibraryTable::Global()->Load(path, std::move(replaceable));
      std::vector<Any> names;
      std::vector<Any> functions;
      std::vector<Any> class_keys;
      std::vector<Any> enum_names;
      for (const auto& key : library->class_keys) class_keys.push_back(details::ToAny(String(key)));
      for (const auto& name : library->enum_names)
        enum_names.push_back(details::ToAny(String(name)));
      for (const auto& [name, func] : library->functions) {
        names.push_back(details::ToAny(String(name)));
        functions.push_back(details::ToAny(PackedFunc(func)));
      }
      return Tuple({details::ToAny(static_cast<int64_t>(number)),
                    details::ToAny(Tuple(std::move(names))),
                    details::ToAny(Tuple(std::move(functions))),
                    details::ToAny(Tuple(std::move(class_keys))),
                    details::ToAny(Tuple(std::move(enum_names)))});
    });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
