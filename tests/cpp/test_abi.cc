// The sizes and numbers that libraries built earlier rely on. Compiling this file is half the
// check.
#include "./support.h"

static_assert(sizeof(MXNetValue) == 16, "a value is two words");
static_assert(sizeof(MXNetAny) == 24, "a tagged value is three words");
static_assert(sizeof(MXNetObject) == 24 && offsetof(MXNetObject, peer) == 16, "an object's header");
static_assert(offsetof(MXNetAny, type_code) == 16, "the tag follows the value");
static_assert(offsetof(MXNetNDArrayObject, tensor) == sizeof(MXNetObject), "tensor is second");
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, shape) == 24, "DLPack's layout");
static_assert(offsetof(MXNetBorrowedTensor, tensor) == 0, "it may be read as a DLTensor");
static_assert(sizeof(MXNetBorrowedTensor) == sizeof(DLTensor) + 32, "three pointers and flags");
static_assert(sizeof(DLManagedTensorVersioned) == 80, "DLPack's layout");
static_assert(sizeof(mxnet::runtime::ObjectRef) == sizeof(void*), "a reference is one pointer");
static_assert(sizeof(mxnet::runtime::Any) == sizeof(MXNetAny), "Any adds nothing");

// MXNet's numbers.
static_assert(kMXNetInt == 0 && kMXNetUInt == 1 && kMXNetFloat == 2 && kMXNetHandle == 3, "");
static_assert(kMXNetNull == 4 && kMXNetType == 5 && kMXNetContext == 6, "");
static_assert(kMXNetArrayHandle == 7 && kMXNetObjectHandle == 8 && kMXNetModuleHandle == 9, "");
static_assert(kMXNetFuncHandle == 10 && kMXNetStr == 11 && kMXNetBytes == 12, "");
static_assert(kMXNetPyArg == 13 && kMXNetNDArrayHandle == 14 && kMXNetExtBegin == 15, "");

TEST_CASE("the runtime tells its version") {
  int major = -1;
  int minor = -1;
  const char* release = nullptr;
  REQUIRE(MXNetGetVersion(&major, &minor, &release) == 0);
  CHECK(major == MXNET_RUNTIME_ABI_MAJOR);
  CHECK(minor == MXNET_RUNTIME_ABI_MINOR);
  CHECK(std::string(release).find('.') != std::string::npos);
}

TEST_CASE("a library of another ABI version is rejected with both versions") {
  mxnet::runtime::PackedFunc func([](mxnet::runtime::MXNetArgs, mxnet::runtime::MXNetRetValue*) {});
  MXNetFuncInfo info{};
  info.struct_size = sizeof(info);
  info.abi_major = MXNET_RUNTIME_ABI_MAJOR + 1;
  info.abi_minor = 7;
  CHECK(MXNetFuncSetInfo(func.get(), &info) == -1);
  const std::string message = mxnet::tests::LastError();
  CHECK(message.find("ImportError") == 0);
  CHECK(message.find(std::to_string(MXNET_RUNTIME_ABI_MAJOR + 1) + ".7") != std::string::npos);
  CHECK(message.find(std::to_string(MXNET_RUNTIME_ABI_MAJOR) + "." +
                     std::to_string(MXNET_RUNTIME_ABI_MINOR)) != std::string::npos);
}

static int NoBody(void*, const MXNetValue*, const int*, int, MXNetValue*, int*) { return 0; }

