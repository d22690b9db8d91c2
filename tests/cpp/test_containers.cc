#include <cmath>
#include <complex>
#include <functional>

#include "./support.h"

using mxnet::tests::ErrorOf;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

TEST_CASE("references are counted") {
  String text("text");
  CHECK(text.get()->ref_count == 1);
  {
    String shared = text;
    CHECK(shared.same_as(text));
    CHECK(text.get()->ref_count == 2);
    Array<Any> array(std::vector<Any>{details::ToAny(text)});
    CHECK(text.get()->ref_count == 3);
  }
  CHECK(text.get()->ref_count == 1);
  ObjectRef moved = std::move(text);
  CHECK(moved.get()->ref_count == 1);
  CHECK_FALSE(text.defined());
}

TEST_CASE("a shape prints as Python does") {
  CHECK(Shape{}.view().str() == "()");
  CHECK(Shape{3}.view().str() == "(3,)");
  CHECK(Shape{3, -4}.view().str() == "(3, -4)");
  CHECK(Shape{1, 2}.view() == ShapeView(std::vector<int64_t>{1, 2}));
  CHECK(Shape{1, 2}.view() != Shape{1}.view());
}

TEST_CASE("an array checks its index and its elements' type") {
  Array<int64_t> array(std::vector<int64_t>{1, 2, 3});
  CHECK(array.size() == 3);
  CHECK(array[2] == 3);
  CHECK(ErrorOf([&] { array.at(3); }) == "IndexError: index 3 is out of range for 3 items");
  Any any = details::ToAny(array);
  CHECK(any.As<std::vector<int64_t>>() == std::vector<int64_t>{1, 2, 3});
  CHECK(ErrorOf([&] { any.As<Array<String>>(); }) ==
        "TypeError: the value expected list of str, got Array: item 0 is int");
}

TEST_CASE("an array is made of a list of its elements") {
  const Array<String> texts({"a", "b"});
  CHECK(texts.size() == 2);
  CHECK(texts[1].str() == "b");
  const Array<double> numbers{1, 2.5};
  CHECK(numbers[1] == 2.5);
  CHECK(Array<int64_t>{}.empty());
  const Array<String> shared(static_cast<const ObjectRef&>(texts));
  CHECK(shared.same_as(texts));
}

TEST_CASE("a map finds what it holds, in order") {
  Map<String, int64_t> small{{"a", 1}, {"b", 2}, {"a", 3}};
  CHECK(small.size() == 2);
  CHECK(small.at("a") == 3);
  CHECK(small["b"] == 2);
  CHECK(small.key(0).As<std::string>() == "a");
  CHECK_FALSE(small.count("c"));
  CHECK(ErrorOf([&] { small.at("c"); }).find("KeyError") == 0);
  CHECK(Map<String, int64_t>().size() == 0);

  std::vector<Any> items;
  for (int64_t i = 0; i < 5000; ++i) {
    items.push_back(
        details::ToAny(i % 2 ? Any(details::ToAny(i)) : details::ToAny("k" + std::to_string(i))));
    items.push_back(details::ToAny(i));
  }
  Map<Any, int64_t> large(std::move(items));
  CHECK(large.size() == 5000);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 5000; ++i) {
    Any key = i % 2 ? details::ToAny(i) : details::ToAny("k" + std::to_string(i));
    if (large.at(key) != i || large.value(static_cast<size_t>(i)).As<int64_t>() != i) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK_FALSE(large.count(details::ToAny(int64_t{4})));
}

TEST_CASE("keys are equal where Python's are") {
  using details::ToAny;
  struct Case {
    Any left;
    Any right;
    bool equal;
  };
  const Case cases[] = {
      {details::ToAny(1), details::ToAny(1.0), true},
      {details::ToAny(1), details::ToAny(true), true},
      {details::ToAny(1), details::ToAny(std::complex<double>(1, -0.0)), true},
      {details::ToAny(0.0), details::ToAny(-0.0), true},
      {details::ToAny(uint64_t{1} << 63), details::ToAny(9223372036854775808.0), true},
      {details::ToAny(std::complex<double>(0, 1)), details::ToAny(std::complex<double>(0, 2)),
       false},
      {details::ToAny(1), details::ToAny(1.5), false},
      {details::ToAny(1), details::ToAny("1"), false},
      {details::ToAny("a"), details::ToAny(std::string("a")), true},
      {details::ToAny("a"), details::ToAny(Bytes("a")), false},
      {details::ToAny(Bytes("a")), details::ToAny(Bytes("a")), true},
      {details::ToAny(Shape{1, 2}), details::ToAny(Tuple({details::ToAny(1), details::ToAny(2.0)})),
       true},
      {details::ToAny(Shape{1, 2}), details::ToAny(Shape{1, 3}), false},
      {details::ToAny(Shape{1}), details::ToAny(1), false},
      {details::ToAny(nullptr), details::ToAny(nullptr), true},
      {details::ToAny(nullptr), details::ToAny(0), false},
  };
  for (const Case& c : cases) {
    CAPTURE(TypeNameOf(c.left.value(), c.left.type_code()));
    CAPTURE(TypeNameOf(c.right.value(), c.right.type_code()));
    CHECK(details::MapKey::Equal(c.left.raw(), c.right.raw()) == c.equal);
    if (c.equal) {
      CHECK(details::MapKey::Hash(c.left.raw(), 7) == details::MapKey::Hash(c.right.raw(), 7));
    }
  }
}

