/*!
 * \file fuzz_text.cc
 * \brief Whatever reads text or bytes, and whatever writes text about values.
 *
 * The first character of an input chooses what the rest is given to.
 */
#include <mxnet/runtime/registry.h>
#include <sys/mman.h>
#include <unistd.h>

#include "./arguments.h"
#include "./json.h"
#include "runtime/diagnostics/trace.h"
#include "runtime/diagnostics/value_text.h"
#include "runtime/library/library_file.h"

namespace mxnet {
namespace fuzz {
namespace {

using runtime::Any;
using runtime::Error;

/*! \brief Valid UTF-8 by another way than the runtime's: decode, then compare with the code. */
bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    size_t length = 1;
    uint32_t code = first;
    if (first >= 0x80) {
      while (length < 5 && (first & (0x80 >> length)) != 0) ++length;
      if (length == 1 || length > 4 || text.size() < length) return false;
      code = first & (0x7f >> length);
      for (size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if (next >> 6 != 2) return false;
        code = code << 6 | (next & 0x3f);
      }
      static constexpr uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
      if (code < kFirst[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        return false;
      }
    }
    text.remove_prefix(length);
  }
  return true;
}

void CheckShown(const std::string& text) {
  FUZZ_CHECK(IsUtf8(text), "%s", text.c_str());
  for (char c : text) {
    FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "%s", text.c_str());
  }
}

void DataTypes(std::string_view text) {
  DLDataType dtype{};
  if (!runtime::ParseDataType(text, &dtype)) return;
  // Its full name means the same.
  DLDataType again{};
  FUZZ_CHECK(runtime::ParseDataType(runtime::DataTypeName(dtype), &again) &&
             runtime::operator==(again, dtype));
  FUZZ_CHECK(runtime::ItemSize(dtype) * 8 == dtype.bits);
}

void Contexts(std::string_view text) {
  runtime::Context context{};
  if (!runtime::ParseContext(text, &context)) return;
  runtime::Context again{};
  FUZZ_CHECK(context.device_type == kDLCPU && context.device_id >= 0);
  FUZZ_CHECK(runtime::ParseContext(runtime::ContextName(context), &again) &&
             runtime::operator==(again, context));
}

void Shown(Input* input) {
  const size_t limit = input->Byte();
  const std::string_view text = input->Rest();
  std::string shown;
  runtime::AppendText(text, limit, &shown);
  CheckShown(shown);
  FUZZ_CHECK(shown.size() <= limit + 3, "%zu bytes", shown.size());
}

void Values(Input* input) {
  const std::vector<Any> none;
  Arguments arguments(input, &none);
  std::vector<MXNetValue> values;
  std::vector<int> codes;
  while (!input->empty() && values.size() < 20) {
    const MXNetAny argument = arguments.Next();
    values.push_back(argument.value);
    codes.push_back(argument.type_code);
    std::string shown;
    runtime::AppendValue(argument.value, argument.type_code, &shown);
    CheckShown(shown);
    FUZZ_CHECK(shown.size() < 400, "%s", shown.c_str());
  }
  CheckShown(runtime::ArgumentsText(values.data(), codes.data(), static_cast<int>(values.size())));
}

void Traces(Input* input) {
  runtime::TraceLog log{};
  log.started = 0;
  const std::vector<Any> none;
  while (!input->empty() && log.calls.size() < 20) {
    runtime::CallRecord call{};
    runtime::AppendText(input->Text(), 120, &call.name);
    Arguments arguments(input, &none);
    const MXNetAny argument = arguments.Next();
    call.arguments = runtime::ArgumentsText(&argument.value, &argument.type_code, 1);
    runtime::AppendText(input->Text(), 200, &call.outcome);
    call.failed = input->Below(2) != 0;
    call.thread = static_cast<int64_t>(input->Below(10));
    call.start = input->Int() & INT64_MAX;
    call.duration = input->Int() & INT64_MAX;
    runtime::AppendText(input->Text(), 120, &log.threads[call.thread]);
    log.calls.push_back(std::move(call));
  }
  const std::string json = runtime::TraceJson(log);
  FUZZ_CHECK(Json::IsValid(json) && IsUtf8(json), "%s", json.c_str());
}

/*! \brief A file that may be a library, as far as it is read without being loaded. */
void LibraryFile(std::string_view content) {
  static const int file = memfd_create("library", 0);
  FUZZ_CHECK(file >= 0 && ftruncate(file, 0) == 0);
  FUZZ_CHECK(pwrite(file, content.data(), content.size(), 0) ==
             static_cast<ssize_t>(content.size()));
  try {
    runtime::CheckLibraryFile("/proc/self/fd/" + std::to_string(file));
  } catch (const Error& error) {
    FUZZ_CHECK(error.kind() == "ImportError", "%s: %s", error.kind().c_str(), error.what());
  }
}

void LoaderMessage(Input* input) {
  const std::string path = input->Until('\n');
  const std::string message(input->Rest());
  const std::string text = runtime::ExplainLoaderMessage(message, path);
  FUZZ_CHECK(!text.empty() || message.empty() || message == path + ": ");
}

void Run(Input input) {
  switch (input.Byte()) {
    case 'd':
      DataTypes(input.Rest());
      break;
    case 'c':
      Contexts(input.Rest());
      break;
    case 's':
      Shown(&input);
      break;
    case 't':
      Traces(&input);
      break;
    case 'f':
      LibraryFile(input.Rest());
      break;
    case 'm':
      LoaderMessage(&input);
      break;
    default:
      Values(&input);
  }
}

}  // namespace
}  // namespace fuzz
}  // namespace mxnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mxnet::fuzz::Run(mxnet::fuzz::Input(data, size));
  return 0;
}