TEST_CASE("no C function follows a NULL") {
  MXNetFunctionHandle func = nullptr;
  MXNetNDArrayHandle array = nullptr;
  MXNetValue value;
  int code = 0;
  uint32_t index = 0;
  const MXNetFuncInfo* info = nullptr;
  const MXNetBorrowedTensor borrowed{};
  DLManagedTensor* legacy = nullptr;
  DLManagedTensorVersioned* versioned = nullptr;
  const int statuses[] = {
      MXNetFuncCall(nullptr, nullptr, nullptr, 0, &value, &code),
      MXNetFuncCreateFromCFunc(nullptr, nullptr, nullptr, &func),
      MXNetFuncFromCallable(nullptr, &value, nullptr, &func),
      MXNetFuncFromCallable(&NoBody, nullptr, nullptr, &func),
      MXNetFuncFromCallable(&NoBody, &value, nullptr, nullptr),
      MXNetFuncSetInfo(nullptr, nullptr),
      MXNetFuncGetInfo(nullptr, &info),
      MXNetFuncCompleteParams(nullptr, nullptr, 0, nullptr, 0),
      MXNetFuncCompleteParams("f", nullptr, 1, nullptr, 0),
      MXNetFuncRejectArgument(nullptr, 0, nullptr, nullptr, 0),
      MXNetFuncRejectArgument(nullptr, 0, "int", nullptr, 0),
      MXNetFuncGetGlobal(nullptr, &func),
      MXNetFuncGetGlobal("testing.nop", nullptr),
      MXNetFuncRegisterGlobal("name", nullptr, 0),
      MXNetFuncRegisterGlobal(nullptr, nullptr, 0),
      MXNetFuncRemoveGlobal(nullptr),
      MXNetFuncListGlobalNames(nullptr, nullptr),
      MXNetObjectRetain(nullptr),
      MXNetObjectGetTypeIndex(nullptr, &index),
      MXNetObjectTypeKey2Index(nullptr, &index),
      MXNetObjectTypeIndex2Key(1, nullptr),
      MXNetObjectRegisterType(nullptr, &index),
      MXNetObjectGetTypeInfo(1, nullptr),
      MXNetObjectFindType(nullptr, 8, 24, &index),
      MXNetObjectFindType("demo.Counter", 8, 24, nullptr),
      MXNetNDArrayCreate(nullptr, 1, mxnet::runtime::kFloat32, DLDevice{kDLCPU, 0}, 0, &array),
      MXNetNDArrayView(nullptr, nullptr, nullptr, nullptr, 0, mxnet::runtime::kFloat32, &array),
      MXNetNDArrayViewBorrowed(nullptr, nullptr, nullptr, nullptr, 0, mxnet::runtime::kFloat32,
                               &array),
      MXNetNDArrayKeepBase(nullptr),
      MXNetNDArrayFromDLPack(nullptr, &array),
      MXNetNDArrayFromDLPackLegacy(nullptr, &array),
      MXNetNDArrayFromBorrowed(nullptr, &array),
      MXNetNDArrayFromBorrowed(&borrowed, &array),
      MXNetNDArrayToDLPack(nullptr, &versioned),
      MXNetNDArrayToDLPackLegacy(nullptr, &legacy),
      MXNetGetVersion(nullptr, nullptr, nullptr),
  };
  for (int status : statuses) CHECK(status == -1);
  CHECK(MXNetObjectFree(nullptr) == 0);
  CHECK(MXNetFuncFree(nullptr) == 0);
}

TEST_CASE("what a signature says of parameters") {
  const MXNetParamSignature known{"int", "int", 0, 0, [](const MXNetAny*) { return 1; }};
  MXNetParamSignature nameless = known;
  nameless.type_name = nullptr;
  MXNetParamSignature unchecked = known;
  unchecked.takes = nullptr;
  struct Case {
    const char* expected;
    size_t num_params;
    const MXNetParamSignature* signature;
    size_t num_signature;
  };
  const MXNetParamSignature* none = nullptr;
  const Case cases[] = {
      {"", 1, &known, 1},
      {"", 2, none, 0},
      {"ValueError: f: 2 parameters are described, the C++ body takes 1", 2, &known, 1},
      {"ValueError: f: 65 parameters are described, at most 64 are possible", 65, none, 0},
      {"ValueError: f: the signature of 'arg0' has no name of its type", 1, &nameless, 1},
      {"ValueError: f: the signature of 'arg0' has no name of its type", 1, &unchecked, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.expected);
    std::vector<MXNetParamInfo> params(c.num_params);
    const int status =
        MXNetFuncCompleteParams("f", params.data(), params.size(), c.signature, c.num_signature);
    const std::string error = status == 0 ? "" : mxnet::tests::LastError();
    CHECK(error.rfind(c.expected, 0) == 0);
    CHECK(error.empty() == (*c.expected == '\0'));
    if (error.empty()) CHECK(params.back().name == "arg" + std::to_string(params.size() - 1));
  }
}

namespace {

MXNetFuncInfo FuncInfo() {
  MXNetFuncInfo info{};
  info.struct_size = sizeof(info);
  info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
  info.name = "tests.struct";
  return info;
}

std::string DescribeError(const MXNetFuncInfo* info) {
  mxnet::runtime::PackedFunc func([](mxnet::runtime::MXNetArgs, mxnet::runtime::MXNetRetValue*) {});
  return MXNetFuncSetInfo(func.get(), info) == 0 ? "" : mxnet::tests::LastError();
}

}  // namespace

