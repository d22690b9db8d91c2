#include "options.h"

#include <cstdlib>
#include <sstream>

#include "../sdk/status.h"

namespace ovacc {
namespace {

using mxacc::Failure;

/*! \brief A value of an option, and what OpenVINO calls it. */
struct Choice {
  const char* value;
  const char* openvino;
};

struct Spec {
  const char* name;
  const char* property;        /*!< of OpenVINO */
  std::vector<Choice> choices; /*!< the first is the default; none for a number, which is 0 then */
  const char* json;            /*!< the choices */
  const char* doc;
};

constexpr int64_t kMostThreads = 1024;

const std::vector<Spec>& Specs() {
  static const auto* const specs = new std::vector<Spec>{
      {"precision",
       "INFERENCE_PRECISION_HINT",
       {{"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}},
       "[\"float32\", \"float16\", \"bfloat16\"]",
       "What may be computed in."},
      {"performance",
       "PERFORMANCE_HINT",
       {{"latency", "LATENCY"}, {"throughput", "THROUGHPUT"}},
       "[\"latency\", \"throughput\"]",
       "Whether one run is to be fast, or many at once."},
      {"num_threads",
       "INFERENCE_NUM_THREADS",
       {},
       nullptr,
       "How many threads compute; 0: as many as OpenVINO takes."},
      {"streams",
       "NUM_STREAMS",
       {},
       nullptr,
       "How many runs at once to be fast for; 0: what the performance hint makes of it."}};
  return *specs;
}

bool IsCount(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && value >= 0 && value <= kMostThreads;
}

/*! \brief Whether an option may have a value. */
bool Allows(const Spec& spec, const std::string& value) {
  if (spec.choices.empty()) return IsCount(value);
  for (const Choice& choice : spec.choices) {
    if (value == choice.value) return true;
  }
  return false;
}

std::string Expected(const Spec& spec) {
  if (spec.choices.empty()) return "an integer from 0 to " + std::to_string(kMostThreads);
  return "one of " + std::string(spec.json);
}

}  // namespace

Options::Options() {
  for (const Spec& spec : Specs()) {
    values_.emplace_back(spec.choices.empty() ? "0" : spec.choices[0].value);
  }
}

Options::Options(const std::string& text) : Options() {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    Set("importModel", word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
  }
}

void Options::Set(const char* call, const std::string& name, const std::string& value) {
  std::string known;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Spec& spec = Specs()[i];
    known += (i == 0 ? "" : ", ") + std::string(spec.name);
    if (name != spec.name) continue;
    if (!Allows(spec, value)) {
      throw Failure(kMXAccBadArgument, std::string(call) + ": " + name + ": expected " +
                                           Expected(spec) + ", got '" + value + "'");
    }
    values_[i] = value;
    return;
  }
  throw Failure(kMXAccBadArgument,
                std::string(call) + ": there is no option '" + name + "'; known are " + known);
}

void Options::Set(const char* call, const MXAccAttribute& option) {
  const bool is_text = option.kind == kMXAccText && option.text != nullptr;
  const bool is_integer = option.kind == kMXAccInteger;
  const std::string json = option.json == nullptr ? "" : option.json;
  Set(call, option.name,
      is_text      ? option.text
      : is_integer ? std::to_string(option.integer)
                   : json);
}

std::vector<std::pair<std::string, std::string>> Options::items() const {
  std::vector<std::pair<std::string, std::string>> items;
  for (size_t i = 0; i < values_.size(); ++i) items.emplace_back(Specs()[i].name, values_[i]);
  return items;
}

std::string Options::text() const {
  std::string text;
  for (const auto& [name, value] : items()) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::vector<std::pair<std::string, std::string>> Options::properties() const {
  std::vector<std::pair<std::string, std::string>> properties;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Spec& spec = Specs()[i];
    if (spec.choices.empty()) {
      if (std::stol(values_[i]) != 0) properties.emplace_back(spec.property, values_[i]);
      continue;
    }
    for (const Choice& choice : spec.choices) {
      if (values_[i] == choice.value) properties.emplace_back(spec.property, choice.openvino);
    }
  }
  return properties;
}

const std::vector<MXAccOption>& Options::All() {
  static const auto* const options = [] {
    auto* made = new std::vector<MXAccOption>;
    for (const Spec& spec : Specs()) {
      MXAccOption option{};
      option.struct_size = sizeof(option);
      option.value.struct_size = sizeof(option.value);
      option.value.name = spec.name;
      option.value.kind = kMXAccInteger;
      option.value.json = "0";
      if (!spec.choices.empty()) {
        const auto* const quoted =
            new std::string("\"" + std::string(spec.choices[0].value) + "\"");
        option.value.kind = kMXAccText;
        option.value.json = quoted->c_str();
        option.value.text = spec.choices[0].value;
        option.value.size = static_cast<int64_t>(quoted->size()) - 2;
      }
      option.doc = spec.doc;
      option.choices = spec.json;
      made->push_back(option);
    }
    return made;
  }();
  return *options;
}

}  // namespace ovacc
