/*!
 * \file fuzz_calls.cc
 * \brief Calls registered functions, and methods and fields of classes, with any arguments.
 *
 * An input is a row of calls: a name, a newline, a digit for how many arguments follow, the
 * arguments. What a call returns may be an argument of the later ones.
 */
#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <map>
#include <utility>

#include "./arguments.h"

namespace mxnet {
namespace fuzz {
namespace {

using runtime::Any;
using runtime::ObjectRef;
using runtime::ObjectTypeOf;
using runtime::PackedFunc;

/*! \brief What is not called, and why. */
const std::map<std::string, const char*> kExcluded = {
    {"ffi.LoadLibrary", "runs the code of any file"},
    {"ffi.function_of", "calls any address"},
    {"ffi.release_of", "there are only so many"},
    {"runtime.use_context_stack", "calls any address"},
    {"ffi.check_tensor", "reads any address"},
    {"ffi.RegisterEnum", "each new name stays for good, so memory would grow without bound"},
    {"ffi.RegistrationFailed", "prints to stderr"},
    {"testing.register_function", "each new name stays for good"},
    {"ffi.crash_report.enable", "puts its handlers of signals above the fuzzer's"},
};

/*! \brief A field of a class, read where no value is given. */
MXNetFunctionHandle FieldFunction(const MXNetFieldInfo* field) {
  const auto call = [](void* resource, const MXNetValue* values, const int* codes, int count,
                       MXNetValue* ret, int* ret_code) {
    const auto* info = static_cast<const MXNetFieldInfo*>(resource);
    if (count < 1 || !runtime::IsObjectCode(codes[0]) || values[0].v_handle == nullptr) {
      return runtime::Error("TypeError", "no object").SetLast();
    }
    if (count > 1 && info->setter != nullptr) {
      const MXNetAny value{values[1], codes[1], 0};
      return info->setter(info->resource, values[0].v_handle, &value);
    }
    MXNetAny out{};
    out.type_code = kMXNetNull;
    const int status = info->getter(info->resource, values[0].v_handle, &out);
    // Text may be borrowed of the object; a result is not.
    Any owned = out.type_code == kMXNetStr || out.type_code == kMXNetBytes
                    ? runtime::details::Own(out.value, out.type_code)
                    : Any::Steal(out);
    if (status == 0) owned.MoveTo(ret, ret_code);
    return status;
  };
  MXNetFunctionHandle func = nullptr;
  FUZZ_CHECK(MXNetFuncCreateFromCFunc(call, const_cast<MXNetFieldInfo*>(field), nullptr, &func) ==
             0);
  return func;
}

class Functions {
 public:
  Functions() {
    int size = 0;
    const char** names = nullptr;
    FUZZ_CHECK(MXNetFuncListGlobalNames(&size, &names) == 0);
    for (const auto& excluded : kExcluded) {
      FUZZ_CHECK(PackedFunc::GetGlobal(excluded.first.c_str()).defined(), "%s is not registered",
                 excluded.first.c_str());
    }
    for (int i = 0; i < size; ++i) {
      if (kExcluded.count(names[i]) == 0) Add(names[i], PackedFunc::GetGlobal(names[i]));
    }
    const auto keys = PackedFunc::GetGlobal("ffi.ClassKeys")().As<runtime::Array<std::string>>();
    for (size_t i = 0; i < keys.size(); ++i) AddClass(keys[i]);
  }

  /*! \brief The function of a name, or any. */
  const std::pair<std::string, PackedFunc>& Choose(const std::string& name) const {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (found != all_.end()) return *found;
    size_t sum = 0;
    for (char c : name) sum = sum * 31 + static_cast<uint8_t>(c);
    return all_[sum % all_.size()];
  }

 private:
  void Add(std::string name, PackedFunc func) {
    all_.emplace_back(std::move(name), std::move(func));
  }

  void AddClass(const std::string& key) {
    uint32_t index = 0;
    const MXNetTypeInfo* info = nullptr;
    FUZZ_CHECK(MXNetObjectTypeKey2Index(key.c_str(), &index) == 0);
    FUZZ_CHECK(MXNetObjectGetTypeInfo(index, &info) == 0 && info != nullptr);
    for (size_t i = 0; i < info->num_methods; ++i) {
      const MXNetMethodInfo& method = info->methods[i];
      Add(key + "." + method.name, PackedFunc(ObjectRef::Borrow(method.func)));
    }
    for (size_t i = 0; i < info->num_fields; ++i) {
      const MXNetFieldInfo& field = info->fields[i];
      Add(key + "." + field.name, PackedFunc(ObjectRef::Steal(FieldFunction(&field))));
    }
  }