TEST_CASE("a description that lacks what it tells of is rejected") {
  struct Case {
    const char* error;
    void (*change)(MXNetFuncInfo* info);
  };
  static const MXNetFuncInfo* none = nullptr;
  static MXNetFuncInfo own = FuncInfo();
  static const MXNetFuncInfo* pointer = &own;
  static MXNetFuncInfo small = FuncInfo();
  static const MXNetFuncInfo* pointer_to_small = &small;
  own.overloads = &pointer;
  own.num_overloads = 1;
  small.struct_size = sizeof(size_t);
  for (const Case& c : {
           Case{"", [](MXNetFuncInfo*) {}},
           Case{
               "ValueError: MXNetFuncSetInfo: struct_size of a description is 0, expected at least",
               [](MXNetFuncInfo* info) { info->struct_size = 0; }},
           Case{"ValueError: MXNetFuncSetInfo: struct_size of a description is 24, expected at "
                "least",
                [](MXNetFuncInfo* info) { info->struct_size = 24; }},
           Case{
               "ValueError: tests.struct: 2 parameters are described and the array of them is NULL",
               [](MXNetFuncInfo* info) { info->num_params = 2; }},
           Case{"ValueError: tests.struct: 1 overloads are described and the array of them is NULL",
                [](MXNetFuncInfo* info) { info->num_overloads = 1; }},
           Case{"ValueError: tests.struct: an overload is NULL",
                [](MXNetFuncInfo* info) { info->overloads = &none, info->num_overloads = 1; }},
           Case{"ValueError: tests.struct: an overload has overloads itself",
                [](MXNetFuncInfo* info) { info->overloads = &pointer, info->num_overloads = 1; }},
           Case{"ValueError: MXNetFuncSetInfo: struct_size of a description is 8, expected",
                [](MXNetFuncInfo* info) {
                  info->overloads = &pointer_to_small, info->num_overloads = 1;
                }},
       }) {
    CAPTURE(c.error);
    MXNetFuncInfo info = FuncInfo();
    c.change(&info);
    const std::string error = DescribeError(&info);
    CHECK(error.rfind(c.error, 0) == 0);
    CHECK(error.empty() == (c.error[0] == '\0'));
  }
}

TEST_CASE("a description of a type that lacks what it tells of is rejected") {
  struct Case {
    const char* error;
    void (*change)(MXNetTypeInfo* info);
  };
  for (const Case& c : {
           Case{"ValueError: MXNetObjectRegisterType: struct_size of a description is 8, expected",
                [](MXNetTypeInfo* info) { info->struct_size = 8; }},
           Case{"ValueError: tests.Struct: 3 fields are described and the array of them is NULL",
                [](MXNetTypeInfo* info) { info->num_fields = 3; }},
           Case{"ValueError: tests.Struct: 1 methods are described and the array of them is NULL",
                [](MXNetTypeInfo* info) { info->num_methods = 1; }},
       }) {
    CAPTURE(c.error);
    MXNetTypeInfo info{};
    uint32_t index = 0;
    info.struct_size = sizeof(info);
    info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
    info.key = "tests.Struct";
    c.change(&info);
    CHECK(MXNetObjectRegisterType(&info, &index) == -1);
    CHECK(mxnet::tests::LastError().rfind(c.error, 0) == 0);
  }
}

TEST_CASE("of an error no more is read than its struct_size says") {
  struct Case {
    size_t struct_size;
    const char* error;
    size_t frames;
    bool payload;
  };
  struct Newer {
    MXNetErrorInfo known;
    int64_t further;
  };
  const mxnet::runtime::PackedFunc payload = mxnet::runtime::PackedFunc::GetGlobal("testing.nop");
  const MXNetErrorFrame frame{"file.c", "function", 3};
  for (const Case& c : {
           Case{sizeof(Newer), "KeyError: text", 1, true},
           Case{sizeof(MXNetErrorInfo), "KeyError: text", 1, true},
           Case{offsetof(MXNetErrorInfo, payload), "KeyError: text", 1, false},
           Case{offsetof(MXNetErrorInfo, payload) + 4, "KeyError: text", 1, false},
           Case{offsetof(MXNetErrorInfo, frames), "KeyError: text", 0, false},
           Case{0, "RuntimeError: MXNetSetLastError: struct_size says that there is no message", 0,
                false},
       }) {
    CAPTURE(c.struct_size);
    Newer info{{c.struct_size, "KeyError", {"text", 4}, &frame, 1, payload.get()}, 0};
    CHECK(MXNetSetLastError(&info.known) == -1);
    CHECK(mxnet::tests::LastError() == c.error);
    CHECK(MXNetGetLastError()->num_frames == c.frames);
    CHECK((MXNetGetLastError()->payload != nullptr) == c.payload);
  }
  MXNetErrorInfo lost{sizeof(lost), "KeyError", {nullptr, 4}, nullptr, 5, nullptr};
  CHECK(MXNetSetLastError(&lost) == -1);
  CHECK(mxnet::tests::LastError() == "KeyError: ");
  CHECK(MXNetGetLastError()->num_frames == 0);
  MXNetSetLastError(nullptr);
}
