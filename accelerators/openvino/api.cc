#include "api.h"

#include <dlfcn.h>
#include <link.h>
#include <mxnet_acc.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <openvino/core/version.hpp>
#include <vector>

#include "../sdk/status.h"

namespace ovacc {
namespace {

using mxacc::Failure;

constexpr char kVariable[] = "MXACC_OPENVINO";
constexpr char kName[] = "libopenvino_c.so";

std::string LoaderError() {
  const char* error = dlerror();
  return error == nullptr ? "unknown" : error;
}

/*! \brief Appends the folder of Python's packages that a library of this process is in. */
int AddPackages(dl_phdr_info* library, size_t, void* context) {
  auto* folders = static_cast<std::vector<std::string>*>(context);
  const std::string path = library->dlpi_name;
  for (const char* name : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.find(name);
    if (at == std::string::npos) continue;
    const std::string folder = path.substr(0, at + std::strlen(name));
    if (folders->empty() || folders->back() != folder) folders->push_back(folder);
  }
  return 0;
}

/*! \brief The library of an openvino that is installed beside Python packages in use; or none. */
std::string FindInPackages() {
  std::vector<std::string> folders;
  dl_iterate_phdr(AddPackages, &folders);
  for (const std::string& folder : folders) {
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(folder + "openvino/libs", none)) {
      if (file.path().filename().string().rfind(kName, 0) == 0) return file.path().string();
    }
  }
  return "";
}

void* Load() {
  const char* given = std::getenv(kVariable);
  std::vector<std::string> names;
  if (given != nullptr && *given != '\0') {
    names = {given};
  } else {
    const std::string found = FindInPackages();
    if (!found.empty()) names.push_back(found);
    // In wheels the name has the release; the run path has the folder that it was built with.
    names.push_back(kName +
                    ("." + std::to_string(OPENVINO_VERSION_MAJOR % 100 * 100 +
                                          OPENVINO_VERSION_MINOR * 10 + OPENVINO_VERSION_PATCH)));
    names.push_back(kName);
  }
  std::string reason;
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (reason.empty()) reason = LoaderError();
  }
  throw Failure(kMXAccNoDevice,
                "OpenVINO's library is not found, install openvino (pip install openvino), or "
                "name the file by the environment variable " +
                    std::string(kVariable) + ": " + reason);
}

/*! \brief A message on one line. */
std::string OneLine(const char* text) {
  std::string line;
  for (; *text != '\0'; ++text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(*text)) != 0;
    if (!is_space) line += *text;
    if (is_space && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

Api::Api() {
  void* library = Load();
#define OVACC_FIND(name)                                                      \
  this->name = reinterpret_cast<decltype(this->name)>(dlsym(library, #name)); \
  if (this->name == nullptr) throw Failure(kMXAccNoDevice, "OpenVINO: " + LoaderError());
  OVACC_FUNCTIONS(OVACC_FIND)
#undef OVACC_FIND
  ov_version_t told{};
  Check(ov_get_openvino_version(&told), "ov_get_openvino_version", kMXAccNoDevice);
  version = told.buildNumber == nullptr ? "" : told.buildNumber;
  ov_version_free(&told);
  // The numbers of its types of elements have changed between releases.
  const std::string release =
      std::to_string(OPENVINO_VERSION_MAJOR) + "." + std::to_string(OPENVINO_VERSION_MINOR) + ".";
  if (version.rfind(release, 0) != 0) {
    throw Failure(kMXAccNoDevice, "this library was built for OpenVINO " + release +
                                      "x, and found OpenVINO " + version);
  }
}

void Api::Check(ov_status_e status, const char* call, int32_t code) const {
  if (status == OK) return;
  const char* last = ov_get_last_err_msg();
  std::string message = OneLine(last == nullptr ? "" : last);
  if (last != nullptr) ov_free(last);
  if (message.empty()) message = ov_get_error_info(status);
  throw Failure(code, std::string(call) + ": " + message);
}

void Api::Check(ov_status_e status, const char* call) const { Check(status, call, kMXAccFailed); }

}  // namespace ovacc
