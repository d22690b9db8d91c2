// TypeTraits: what each C++ type accepts, rejects and stores.
#include <cmath>
#include <complex>
#include <limits>

#include "./support.h"

using mxnet::tests::ErrorOf;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

namespace {

/*! \brief The value as it would arrive as an argument. */
template <typename T>
Any Make(T value) {
  return Any::Of(std::move(value));
}

template <typename T>
Match TryRead(const Any& any, T* out) {
  return TypeTraits<T>::TryFrom(any.value(), any.type_code(), out);
}

template <typename T, typename From>
Match MatchOf(From value) {
  T out{};
  return TryRead<T>(Make(std::move(value)), &out);
}

}  // namespace

TEST_CASE("integers keep their range") {
  CHECK(MatchOf<int8_t>(127) == Match::kOk);
  CHECK(MatchOf<int8_t>(128) == Match::kOutOfRange);
  CHECK(MatchOf<int8_t>(-128) == Match::kOk);
  CHECK(MatchOf<int8_t>(-129) == Match::kOutOfRange);
  CHECK(MatchOf<uint8_t>(255) == Match::kOk);
  CHECK(MatchOf<uint8_t>(256) == Match::kOutOfRange);
  CHECK(MatchOf<uint8_t>(-1) == Match::kOutOfRange);
  CHECK(MatchOf<uint32_t>(int64_t{1} << 32) == Match::kOutOfRange);
  CHECK(MatchOf<int64_t>(std::numeric_limits<int64_t>::min()) == Match::kOk);
  CHECK(MatchOf<int64_t>(std::numeric_limits<uint64_t>::max()) == Match::kOutOfRange);
  CHECK(MatchOf<uint64_t>(std::numeric_limits<uint64_t>::max()) == Match::kOk);
  CHECK(MatchOf<uint64_t>(-1) == Match::kOutOfRange);
  CHECK(Make(std::numeric_limits<uint64_t>::max()).type_code() == kMXNetUInt);
  CHECK(Make(uint64_t{5}).type_code() == kMXNetInt);
}

TEST_CASE("kinds convert only where nothing is lost") {
  CHECK(MatchOf<bool>(true) == Match::kOk);
  CHECK(MatchOf<bool>(1) == Match::kWrongType);
  CHECK(MatchOf<int>(true) == Match::kOk);
  CHECK(MatchOf<int>(1.0) == Match::kWrongType);
  CHECK(MatchOf<double>(1) == Match::kOk);
  CHECK(MatchOf<double>(true) == Match::kOk);
  CHECK(MatchOf<double>(std::string("1")) == Match::kWrongType);
  CHECK(MatchOf<std::complex<double>>(2.0) == Match::kOk);
  CHECK(MatchOf<double>(std::complex<double>(1, 2)) == Match::kWrongType);
  CHECK(MatchOf<std::string>(1) == Match::kWrongType);
  CHECK(MatchOf<std::string>(Bytes("x")) == Match::kWrongType);
  CHECK(MatchOf<Bytes>(std::string("x")) == Match::kWrongType);
  CHECK(MatchOf<std::nullptr_t>(0) == Match::kWrongType);
  CHECK(MatchOf<ShapeView>(3) == Match::kWrongType);
  CHECK(MatchOf<NDArray>(Shape{1, 2}) == Match::kWrongType);
}

TEST_CASE("text keeps NUL bytes and its length") {
  const std::string text("a\0b", 3);
  CHECK(Make(text).As<std::string>() == text);
  CHECK(Make(Bytes(text)).As<Bytes>().view() == text);
  CHECK(Make(std::string()).As<std::string>().empty());
}

TEST_CASE("optional takes nothing or its type") {
  CHECK_FALSE(Make(nullptr).As<std::optional<int>>().has_value());
  CHECK(Make(3).As<std::optional<int>>() == 3);
  CHECK(MatchOf<std::optional<int>>(std::string("x")) == Match::kWrongType);
  CHECK(TypeTraits<std::optional<int64_t>>::Name() == "int or None");
}