// How many slots a search looks at, on average, where the table is half full.
double MeanProbes(uint64_t seed, size_t count, const std::function<Any(uint64_t)>& key) {
  std::vector<bool> taken(2 * count);
  uint64_t probes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    size_t slot = details::MapKey::Hash(key(i).raw(), seed) % taken.size();
    for (++probes; taken[slot]; ++probes) slot = (slot + 1) % taken.size();
    taken[slot] = true;
  }
  return static_cast<double>(probes) / static_cast<double>(count);
}

TEST_CASE("keys that differ in any of their bits do not gather in a few slots") {
  for (uint64_t seed : {uint64_t{0}, uint64_t{7}, uint64_t{0xFEDCBA9876543210}}) {
    for (int shift = 0; shift < 52; shift += 3) {
      CAPTURE(seed);
      CAPTURE(shift);
      const auto shifted = [shift](uint64_t i) { return static_cast<int64_t>(i << shift); };
      const std::function<Any(uint64_t)> kinds[] = {
          [&](uint64_t i) { return details::ToAny(shifted(i)); },
          [&](uint64_t i) { return details::ToAny(-shifted(i)); },
          [&](uint64_t i) { return details::ToAny(std::ldexp(static_cast<double>(i), -shift)); },
          [&](uint64_t i) { return details::ToAny(Shape{shifted(i), 3}); },
          [&](uint64_t i) { return details::ToAny(std::to_string(shifted(i))); },
      };
      for (const auto& key : kinds) CHECK(MeanProbes(seed, 1 << 11, key) < 2.5);
    }
  }
}

TEST_CASE("no two maps put their keys in the same slots") {
  const Map<Any, Any> one, other;
  const auto seed = [](const ObjectRef& map) {
    return reinterpret_cast<const MXNetMapObject*>(map.get())->seed;
  };
  CHECK(seed(one) != seed(other));
}

TEST_CASE("element types are equal keys whatever lies beside them") {
  MXNetAny clean{};
  clean.type_code = kMXNetType;
  clean.value.v_type = kFloat32;
  MXNetAny dirty = clean;
  dirty.value.v_int64 = -1;
  dirty.value.v_type = kFloat32;
  CHECK(details::MapKey::Equal(clean, dirty));
  CHECK(details::MapKey::Hash(clean, 7) == details::MapKey::Hash(dirty, 7));
  dirty.value.v_type = kFloat64;
  CHECK_FALSE(details::MapKey::Equal(clean, dirty));
}

TEST_CASE("type keys have one index each") {
  uint32_t first = 0;
  uint32_t again = 0;
  uint32_t other = 0;
  REQUIRE(MXNetObjectTypeKey2Index("tests.A", &first) == 0);
  REQUIRE(MXNetObjectTypeKey2Index("tests.A", &again) == 0);
  REQUIRE(MXNetObjectTypeKey2Index("tests.B", &other) == 0);
  CHECK(first == again);
  CHECK(first != other);
  CHECK(first >= kMXNetObjectDynamic);
  const char* key = nullptr;
  REQUIRE(MXNetObjectTypeIndex2Key(first, &key) == 0);
  CHECK(std::string(key) == "tests.A");
  CHECK(MXNetObjectTypeIndex2Key(1u << 30, &key) == -1);
}

TEST_CASE("a List is changed for all who hold it") {
  List<int64_t> list;
  List<int64_t> shared = list;
  for (int64_t i = 0; i < 100; ++i) list.push_back(i);
  CHECK(shared.size() == 100);
  shared.Set(0, 7);
  shared.Insert(1, 8);
  shared.Erase(2, 98);
  CHECK(list.size() == 3);
  CHECK(list[0] == 7);
  CHECK(list[1] == 8);
  CHECK(list[2] == 99);
  CHECK_THROWS(list.at(3));
  for (const auto& [at, count] : {std::pair<size_t, size_t>{1, 3}, {4, 0}, {1, SIZE_MAX}}) {
    CAPTURE(count);
    CHECK(ErrorOf([&, i = at, n = count] { list.Erase(i, n); }).rfind("IndexError", 0) == 0);
  }
  CHECK(list.size() == 3);
  list.clear();
  CHECK(shared.empty());
}

TEST_CASE("a Dict keeps the order of insertion through changes") {
  Dict<String, int64_t> dict;
  for (int64_t i = 0; i < 100; ++i) dict.Set("key" + std::to_string(i), i);
  dict.Set("key5", -5);
  for (int64_t i = 0; i < 100; i += 2) CHECK(dict.Erase("key" + std::to_string(i)));
  CHECK_FALSE(dict.Erase("key0"));
  CHECK(dict.size() == 50);
  CHECK(dict.at("key5") == -5);
  CHECK(dict.at("key99") == 99);
  CHECK_FALSE(dict.count("key98"));
  CHECK(dict.key(0).As<std::string>() == "key1");
  CHECK_THROWS(dict.at("key0"));
  dict.clear();
  dict.Set("key1", 1);
  CHECK(dict.size() == 1);
}

