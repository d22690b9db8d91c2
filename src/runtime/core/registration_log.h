/*!
 * \file registration_log.h
 * \brief What a library does to the registry while it loads, so that it can be reported, and
 * undone.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_REGISTRATION_LOG_H_
#define MXNET_SRC_RUNTIME_CORE_REGISTRATION_LOG_H_

#include <mxnet/runtime/error.h>

#include <string>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief A registered name and its function. */
using NamedFunction = std::pair<std::string, ObjectRef>;

/*! \brief Collects what the calling thread registers for as long as it lives. Logs may nest. */
class RegistrationLog {
 public:
  /*! \brief `replaceable` are names that may be registered anew without asking for override. */
  explicit RegistrationLog(std::vector<std::string> replaceable);
  RegistrationLog(const RegistrationLog&) = delete;
  RegistrationLog& operator=(const RegistrationLog&) = delete;
  ~RegistrationLog();

  /*! \brief The calling thread's innermost log, NULL where no library is being loaded by it. */
  static RegistrationLog* Current() noexcept;

  bool MayReplace(const std::string& name) const;
  void Added(const std::string& name, const ObjectRef& func, const ObjectRef& replaced);
  void AddedClass(const std::string& key, uint32_t index) { classes_.emplace_back(key, index); }
  /*! \brief The file and the description are those of the enum that was replaced, if one was. */
  void AddedEnum(const std::string& name, const std::string& file, const ObjectRef& info) {
    enums_.push_back({name, file, info});
  }
  void Failed(const Error& error) { failures_.push_back(error); }

  const std::vector<Error>& failures() const { return failures_; }
  /*! \brief What was added and is still registered. */
  std::vector<NamedFunction> Functions() const;
  /*! \brief Keys of the classes that were added. */
  std::vector<std::string> ClassKeys() const;
  /*! \brief Names of the enums that were added. */
  std::vector<std::string> EnumNames() const;
  /*! \brief Takes back what was added and is still registered, the latest first. */
  void Undo();

 private:
  struct Entry {
    std::string name;
    ObjectRef func;
    ObjectRef replaced;
  };

  struct Enum {
    std::string name;
    std::string former_file;
    ObjectRef former;
  };

  std::vector<std::string> replaceable_;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, uint32_t>> classes_;
  std::vector<Enum> enums_;
  std::vector<Error> failures_;
  RegistrationLog* outer_;
};

/*! \brief All registered functions, in no order. Defined in registry.cc, like the next one. */
std::vector<NamedFunction> RegisteredFunctions();

/*! \brief Registers `former` under its name again, or nothing, unless another function has it
 * since. */
void RestoreFunction(const std::string& name, const ObjectRef& func, const ObjectRef& former);

/*! \brief Frees the key of a class; its objects keep their type. In type_table.cc. */
void ForgetClassKey(const std::string& key, uint32_t index);

/*! \brief Restores the enum that was replaced, or removes it. In enum_functions.cc. */
void RestoreEnum(const std::string& name, const std::string& file, const ObjectRef& info);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_REGISTRATION_LOG_H_
