// Counting the words of a text.
#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mxnet::runtime;

std::map<std::string, int64_t> Counted(std::string_view text, bool ignore_case) {
  std::map<std::string, int64_t> counts;
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    const auto c = static_cast<unsigned char>(i < text.size() ? text[i] : ' ');
    // A byte of a longer character is part of a word.
    if (std::isalnum(c) != 0 || c >= 0x80) {
      word += static_cast<char>(ignore_case ? std::tolower(c) : c);
    } else if (!word.empty()) {
      ++counts[word];
      word.clear();
    }
  }
  return counts;
}

MXNET_REGISTER_API("wordcount.count")
    .describe("How often each word occurs in a text.")
    .arg("text", "The text; letters and digits make words.")
    .arg("ignore_case", true, "Whether capital letters count as small ones.")
    .returns("ffi.Map[str, int]")
    .set_body_typed([](std::string_view text, bool ignore_case) {
      std::vector<Any> items;
      for (const auto& [word, count] : Counted(text, ignore_case)) {
        items.push_back(Any::Of(word));
        items.push_back(Any::Of(count));
      }
      return Map<Any, Any>(std::move(items));
    });

MXNET_REGISTER_API("wordcount.most_common")
    .describe("The most frequent words of a text, the alphabet deciding between equals.")
    .arg("text", "The text; letters and digits make words.")
    .arg("n", 3, "How many words.")
    .arg("ignore_case", true, "Whether capital letters count as small ones.")
    .set_body_typed([](std::string_view text, int64_t n, bool ignore_case) {
      if (n < 0) MXNET_THROW("ValueError") << "wordcount.most_common: n is " << n;
      const auto counts = Counted(text, ignore_case);
      std::vector<std::pair<std::string, int64_t>> words(counts.begin(), counts.end());
      std::stable_sort(words.begin(), words.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      std::vector<std::string> names;
      for (const auto& [word, count] : words) {
        if (static_cast<int64_t>(names.size()) == n) break;
        names.push_back(word);
      }
      return names;
    });

}  // namespace