TEST_CASE("names of element types and contexts") {
  for (const auto& entry : details::kNamedTypes) {
    DLDataType parsed{};
    CHECK(ParseDataType(entry.name, &parsed));
    CHECK(parsed == entry.dtype);
  }
  for (const char* name : {"float32", "bfloat16", "complex128", "bool", "uint8"}) {
    CHECK(DataTypeName(Make(std::string(name)).As<DLDataType>()) == name);
  }
  for (const char* name : {"", "float", "float3", "float322", "Float32", "f4 "}) {
    DLDataType parsed{};
    CHECK(ParseDataType(name, &parsed) == (std::string(name) == "float"));
  }
  struct Case {
    const char* text;
    int id;
  };
  for (const Case& c :
       {Case{"cpu", 0}, Case{"cpu(0)", 0}, Case{"cpu(7)", 7}, Case{"cpu(12)", 12},
        Case{"cpu()", -1}, Case{"cpu(", -1}, Case{"cpu(-1)", -1}, Case{"cp", -1}, Case{"", -1},
        Case{"gpu(0)", -1}, Case{"cpu(99999999999)", -1}, Case{"cpu(3000000000)", -1},
        Case{"cpu(2147483647)", INT32_MAX}, Case{"cpu(1) ", -1}, Case{"cpux", -1}}) {
    Context ctx{};
    CAPTURE(c.text);
    CHECK(ParseContext(c.text, &ctx) == (c.id >= 0));
    if (c.id >= 0) CHECK(ctx.device_id == c.id);
  }
}

TEST_CASE("a conversion that fails says what came") {
  CHECK(ErrorOf([] { Make(1.5).As<int64_t>(); }) == "TypeError: the value expected int, got float");
  CHECK(ErrorOf([] { Make(300).As<int8_t>(); }) ==
        "OverflowError: the value expected int (int8), got 300");
  CHECK(ErrorOf([] { Make(std::string("float3")).As<DLDataType>(); }) ==
        "TypeError: the value: data type 'float3' not understood");
  CHECK(ErrorOf([] { Make(Shape{1}).As<std::vector<std::string>>(); }) ==
        "TypeError: the value expected list of str, got tuple");
}

TEST_CASE("a vector is read from every kind of run") {
  using Views = std::vector<std::string_view>;
  const int64_t ints[] = {1, 300};
  MXNetValue value{};
  std::vector<int64_t> numbers;
  std::vector<int8_t> small;
  Views views;
  value.v_ints = MXNetIntArray{ints, 2};
  for (int code : {kMXNetIntTuple, kMXNetIntList}) {
    REQUIRE(TypeTraits<std::vector<int64_t>>::TryFrom(value, code, &numbers) == Match::kOk);
    CHECK(numbers == std::vector<int64_t>{1, 300});
    CHECK(TypeTraits<std::vector<int8_t>>::TryFrom(value, code, &small) == Match::kOutOfRange);
    CHECK(TypeTraits<Views>::TryFrom(value, code, &views) == Match::kWrongType);
  }
  MXNetAny words[2] = {};
  for (MXNetAny& word : words) word.type_code = kMXNetStr;
  words[0].value.v_str = MXNetByteArray{"ab", 2};
  words[1].value.v_str = MXNetByteArray{"c", 1};
  value.v_seq = MXNetAnyArray{words, 2};
  for (int code : {kMXNetTuple, kMXNetList}) {
    REQUIRE(TypeTraits<Views>::TryFrom(value, code, &views) == Match::kOk);
    CHECK(views == Views{"ab", "c"});
    CHECK(views[0].data() == words[0].value.v_str.data);
  }
  CHECK(Make(Shape{1, 2}).As<std::vector<int64_t>>() == std::vector<int64_t>{1, 2});
  const Any tuple = Make(Tuple(std::vector<Any>{Make(std::string("x"))}));
  CHECK(tuple.As<Views>() == Views{"x"});
}
