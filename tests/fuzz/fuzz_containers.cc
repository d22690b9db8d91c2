/*!
 * \file fuzz_containers.cc
 * \brief Does to containers what it does to models of std::, and compares the two.
 *
 * An input is a row of operations on a few containers of each kind.
 */
#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <utility>

#include "./input.h"

namespace mxnet {
namespace fuzz {
namespace {

using runtime::Any;
using runtime::Array;
using runtime::Bytes;
using runtime::Dict;
using runtime::Error;
using runtime::List;
using runtime::Map;
using runtime::PackedFunc;
using runtime::Shape;
using runtime::ShapeView;
using runtime::String;
using runtime::Tuple;

/*! \brief A value, a text that tells it from all others, and one that equal keys share. */
struct Value {
  Any any;
  std::string exact;
  std::string key;
};

std::string Bits(const void* data, size_t size) {
  return std::string(static_cast<const char*>(data), size);
}

/*! \brief What Python's == of numbers says: their value counts, not their kind. */
std::string NumberKey(double value) {
  if (value != value) return "nan";
  // Every float of an integer's size is an integer that __int128 holds.
  if (value > -1e30 && value < 1e30 && value == static_cast<double>(static_cast<__int128>(value)) &&
      value >= -9223372036854775808.0 && value < 18446744073709551616.0) {
    const auto whole = static_cast<__int128>(value);
    return (whole < 0 ? "#-" : "#") +
           std::to_string(static_cast<uint64_t>(whole < 0 ? -whole : whole));
  }
  return "f" + Bits(&value, sizeof(value));
}

std::string NumberKey(int64_t value) {
  const auto whole = static_cast<__int128>(value);
  return (whole < 0 ? "#-" : "#") +
         std::to_string(static_cast<uint64_t>(whole < 0 ? -whole : whole));
}

Any Number(int type_code, MXNetValue value) { return Any::Steal(MXNetAny{value, type_code, 0}); }

Value NextNumber(Input* input, char kind) {
  MXNetValue raw{};
  switch (kind) {
    case 'u': {
      raw.v_uint64 = static_cast<uint64_t>(input->Int()) | (uint64_t{1} << 63);
      const std::string text = std::to_string(raw.v_uint64);
      return {Number(kMXNetUInt, raw), "uint " + text, "#" + text};
    }
    case 'f': {
      const double value = input->Float();
      return {Any::Of(value), "float " + Bits(&value, sizeof(value)), NumberKey(value)};
    }
    case 'x': {
      raw.v_complex[0] = input->Float();
      raw.v_complex[1] = input->Float();
      const std::string key = raw.v_complex[1] == 0 ? NumberKey(raw.v_complex[0])
                                                    : "complex " + NumberKey(raw.v_complex[0]) +
                                                          "," + NumberKey(raw.v_complex[1]);
      return {Number(kMXNetComplex, raw), "complex " + Bits(&raw, sizeof(raw)), key};
    }
    case 'b': {
      const bool value = input->Below(2) != 0;
      return {Any::Of(value), value ? "True" : "False", value ? "#1" : "#0"};
    }
    default: {
      const int64_t value = input->Int();
      return {Any::Of(value), "int " + std::to_string(value), NumberKey(value)};
    }
  }
}

Value NextValue(Input* input, int depth = 0);

Value NextTuple(Input* input, int depth) {
  const size_t size = depth > 4 ? 0 : input->Below(5);
  std::vector<Any> items;
  std::string exact = "(";
  std::string key = "(";
  for (size_t i = 0; i < size; ++i) {
    Value item = NextValue(input, depth + 1);
    items.push_back(std::move(item.any));
    exact += item.exact + ";";
    key += item.key + ";";
  }
  return {Any::Of(Tuple(std::move(items))), exact + ")", key + ")"};
}

Value NextShape(Input* input) {
  std::vector<int64_t> dims(input->Below(5));
  std::string exact = "shape (";
  std::string key = "(";
  for (int64_t& dim : dims) {
    dim = input->Int();
    exact += std::to_string(dim) + ";";
    key += NumberKey(dim) + ";";
  }
  return {Any::Of(Shape(dims)), exact + ")", key + ")"};
}

Value NextValue(Input* input, int depth) {
  const char kind = static_cast<char>(input->Byte());
  switch (kind) {
    case '"': {
      const std::string text = input->Text();
      const std::string size = std::to_string(text.size()) + ":";
      return {Any::Of(text), "str " + size + text, "str " + size + text};
    }
    case 'y': {
      const std::string text = input->Text();
      const std::string size = std::to_string(text.size()) + ":";
      return {Any::Of(Bytes(text)), "bytes " + size + text, "bytes " + size + text};
    }
    case '(':
      return NextTuple(input, depth);
    case '<':
      return NextShape(input);
    case 'n':
      return {Any(), "None", "None"};
    case 'd': {
      const auto dtype = input->Raw<DLDataType>();
      const std::string text = "dtype " + Bits(&dtype, sizeof(dtype));
      return {Any::Of(dtype), text, text};
    }
    case 'c': {
      const DLDevice device{static_cast<DLDeviceType>(input->Below(20)),
                            static_cast<int32_t>(input->Int())};
      const std::string text = "context " + Bits(&device, sizeof(device));
      return {Any::Of(device), text, text};
    }
    default:
      return NextNumber(input, kind);
  }
}

/*! \brief The text that NextValue gives a value, read back. */
std::string Exact(const Any& any) {
  const MXNetValue& value = any.value();
  switch (any.type_code()) {
    case kMXNetInt:
      return "int " + std::to_string(value.v_int64);
    case kMXNetUInt:
      return "uint " + std::to_string(value.v_uint64);
    case kMXNetFloat:
      return "float " + Bits(&value.v_float64, sizeof(double));
    case kMXNetComplex:
      return "complex " + Bits(&value, sizeof(value));
    case kMXNetBool:
      return value.v_int64 != 0 ? "True" : "False";
    case kMXNetNull:
      return "None";
    case kMXNetType:
      return "dtype " + Bits(&value.v_type, sizeof(DLDataType));
    case kMXNetContext:
      return "context " + Bits(&value.v_ctx, sizeof(DLDevice));
    default:
      break;
  }
  switch (runtime::ObjectTypeOf(value, any.type_code())) {
    case kMXNetObjectString: {
      const auto text = any.As<String>();
      FUZZ_CHECK(text.data()[text.size()] == '\0');
      return "str " + std::to_string(text.size()) + ":" + text.str();
    }
    case kMXNetObjectBytes: {
      const auto text = any.As<Bytes>();
      FUZZ_CHECK(text.data()[text.size()] == '\0');
      return "bytes " + std::to_string(text.size()) + ":" + text.str();
    }
    case kMXNetObjectTuple: {
      std::string text = "(";
      for (const Any& item : any.As<Tuple>()) text += Exact(item) + ";";
      return text + ")";
    }
    case kMXNetObjectShape: {
      std::string text = "shape (";
      for (int64_t dim : any.As<Shape>().view()) text += std::to_string(dim) + ";";
      return text + ")";
    }
    default:
      return "other";
  }
}

/*! \brief Compares without a large message, as most values are long. */
void CheckSame(const std::string& actual, const std::string& expected, const char* what) {
  FUZZ_CHECK(actual == expected, "%s: %s instead of %s", what, actual.c_str(), expected.c_str());
}

/*! \brief Whether body throws an Error of a kind; any other goes on. */
template <typename Body>
bool Throws(const char* kind, const Body& body) {
  try {
    body();
    return false;
  } catch (const Error& error) {
    FUZZ_CHECK(error.kind() == kind, "%s: %s", error.kind().c_str(), error.what());
    return true;
  }
}

/*! \brief An index near the ends of a container, or any. */
size_t NextIndex(Input* input, size_t size) {
  return input->Below(4) != 3 ? input->Below(size + 2) : static_cast<size_t>(input->Int());
}

std::vector<Value> NextValues(Input* input) {
  std::vector<Value> values(input->Below(10));
  for (Value& value : values) value = NextValue(input);
  return values;
}

std::vector<Any> AnysOf(const std::vector<Value>& values) {
  std::vector<Any> anys;
  for (const Value& value : values) anys.push_back(value.any);
  return anys;
}

template <typename Container>
void CompareRun(const Container& actual, const std::vector<Value>& expected) {
  FUZZ_CHECK(actual.size() == expected.size(), "%zu elements instead of %zu", actual.size(),
             expected.size());
  size_t i = 0;
  for (const Any& item : actual) CheckSame(Exact(item), expected[i++].exact, "element");
}

/*! \brief Tuple and Array. */
template <typename Container>
void Immutable(Input* input) {
  const std::vector<Value> expected = NextValues(input);
  const Container run(AnysOf(expected));
  CompareRun(run, expected);
  const size_t index = NextIndex(input, expected.size());
  const bool out = index >= expected.size();
  FUZZ_CHECK(Throws("IndexError", [&] { Exact(run.at(index)); }) == out);
  const Container shared = Any::Of(run).template As<Container>();
  FUZZ_CHECK(shared.same_as(run));
  // As numbers: all of them, or a TypeError, or an OverflowError.
  bool ints = true;
  for (const Value& value : expected) {
    ints = ints && (value.any.type_code() == kMXNetInt || value.any.type_code() == kMXNetBool);
  }
  try {
    const auto read = Any::Of(run).template As<std::vector<int64_t>>();
    FUZZ_CHECK(ints && read.size() == expected.size());
    for (size_t i = 0; i < read.size(); ++i) {
      CheckSame(NumberKey(read[i]), expected[i].key, "element as int");
    }
  } catch (const Error& error) {
    FUZZ_CHECK(!ints);
  }
}

void Text(Input* input) {
  const std::string a = input->Text();
  const std::string b = input->Text();
  FUZZ_CHECK(String(a).view() == a && String(a).str() == a);
  FUZZ_CHECK((String(a) == String(b)) == (a == b));
  FUZZ_CHECK((Bytes(a) != Bytes(b)) == (a != b));
  FUZZ_CHECK(Any::Of(a).As<std::string_view>() == a);
  FUZZ_CHECK(Throws("TypeError", [&] { Any::Of(Bytes(a)).As<std::string>(); }));
}

void Shapes(Input* input) {
  std::vector<int64_t> dims(input->Below(10));
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] = input->Int();
    text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  }
  text += dims.size() == 1 ? ",)" : ")";
  const Shape shape(dims);
  FUZZ_CHECK(shape.size() == dims.size() && shape.view().str() == text);
  FUZZ_CHECK(shape.view() == ShapeView(dims));
  FUZZ_CHECK(Any::Of(shape).As<std::vector<int64_t>>() == dims);
  FUZZ_CHECK(Any::Of(Array<int64_t>(dims)).As<Shape>().view() == ShapeView(dims));
  const Tuple tuple = Any::Of(shape).As<Tuple>();
  for (size_t i = 0; i < dims.size(); ++i) FUZZ_CHECK(tuple[i].As<int64_t>() == dims[i]);
}

/*! \brief Entries in order of insertion. */
class Entries {
 public:
  std::vector<std::pair<Value, Value>> all;