TEST_CASE("a Dict finds what is left, in whatever order entries go") {
  constexpr int64_t kEntries = 257;
  // Steps without a common divisor with the number of entries go through all of them.
  for (int64_t step : {1, 2, 100, 256}) {
    Dict<int64_t, int64_t> dict;
    for (int64_t i = 0; i < kEntries; ++i) dict.Set(i << 40, i);
    for (int64_t gone = 0; gone < kEntries; ++gone) {
      const int64_t next = (gone * step + 5) % kEntries;
      CHECK(dict.Erase(next << 40));
      CHECK_FALSE(dict.count(next << 40));
      int64_t found = 0;
      for (int64_t i = 0; i < kEntries; ++i) found += dict.count(i << 40) ? 1 : 0;
      REQUIRE(found == kEntries - gone - 1);
      for (size_t i = 0; i < dict.size(); ++i) {
        REQUIRE(dict.at(dict.key(i).As<int64_t>()) == dict.value(i).As<int64_t>());
        if (i > 0) REQUIRE(dict.value(i - 1).As<int64_t>() < dict.value(i).As<int64_t>());
      }
    }
  }
}

TEST_CASE("a changeable container is read as one that is not, and the other way round") {
  const List<int64_t> list(std::vector<Any>{details::ToAny(1), details::ToAny(2)});
  CHECK(details::ToAny(list).As<Array<int64_t>>().size() == 2);
  CHECK(details::ToAny(list).As<std::vector<int64_t>>()[1] == 2);
  CHECK(details::ToAny(list).As<List<int64_t>>().same_as(list));
  CHECK(details::ToAny(Array<int64_t>({1, 2, 3})).As<List<int64_t>>().size() == 3);
  CHECK_THROWS(details::ToAny(list).As<List<String>>());
  Dict<String, int64_t> dict;
  dict.Set("a", 1);
  CHECK((details::ToAny(dict).As<Map<String, int64_t>>().at("a") == 1));
  CHECK(details::ToAny(dict).As<Dict<Any, Any>>().same_as(dict));
  CHECK(details::ToAny(Map<String, int64_t>({{"b", 2}})).As<Dict<String, int64_t>>().at("b") == 2);
  CHECK_THROWS((details::ToAny(dict).As<Dict<int64_t, int64_t>>()));
}

TEST_CASE("a run is read from every kind of run, whatever holds it") {
  const std::vector<Any> items{details::ToAny(1), details::ToAny(2)};
  for (const Any& run : {details::ToAny(Tuple(items)), details::ToAny(Array<Any>(items)),
                         details::ToAny(List<Any>(items)), details::ToAny(Shape{1, 2})}) {
    CAPTURE(TypeNameOf(run.value(), run.type_code()));
    CHECK(run.As<Array<int64_t>>()[1] == 2);
    CHECK(run.As<List<int64_t>>()[1] == 2);
    CHECK(run.As<std::vector<int64_t>>()[1] == 2);
    CHECK(run.As<Shape>()[1] == 2);
    CHECK(run.As<Tuple>()[1].As<int64_t>() == 2);
    // An element of another container.
    CHECK(details::ToAny(Tuple({run})).As<Array<Array<int64_t>>>()[0][1] == 2);
  }
}

TEST_CASE("what is no container is not copied to find out") {
  int64_t extent = 2;
  DLTensor tensor{};
  tensor.device = DLDevice{kDLCUDA, 0};
  tensor.ndim = 1;
  tensor.dtype = kInt32;
  tensor.shape = &extent;
  MXNetValue value{};
  value.v_handle = &tensor;
  Map<> map;
  Array<> array;
  CHECK(TypeTraits<Map<>>::TryFrom(value, kMXNetArrayHandle, &map) == Match::kWrongType);
  CHECK(TypeTraits<Array<>>::TryFrom(value, kMXNetArrayHandle, &array) == Match::kWrongType);
}

TEST_CASE("an element out of range is that, whatever the container") {
  const Any run = details::ToAny(std::vector<int64_t>{1, 300});
  const Any map = details::ToAny(Map<String, int64_t>{{"a", 300}});
  const std::string list = "OverflowError: the value expected list of int (int8), got ";
  const std::string dict = "OverflowError: the value expected dict of str to int (int8), got ";
  CHECK(ErrorOf([&] { run.As<std::vector<int8_t>>(); }).find(list) == 0);
  CHECK(ErrorOf([&] { run.As<Array<int8_t>>(); }).find(list) == 0);
  CHECK(ErrorOf([&] { run.As<List<int8_t>>(); }).find(list) == 0);
  CHECK(ErrorOf([&] { map.As<Map<String, int8_t>>(); }).find(dict) == 0);
  CHECK(ErrorOf([&] { map.As<Dict<String, int8_t>>(); }).find(dict) == 0);
}
