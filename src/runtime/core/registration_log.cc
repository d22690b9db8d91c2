/*!
 * \file registration_log.cc
 * \brief What a library does to the registry while it loads.
 */
#include "runtime/core/registration_log.h"

#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <cstdio>

namespace mxnet {
namespace runtime {
namespace {

thread_local RegistrationLog* innermost = nullptr;

}  // namespace

RegistrationLog::RegistrationLog(std::vector<std::string> replaceable)
    : replaceable_(std::move(replaceable)), outer_(innermost) {
  innermost = this;
}

RegistrationLog::~RegistrationLog() { innermost = outer_; }

RegistrationLog* RegistrationLog::Current() noexcept { return innermost; }

bool RegistrationLog::MayReplace(const std::string& name) const {
  return std::find(replaceable_.begin(), replaceable_.end(), name) != replaceable_.end();
}

void RegistrationLog::Added(const std::string& name, const ObjectRef& func,
                            const ObjectRef& replaced) {
  entries_.push_back({name, func, replaced});
}

std::vector<NamedFunction> RegistrationLog::Functions() const {
  std::vector<NamedFunction> functions;
  for (const Entry& entry : entries_) {
    const bool registered = PackedFunc::GetGlobal(entry.name.c_str()).same_as(entry.func);
    const bool repeated =
        std::any_of(functions.begin(), functions.end(),
                    [&entry](const NamedFunction& other) { return other.first == entry.name; });
    if (registered && !repeated) functions.emplace_back(entry.name, entry.func);
  }
  return functions;
}

std::vector<std::string> RegistrationLog::ClassKeys() const {
  std::vector<std::string> keys;
  for (const auto& added : classes_) keys.push_back(added.first);
  return keys;
}

std::vector<std::string> RegistrationLog::EnumNames() const {
  std::vector<std::string> names;
  for (const Enum& added : enums_) names.push_back(added.name);
  return names;
}

void RegistrationLog::Undo() {
  for (auto added = enums_.rbegin(); added != enums_.rend(); ++added) {
    RestoreEnum(added->name, added->former_file, added->former);
  }
  for (const auto& [key, index] : classes_) ForgetClassKey(key, index);
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    RestoreFunction(entry->name, entry->func, entry->replaced);
  }
}

namespace {

MXNET_REGISTER_API("ffi.RegistrationFailed")
    .describe(
        "Takes note that a registration failed, for the reason that is the thread's last error.\n\n"
        "Called where no exception can be thrown, while a library's initialisers run. The error "
        "becomes that of load_library, or is printed where somebody else loads the library.")
    .set_body([](MXNetArgs, MXNetRetValue*) {
      const Error error = Error::FromLast();
      if (RegistrationLog* log = RegistrationLog::Current()) {
        log->Failed(error);
      } else {
        std::fprintf(stderr, "mxnet: registration failed: %s\n", error.what());
      }
    });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
