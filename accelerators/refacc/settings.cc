#include "settings.h"

#include <mxnet_acc.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <utility>

#include "sdk.h"

namespace refacc {
namespace {

/*! \brief One setting: how its text is read and written. */
struct Entry {
  const char* name;
  bool fixed; /*!< by the environment alone */
  void (*read)(Settings* settings, const std::string& text);
  std::string (*write)(const Settings& settings);
};

[[noreturn]] void Reject(const std::string& expected, const std::string& text) {
  throw Failure(kMXAccBadArgument, "expected " + expected + ", got '" + text + "'");
}

int64_t ReadCount(const std::string& text, int64_t limit) {
  const bool digits =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!text.empty() && text.size() < 19 && digits) {
    const int64_t value = std::stoll(text);
    if (value <= limit) return value;
  }
  Reject("an integer from 0 to " + std::to_string(limit), text);
}

/*! \brief The index of the text among the words. */
template <size_t N>
int ReadWord(const std::string& text, const char* const (&words)[N]) {
  std::string expected = "one of";
  for (size_t i = 0; i < N; ++i) {
    if (text == words[i]) return static_cast<int>(i);
    expected += std::string(" ") + words[i];
  }
  Reject(expected, text);
}

constexpr const char* kNoYes[] = {"0", "1"};
constexpr const char* kHandles[] = {"address", "opaque"};
constexpr const char* kFailures[] = {"unnamed", "named"};
constexpr const char* kThreads[] = {"any", "one"};
constexpr const char* kShapes[] = {"given", "asked", "found"};
constexpr const char* kVerdicts[] = {"right", "fits", "recompile", "no"};
constexpr const char* kGuards[] = {"none", "zones", "pages"};

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxBytes = int64_t{1} << 50;

#define REFACC_COUNT(member, limit)                                                 \
  [](Settings* s, const std::string& text) { s->member = ReadCount(text, limit); }, \
      [](const Settings& s) { return std::to_string(s.member); }
#define REFACC_WORD(member, type, words)                  \
  [](Settings* s, const std::string& text) {              \
    s->member = static_cast<type>(ReadWord(text, words)); \
  },                                                      \
      [](const Settings& s) { return std::string(words[static_cast<int>(s.member)]); }
#define REFACC_TEXT(member)                                       \
  [](Settings* s, const std::string& text) { s->member = text; }, \
      [](const Settings& s) { return s.member; }

const Entry kEntries[] = {
    {"name", true, REFACC_TEXT(name)},
    {"devices", true, REFACC_COUNT(devices, kMaxInt32)},
    {"abi_major", true, REFACC_COUNT(abi_major, kMaxInt32)},
    {"api_size", true, REFACC_COUNT(api_size, kMaxInt32)},
    {"handles", true, REFACC_WORD(opaque, bool, kHandles)},
    {"streams", true, REFACC_WORD(streams, bool, kNoYes)},
    {"failures", true, REFACC_WORD(failures_named, bool, kFailures)},
    {"strides", true, REFACC_WORD(strides, bool, kNoYes)},
    {"threads", true, REFACC_WORD(one_thread, bool, kThreads)},
    {"models", true, REFACC_WORD(models, bool, kNoYes)},
    {"guard", false, REFACC_WORD(guard, Guard, kGuards)},
    {"poison", false, REFACC_WORD(poison, bool, kNoYes)},
    {"memory", false, REFACC_COUNT(memory, kMaxBytes)},
    {"slow", false, REFACC_COUNT(slow, kMaxInt32)},
    {"compiling", false, REFACC_COUNT(compiling, kMaxInt32)},
    {"faults", false, [](Settings* s, const std::string& text) { s->faults = Faults(text); },
     [](const Settings& s) { return s.faults.text(); }},
    {"operators", false, REFACC_TEXT(operators)},
    {"nodes", false, REFACC_TEXT(nodes)},
    {"wrong", false, REFACC_TEXT(wrong)},
    {"claims", false, REFACC_TEXT(claims)},
    {"costs", false, REFACC_TEXT(costs)},
    {"shapes", false, REFACC_WORD(shapes, Shapes, kShapes)},
    {"runs_at_once", false, REFACC_WORD(one_run, bool, kThreads)},
    {"updates", false, REFACC_WORD(updates, bool, kNoYes)},
    {"verdict", false, REFACC_WORD(verdict, Verdict, kVerdicts)},
};

/*! \brief REFACC_NAME of name. */
std::string VariableOf(const char* name) {
  std::string variable = "REFACC_";
  for (; *name != '\0'; ++name) {
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(*name)));
  }
  return variable;
}

}  // namespace

Settings::Settings() : abi_major(MXACC_ABI_MAJOR), api_size(sizeof(MXAccApi)) {}

Settings Settings::OfEnvironment() {
  Settings settings;
  for (const Entry& entry : kEntries) {
    const std::string variable = VariableOf(entry.name);
    const char* text = std::getenv(variable.c_str());
    if (text == nullptr) continue;
    try {
      entry.read(&settings, text);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), variable + ": " + failure.what());
    }
  }
  return settings;
}

void Settings::Set(const std::string& key, const std::string& value) {
  for (const Entry& entry : kEntries) {
    if (key != entry.name) continue;
    if (entry.fixed) {
      throw Failure(kMXAccBadArgument, "configure: '" + key + "' is chosen by " +
                                           VariableOf(entry.name) + " when the library is loaded");
    }
    try {
      return entry.read(this, value);
    } catch (const Failure& failure) {
      throw Failure(failure.code(), "configure: " + key + ": " + failure.what());
    }
  }
  std::string known;
  for (const Entry& entry : kEntries) {
    if (!entry.fixed) known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Failure(kMXAccBadArgument,
                "configure: there is no keyword '" + key + "'; known are " + known + ", check");
}

void Settings::ForEach(
    const std::function<void(const char* key, const std::string& value)>& visit) const {
  for (const Entry& entry : kEntries) visit(entry.name, entry.write(*this));
}

bool Settings::IsIn(const std::string& chosen, const std::string& op) {
  if (chosen == "*") return true;
  const bool excluded = chosen.substr(0, 1) == "!";
  const std::string list = "," + chosen.substr(excluded ? 1 : 0) + ",";
  return (list.find("," + op + ",") != std::string::npos) != excluded;
}

}  // namespace refacc
