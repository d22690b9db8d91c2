#include "faults.h"

#include <mxnet_acc.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <sstream>

#include "sdk.h"

namespace refacc {
namespace {

constexpr int32_t kCrash = -1;
constexpr int32_t kHang = -2;
constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

struct Kind {
  const char* name;
  int32_t code;
};
constexpr Kind kKinds[] = {
    {"failed", kMXAccFailed},
    {"bad_argument", kMXAccBadArgument},
    {"unsupported", kMXAccUnsupported},
    {"memory", kMXAccOutOfMemory},
    {"no_device", kMXAccNoDevice},
    {"rejected", kMXAccRejected},
    {"bad_index", kMXAccBadIndex},
    {"cancelled", kMXAccCancelled},
    {"crash", kCrash},
    {"hang", kHang},
};

constexpr const char* kCalls[] = {
    "mxacc_get_api", "getAccName",    "getNumAcc",      "initialize",    "getDeviceInfo",
    "mx_zero",       "mx_alloc",      "mx_free",        "mx_releaseAll", "copyToAcc",
    "copyFromAcc",   "copyWithinAcc", "createStream",   "syncStream",    "createEvent",
    "recordEvent",   "waitEvent",     "accGetExecutor", "configure",     "supportsImperative",
    "run",           "work",          "finalize",       "supportedOps",  "loadModel",
    "infer",         "inferShapes",   "unloadModel",    "listOptions",   "modelKey",
    "checkModel",    "exportModel",   "exportPiece",    "exportWeights", "importModel",
    "profile",       "updateWeights", "updateWeight",
};

[[noreturn]] void Reject(const std::string& item, const std::string& why) {
  throw Failure(kMXAccBadArgument, "the fault '" + item + "' " + why);
}

int32_t CodeOf(const std::string& name, const std::string& item) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind.code;
  }
  Reject(item, "is of no known kind");
}

}  // namespace

Faults::Item Faults::ReadItem(const std::string& text) {
  Item item{text, 1, kForever, kMXAccFailed, 0};
  const size_t equals = item.call.find('=');
  if (equals != std::string::npos) {
    item.code = CodeOf(item.call.substr(equals + 1), text);
    item.call.resize(equals);
  }
  const size_t at = item.call.find('@');
  if (at != std::string::npos) {
    char* end = nullptr;
    item.first = std::strtoull(item.call.c_str() + at + 1, &end, 10);
    const std::string rest(end);
    if (item.first == 0 || (!rest.empty() && rest != "+")) Reject(text, "has no count after @");
    if (rest.empty()) item.last = item.first;
    item.call.resize(at);
  }
  for (const char* call : kCalls) {
    if (item.call == call) return item;
  }
  Reject(text, "names no call that can fail");
}

Faults::Faults(const std::string& text) : text_(text) {
  if (text.empty()) return;
  items_ = std::make_shared<std::vector<Item>>();
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) items_->push_back(ReadItem(item));
}

int32_t Faults::Count(const char* call) const {
  const Item* due = nullptr;
  for (Item& item : *items_) {
    if (item.call != call) continue;
    const uint64_t count = __atomic_add_fetch(&item.count, 1, __ATOMIC_RELAXED);
    if (due == nullptr && count >= item.first && count <= item.last) due = &item;
  }
  return due == nullptr ? 0 : due->code;
}

void Faults::Fail(int32_t due, const char* call) {
  if (due == 0) return;
  if (due == kCrash) std::abort();
  while (due == kHang) pause();
  throw Failure(due, std::string("the fault that was asked for at ") + call);
}

}  // namespace refacc