  std::vector<std::pair<std::string, PackedFunc>> all_;
};

const Functions& AllFunctions() {
  static const auto* functions = new Functions();
  return *functions;
}

bool IsBorrowed(int code) {
  switch (code) {
    case kMXNetArrayHandle:
    case kMXNetReadOnlyArray:
    case kMXNetStr:
    case kMXNetBytes:
    case kMXNetKeyword:
    case kMXNetIntTuple:
    case kMXNetIntList:
    case kMXNetTuple:
    case kMXNetList:
    case kMXNetDict:
      return true;
    default:
      return false;
  }
}

/*! \brief Calls a function; what it returns becomes one of the objects. */
void Call(const std::string& name, void* func, Input* input, std::vector<Any>* objects) {
  Arguments arguments(input, objects);
  const size_t count = input->Below(10);
  // Exactly as long as the arguments, for AddressSanitizer.
  std::vector<MXNetValue> values(count);
  std::vector<int> codes(count);
  for (size_t i = 0; i < count; ++i) {
    const MXNetAny argument = arguments.Next();
    values[i] = argument.value;
    codes[i] = argument.type_code;
  }
  MXNetAny result{};
  int code = kMXNetHandle;
  const int status = MXNetFuncCall(func, values.data(), codes.data(), static_cast<int>(count),
                                   &result.value, &code);
  if (status != 0) {
    FUZZ_CHECK(status == -1, "%s returns %d", name.c_str(), status);
    FUZZ_CHECK(MXNetGetLastError()->kind != nullptr);
    return;
  }
  FUZZ_CHECK(!IsBorrowed(code), "%s returns a borrowed value, code %d", name.c_str(), code);
  result.type_code = code;
  Any owned = Any::Steal(result);
  if (runtime::IsObjectCode(code)) objects->push_back(std::move(owned));
}

/*! \brief Calls that MXNetFuncCall rejects, whatever the function is. */
void CallWrongly(void* func, Input* input) {
  MXNetValue value{};
  int code = kMXNetNull;
  switch (input->Below(6)) {
    case 0:
      FUZZ_CHECK(MXNetFuncCall(nullptr, &value, &code, 1, &value, &code) == -1);
      return;
    case 1:
      FUZZ_CHECK(MXNetFuncCall(func, nullptr, &code, 1, &value, &code) == -1);
      return;
    case 2:
      FUZZ_CHECK(MXNetFuncCall(func, &value, nullptr, 1, &value, &code) == -1);
      return;
    case 3:
      FUZZ_CHECK(MXNetFuncCall(func, &value, &code, -1, &value, &code) == -1);
      return;
    case 4:
      FUZZ_CHECK(MXNetFuncCall(func, &value, &code, 1, nullptr, &code) == -1);
      return;
    default:
      FUZZ_CHECK(MXNetFuncCall(func, &value, &code, 1, &value, nullptr) == -1);
  }
}

/*! \brief Ends what calls began, and takes objects apart that may hold each other in a circle. */
void CleanUp(const std::vector<Any>& objects) {
  static const auto* stop = new PackedFunc(PackedFunc::GetGlobal("ffi.trace.stop"));
  static const auto* mode = new PackedFunc(PackedFunc::GetGlobal("ffi.backtrace.set_mode"));
  static const uint32_t trace = [] {
    uint32_t index = 0;
    MXNetObjectTypeKey2Index("ffi.Trace", &index);
    return index;
  }();
  const auto& functions = AllFunctions();
  for (const Any& object : objects) {
    const uint32_t type = ObjectTypeOf(object.value(), object.type_code());
    if (type == trace) (*stop)(object);
  }
  (*mode)(0);
  for (const Any& object : objects) {
    const ObjectRef ref = ObjectRef::Borrow(object.value().v_handle);
    if (ref.type_index() == kMXNetObjectList) runtime::List<Any>(ref).clear();
    if (ref.type_index() == kMXNetObjectDict) runtime::Dict<Any, Any>(ref).clear();
    for (const char* field : {"testing.Node.value", "testing.Node.next"}) {
      MXNetValue values[2] = {object.value(), {}};
      const int codes[2] = {object.type_code(), kMXNetNull};
      MXNetValue ignored;
      int ignored_code = kMXNetNull;
      MXNetFuncCall(functions.Choose(field).second.get(), values, codes, 2, &ignored,
                    &ignored_code);
    }
  }
  MXNetSetLastError(nullptr);
}

void Run(Input input) {
  constexpr size_t kMaxObjects = 200;
  std::vector<Any> objects;
  for (int calls = 0; calls < 64 && objects.size() < kMaxObjects && !input.empty(); ++calls) {
    const std::string name = input.Until('\n');
    if (name == "!") {
      CallWrongly(AllFunctions().Choose("testing.nop").second.get(), &input);
      continue;
    }
    // A function is a value, too.
    const auto& chosen = AllFunctions().Choose(name);
    if (input.Below(10) == 9) objects.push_back(runtime::details::ToAny(chosen.second));
    Call(chosen.first, chosen.second.get(), &input, &objects);
    input.Until('\n');
  }
  CleanUp(objects);
}

}  // namespace
}  // namespace fuzz
}  // namespace mxnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mxnet::fuzz::Run(mxnet::fuzz::Input(data, size));
  return 0;
}
