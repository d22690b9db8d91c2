// Registration of C++ classes, and the references that hold their objects.
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/enum.h>

#include <memory>

#include "./support.h"

using mxnet::runtime::Any;
using mxnet::runtime::ClassRegistry;
using mxnet::runtime::Error;
using mxnet::runtime::MXNetArgs;
using mxnet::runtime::MXNetRetValue;
using mxnet::runtime::ObjectRef;
using mxnet::runtime::PackedFunc;
using mxnet::runtime::Ref;
using mxnet::runtime::details::PackTyped;

namespace {

struct Counted {
  static inline int alive = 0;
  explicit Counted(int v = 0) : value(v) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  Counted(Counted&& other) noexcept : value(other.value) { ++alive; }
  ~Counted() { --alive; }
  int value;
};

struct First {
  virtual ~First() = default;
  int first{1};
};
struct Second {
  int second{2};
};
struct Both : First, Second {
  explicit Both(int v) { second = v; }
};

struct alignas(64) Aligned {
  int value{5};
};

struct NoCopy {
  std::unique_ptr<int> value;
};

struct Unregistered {};
struct Repeated {};
struct Orphan : Unregistered {};

MXNET_REGISTER_CLASS(Counted, "tests.Counted")
    .def_init<int>()
    .arg("value", 0, "")
    .def_readwrite("value", &Counted::value);
MXNET_REGISTER_CLASS(Second, "tests.Second").def_readwrite("second", &Second::second);
MXNET_REGISTER_CLASS(Both, "tests.Both").def_base<Second>().def_init<int>();
MXNET_REGISTER_CLASS(Aligned, "tests.Aligned").def_readonly("value", &Aligned::value);
MXNET_REGISTER_CLASS(NoCopy, "tests.NoCopy");
MXNET_REGISTER_CLASS(Repeated, "tests.Repeated");

template <typename Register>
std::string FailureOf(const Register& register_class) {
  try {
    register_class();
  } catch (const Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "no failure";
}

const MXNetTypeInfo& InfoOf(const char* key) {
  uint32_t index = 0;
  const MXNetTypeInfo* info = nullptr;
  REQUIRE(MXNetObjectTypeKey2Index(key, &index) == 0);
  REQUIRE(MXNetObjectGetTypeInfo(index, &info) == 0);
  REQUIRE(info != nullptr);
  return *info;
}

}  // namespace

TEST_CASE("a reference owns its object and copies share it") {
  {
    Ref<Counted> ref = Ref<Counted>::Make(3);
    Ref<Counted> shared = ref;
    CHECK(Counted::alive == 1);
    shared->value = 4;
    CHECK(ref->value == 4);
    const Any any = mxnet::runtime::details::ToAny(ref);
    CHECK(any.As<Ref<Counted>>().get() == ref.get());
    CHECK(Ref<Second>::Cast(ref).get() == nullptr);
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("a reference that was moved from has nothing") {
  Ref<Counted> from = Ref<Counted>::Make(3);
  Ref<Counted> to = std::move(from);
  CHECK(from.get() == nullptr);
  CHECK(FailureOf([&] { from->value = 1; }).find("ValueError") == 0);
  from = std::move(to);
  CHECK(to.get() == nullptr);
  CHECK(from->value == 3);
}

TEST_CASE("a reference to nothing is not followed") {
  Ref<Counted> nothing;
  CHECK(FailureOf([&] { nothing->value = 1; }).find("ValueError") == 0);
  CHECK_FALSE(nothing.defined());
}

TEST_CASE("an object of a derived class is one of its base") {
  Ref<Both> both = Ref<Both>::Make(7);
  Ref<Second> base = both;
  CHECK(base->second == 7);
  const ObjectRef object = both;
  CHECK(Ref<Second>::Cast(object).get() == static_cast<Second*>(both.get()));
  CHECK(Ref<Both>::Cast(object).get() == both.get());
  PackedFunc set(PackTyped([](Second& second, int value) { second.second = value; }));
  set(both, 9);
  CHECK(both->second == 9);
}

TEST_CASE("typed bodies take and return classes in every form") {
  PackedFunc add(
      PackTyped([](const Counted& a, Ref<Counted> b) { return Counted(a.value + b->value); }));
  Ref<Counted> one = Ref<Counted>::Make(1);
  Ref<Counted> sum = add(one, one);
  CHECK(sum->value == 2);
  CHECK(FailureOf([&] { add(one, 3); }) ==
        "TypeError: function: argument 1 expected tests.Counted, got int");
  PackedFunc make(PackTyped([] { return NoCopy{std::make_unique<int>(5)}; }));
  Ref<NoCopy> made = make();
  CHECK(*made->value == 5);
  PackedFunc stray(PackTyped([] { return Unregistered(); }));
  CHECK(FailureOf([&] { stray(); }).find("MXNET_REGISTER_CLASS") != std::string::npos);
}

TEST_CASE("a value keeps its alignment") {
  Ref<Aligned> ref = Ref<Aligned>::Make();
  CHECK(reinterpret_cast<uintptr_t>(ref.get()) % alignof(Aligned) == 0);
  CHECK(Ref<Aligned>::Cast(ref)->value == 5);
}

TEST_CASE("fields are read and written through the C interface") {
  const MXNetTypeInfo& info = InfoOf("tests.Counted");
  REQUIRE(info.num_fields == 1);
  const MXNetFieldInfo& field = info.fields[0];
  Ref<Counted> counted = Ref<Counted>::Make(3);
  MXNetAny value{};
  REQUIRE(field.getter(field.resource, counted.ObjectRef::get(), &value) == 0);
  CHECK(value.type_code == kMXNetInt);
  CHECK(value.value.v_int64 == 3);
  value.value.v_int64 = 5;
  REQUIRE(field.setter(field.resource, counted.ObjectRef::get(), &value) == 0);
  CHECK(counted->value == 5);
  value.value.v_int64 = int64_t{1} << 40;
  CHECK(field.setter(field.resource, counted.ObjectRef::get(), &value) == -1);
  CHECK(mxnet::tests::LastError().find("OverflowError: tests.Counted.value expected int") == 0);
  Ref<Aligned> other = Ref<Aligned>::Make();
  CHECK(field.getter(field.resource, other.ObjectRef::get(), &value) == -1);
  CHECK(mxnet::tests::LastError() ==
        "TypeError: tests.Counted.value: expected tests.Counted, got tests.Aligned");
  CHECK(field.getter(field.resource, nullptr, &value) == -1);
}

TEST_CASE("what contradicts itself is not registered") {
  const auto commit = [](auto& registry) { return FailureOf([&] { registry.Commit(); }); };
  ClassRegistry<Repeated> repeated("tests.Other", __FILE__, __LINE__);
  CHECK(commit(repeated) ==
        "ValueError: tests.Other: its C++ class is registered as tests.Repeated already");
  struct Local {
    int Method(int a, int b) { return a + b; }
  };
  ClassRegistry<Local> taken("tests.Counted", __FILE__, __LINE__);
  CHECK(commit(taken) == "ValueError: a class is registered as 'tests.Counted' already");
  ClassRegistry<Orphan> orphan("tests.Orphan", __FILE__, __LINE__);
  orphan.def_base<Unregistered>();
  CHECK(commit(orphan) == "ValueError: tests.Orphan: its base class is not registered before it");
  ClassRegistry<Local> counts("tests.Counts", __FILE__, __LINE__);
  counts.def("method", &Local::Method).arg("a");
  CHECK(commit(counts).find("ValueError: tests.Counts.method: 2 parameters are described") == 0);
  ClassRegistry<Local> early("tests.Early", __FILE__, __LINE__);
  early.arg("a");
  CHECK(commit(early).find("described before any method") != std::string::npos);
  // The type of a field may be registered after it; where it never is, registering says so.
  enum class Unlisted { kOne };
  struct WithUnregistered {
    Unlisted field;
  };
  ClassRegistry<WithUnregistered> unknown("tests.Unknown", __FILE__, __LINE__);
  unknown.def_readonly("field", &WithUnregistered::field);
  const std::string unlisted = commit(unknown);
  CHECK(unlisted.find("TypeError: tests.Unknown.field: the C++ enum ") == 0);
  CHECK(unlisted.find("Unlisted is used before MXNET_REGISTER_ENUM registers") !=
        std::string::npos);
  PackedFunc take(PackTyped([](const Local&) {}));
  CHECK(FailureOf([&] { take(1); }).find("is used before MXNET_REGISTER_CLASS") !=
        std::string::npos);
}

TEST_CASE("a class of version 1.0 tells no size, and is found whatever its size") {
  MXNetTypeInfo info{};
  info.struct_size = offsetof(MXNetTypeInfo, value_size);
  info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
  info.key = "tests.OfVersion1";
  info.value_offset = 24;
  info.value_size = 7;  // behind what struct_size says
  uint32_t index = 0;
  REQUIRE(MXNetObjectRegisterType(&info, &index) == 0);
  uint32_t found = kMXNetObjectNone;
  CHECK(MXNetObjectFindType(info.key, 100, 24, &found) == 0);
  CHECK(found == index);
  found = kMXNetObjectNone;
  CHECK(MXNetObjectFindType(info.key, 100, 32, &found) == -1);
  CHECK(mxnet::tests::LastError().find(
            "with 24 bytes before it in its object, but this library was compiled "
            "with 32") != std::string::npos);
  CHECK(found == kMXNetObjectNone);
}

TEST_CASE("a description of another ABI is rejected") {
  MXNetTypeInfo info{};
  uint32_t index = 0;
  info.struct_size = sizeof(info);
  info.abi_major = MXNET_RUNTIME_ABI_MAJOR + 1;
  info.key = "tests.Future";
  CHECK(MXNetObjectRegisterType(&info, &index) == -1);
  CHECK(mxnet::tests::LastError().find("ImportError") == 0);
}