  size_t Find(const Value& key) const {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& entry) { return entry.first.key == key.key; });
    return static_cast<size_t>(found - all.begin());
  }
  /*! \brief As Python's dict: the first key stays, the last value counts. */
  void Set(Value key, Value value) {
    const size_t found = Find(key);
    if (found == all.size()) {
      all.emplace_back(std::move(key), std::move(value));
    } else {
      all[found].second = std::move(value);
    }
  }
};

template <typename Container>
void CompareEntries(const Container& actual, const Entries& expected, const Value& other) {
  FUZZ_CHECK(actual.size() == expected.all.size(), "%zu entries instead of %zu", actual.size(),
             expected.all.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const auto& [key, value] = expected.all[i];
    CheckSame(Exact(actual.key(i)), key.exact, "key");
    CheckSame(Exact(actual.value(i)), value.exact, "value");
    CheckSame(Exact(actual.at(key.any)), value.exact, "value by key");
  }
  const bool has = expected.Find(other) < expected.all.size();
  FUZZ_CHECK(actual.count(other.any) == has, "%s", other.exact.c_str());
  FUZZ_CHECK(Throws("KeyError", [&] { actual.at(other.any); }) == !has);
  static const auto* find = new PackedFunc(PackedFunc::GetGlobal("ffi.MapFind"));
  const auto entry = (*find)(actual, other.any).template As<int64_t>();
  FUZZ_CHECK(entry == (has ? static_cast<int64_t>(expected.Find(other)) : -1));
}

