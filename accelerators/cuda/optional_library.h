/*!
 * \file optional_library.h
 * \brief A library of NVIDIA's that is used where it is installed.
 */
#ifndef CUDAACC_OPTIONAL_LIBRARY_H_
#define CUDAACC_OPTIONAL_LIBRARY_H_

#include <initializer_list>
#include <string>

namespace cudaacc {

/*! \brief Never unloaded, as it has threads and memory of its own. */
class OptionalLibrary {
 public:
  OptionalLibrary(const OptionalLibrary&) = delete;
  OptionalLibrary& operator=(const OptionalLibrary&) = delete;

  /*! \brief Why it is not there; empty where it is. */
  const std::string& reason() const { return reason_; }

 protected:
  /*! \brief The file at the path that the environment's variable has, or else the first that the
   * loader finds by one of the names. */
  OptionalLibrary(const char* variable, std::initializer_list<const char*> names);
  ~OptionalLibrary() = default;

  /*! \brief Without the function the library counts as not there. */
  template <typename Function>
  void Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(Symbol(name, true));
  }
  /*! \brief NULL where the library has no such function. */
  template <typename Function>
  void FindIfThere(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(Symbol(name, false));
  }

 private:
  void* Load(const char* variable, std::initializer_list<const char*> names);
  void* Symbol(const char* name, bool needed);

  std::string reason_;
  void* library_; /*!< after reason_, which loading it writes to */
};

}  // namespace cudaacc

#endif  // CUDAACC_OPTIONAL_LIBRARY_H_