void Maps(Input* input) {
  Entries expected;
  std::vector<Any> run;
  for (size_t i = input->Below(20); i > 0; --i) {
    const Value key = NextValue(input);
    const Value value = NextValue(input);
    run.push_back(key.any);
    run.push_back(value.any);
    expected.Set(key, value);
  }
  const Map<Any, Any> map(std::move(run));
  CompareEntries(map, expected, NextValue(input));
  CompareEntries(Any::Of(map).As<Dict<Any, Any>>(), expected, NextValue(input));
}

void ChangeList(Input* input, const List<Any>& list, std::vector<Value>* expected) {
  const size_t size = expected->size();
  const size_t at = NextIndex(input, size);
  const auto position = [&] { return expected->begin() + static_cast<std::ptrdiff_t>(at); };
  switch (input->Byte()) {
    case 's': {
      const Value value = NextValue(input);
      FUZZ_CHECK(Throws("IndexError", [&] { list.Set(at, value.any); }) == (at >= size));
      if (at < size) *position() = value;
      return;
    }
    case 'i': {
      const Value value = NextValue(input);
      FUZZ_CHECK(Throws("IndexError", [&] { list.Insert(at, value.any); }) == (at > size));
      if (at <= size) expected->insert(position(), value);
      return;
    }
    case 'e': {
      const size_t count = NextIndex(input, size);
      const bool out = at > size || count > size - at;
      FUZZ_CHECK(Throws("IndexError", [&] { list.Erase(at, count); }) == out);
      if (!out) expected->erase(position(), position() + static_cast<std::ptrdiff_t>(count));
      return;
    }
    case 'r': {
      const size_t count = NextIndex(input, size);
      const std::vector<Value> values = NextValues(input);
      const bool out = at > size || count > size - at;
      FUZZ_CHECK(Throws("IndexError", [&] { list.Replace(at, count, AnysOf(values)); }) == out);
      if (out) return;
      expected->erase(position(), position() + static_cast<std::ptrdiff_t>(count));
      expected->insert(position(), values.begin(), values.end());
      return;
    }
    case 'c':
      list.clear();
      expected->clear();
      return;
    case 'o':
      // Its own elements instead of some of its own.
      list.Replace(0, size, std::vector<Any>(list.begin(), list.end()));
      return;
    default: {
      const Value value = NextValue(input);
      list.push_back(value.any);
      expected->push_back(value);
    }
  }
}

void ChangeDict(Input* input, const Dict<Any, Any>& dict, Entries* expected) {
  const Value key = NextValue(input);
  const size_t found = expected->Find(key);
  switch (input->Byte()) {
    case 'e':
      FUZZ_CHECK(dict.Erase(key.any) == (found < expected->all.size()));
      if (found < expected->all.size()) {
        expected->all.erase(expected->all.begin() + static_cast<std::ptrdiff_t>(found));
      }
      return;
    case 'c':
      dict.clear();
      expected->all.clear();
      return;
    default: {
      const Value value = NextValue(input);
      dict.Set(key.any, value.any);
      expected->Set(key, value);
    }
  }
  CompareEntries(dict, *expected, NextValue(input));
}

void Run(Input input) {
  const List<Any> list;
  const Dict<Any, Any> dict;
  std::vector<Value> list_model;
  Entries dict_model;
  for (int steps = 0; steps < 200 && !input.empty(); ++steps) {
    switch (input.Byte()) {
      case 'T':
        Immutable<Tuple>(&input);
        break;
      case 'A':
        Immutable<Array<Any>>(&input);
        break;
      case 'S':
        Text(&input);
        break;
      case 'I':
        Shapes(&input);
        break;
      case 'M':
        Maps(&input);
        break;
      case 'D':
        ChangeDict(&input, dict, &dict_model);
        break;
      default:
        ChangeList(&input, list, &list_model);
        CompareRun(list, list_model);
    }
  }
  CompareEntries(dict, dict_model, NextValue(&input));
}

}  // namespace
}  // namespace fuzz
}  // namespace mxnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mxnet::fuzz::Run(mxnet::fuzz::Input(data, size));
  return 0;
}
