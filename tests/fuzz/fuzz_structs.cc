/*!
 * \file fuzz_structs.cc
 * \brief Gives the C functions structs of any size and content, as far as their contract goes.
 *
 * An input is a row of C functions to call, each with what its arguments are made of.
 */
#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>

#include "./arguments.h"

namespace mxnet {
namespace fuzz {
namespace {

using runtime::Any;
using runtime::ObjectRef;
using runtime::PackedFunc;

/*! \brief Owns what the structs point to, each in memory of exactly its size. */
class Store {
 public:
  explicit Store(Input* input) : input_(input) {}

  const char* Text() {
    if (input_->Below(4) == 3) return nullptr;
    const std::string text = input_->Text();
    char* data = Keep<char>(text.size() + 1);
    std::copy(text.begin(), text.end(), data);
    return data;
  }

  template <typename T>
  T* Keep(size_t count) {
    kept_.emplace_back(new char[count * sizeof(T)]());
    return reinterpret_cast<T*>(kept_.back().get());
  }

  /*! \brief A run and how long it is said to be: NULL may be said to be longer than 0. */
  template <typename T>
  T* Run(size_t* size) {
    *size = input_->Below(10);
    return input_->Below(10) == 9 ? nullptr : Keep<T>(*size);
  }

  /*!
   * \brief A copy of a struct that begins with its size, cut short or continued by members that
   *        this runtime does not know.
   */
  template <typename T>
  const T* Sized(T value) {
    size_t size = sizeof(T);
    if (input_->Below(3) == 2) size = sizeof(size_t) + input_->Below(sizeof(T) + 16);
    value.struct_size = size;
    char* data = Keep<char>(size);
    std::memset(data, 0x55, size);
    std::memcpy(data, static_cast<const void*>(&value), std::min(size, sizeof(T)));
    return reinterpret_cast<const T*>(data);
  }

 private:
  Input* input_;
  std::deque<std::unique_ptr<char[]>> kept_;
};

void FillParams(Input* input, Store* store, Arguments* values, MXNetFuncInfo* info) {
  auto* params = store->Run<MXNetParamInfo>(&info->num_params);
  info->params = params;
  if (params == nullptr) return;
  for (size_t i = 0; i < info->num_params; ++i) {
    params[i].name = store->Text();
    params[i].type = store->Text();
    params[i].doc = store->Text();
    params[i].flags = static_cast<int32_t>(input->Below(32));
    params[i].default_value = values->Next();
  }
}

const MXNetFuncInfo* NextInfo(Input* input, Store* store, Arguments* values, int depth) {
  MXNetFuncInfo info{};
  info.abi_major = MXNET_RUNTIME_ABI_MAJOR + (input->Below(8) == 7 ? 1 : 0);
  info.abi_minor = static_cast<int32_t>(input->Below(3));
  info.name = store->Text();
  info.doc = store->Text();
  info.returns = store->Text();
  info.file = store->Text();
  info.line = static_cast<int32_t>(input->Below(100));
  info.described = static_cast<int32_t>(input->Below(2));
  info.release_lock_bytes = input->Int();
  FillParams(input, store, values, &info);
  if (depth < 3 && input->Below(3) == 2) {
    auto* overloads = store->Run<const MXNetFuncInfo*>(&info.num_overloads);
    info.overloads = overloads;
    for (size_t i = 0; overloads != nullptr && i < info.num_overloads; ++i) {
      overloads[i] = input->Below(10) == 9 ? nullptr : NextInfo(input, store, values, depth + 1);
    }
  }
  return store->Sized(info);
}

size_t LengthOf(const char* text) { return text == nullptr ? 0 : std::strlen(text); }

/*! \brief Reads all of a description that the runtime gives. */
size_t ReadInfo(const MXNetFuncInfo* info) {
  FUZZ_CHECK(info->struct_size == sizeof(MXNetFuncInfo));
  FUZZ_CHECK(info->name != nullptr && info->doc != nullptr);
  size_t sum =
      LengthOf(info->name) + LengthOf(info->doc) + LengthOf(info->returns) + LengthOf(info->file);
  for (size_t i = 0; i < info->num_params; ++i) {
    const MXNetParamInfo& param = info->params[i];
    FUZZ_CHECK(param.name != nullptr);
    sum += LengthOf(param.name) + LengthOf(param.type) + LengthOf(param.doc);
    if (param.default_value.type_code == kMXNetStr) {
      sum += LengthOf(param.default_value.value.v_str.data);
    }
  }
  for (size_t i = 0; i < info->num_overloads; ++i) sum += ReadInfo(info->overloads[i]);
  return sum;
}

void Describe(Input* input) {
  const std::vector<Any> none;
  Store store(input);
  Arguments values(input, &none);
  PackedFunc func([](runtime::MXNetArgs args, runtime::MXNetRetValue* ret) {
    std::vector<Any> all;
    for (int i = 0; i < args.size(); ++i) all.push_back(args[i].As<Any>());
    *ret = runtime::Tuple(std::move(all));
  });
  const MXNetFuncInfo* info = NextInfo(input, &store, &values, 0);
  const bool described = MXNetFuncSetInfo(func.get(), info) == 0;
  const MXNetFuncInfo* view = nullptr;
  FUZZ_CHECK(MXNetFuncGetInfo(func.get(), &view) == 0);
  ReadInfo(view);
  if (described) FUZZ_CHECK(MXNetFuncSetInfo(func.get(), info) == -1);
  std::vector<MXNetValue> arguments(input->Below(10));
  std::vector<int> codes(arguments.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    const MXNetAny argument = values.Next();
    arguments[i] = argument.value;
    codes[i] = argument.type_code;
  }
  try {
    func.CallPacked(arguments.data(), codes.data(), static_cast<int>(codes.size()));
  } catch (const runtime::Error& error) {
    FUZZ_CHECK(!error.kind().empty());
  }
}

void DescribeType(Input* input) {
  Store store(input);
  // A class stays for good, so there are only a few to register.
  static const char* const kKeys[] = {"fuzz.A", "fuzz.B", "fuzz.C", "testing.Node", nullptr};
  MXNetTypeInfo info{};
  info.abi_major = MXNET_RUNTIME_ABI_MAJOR + (input->Below(8) == 7 ? 1 : 0);
  info.key = kKeys[input->Below(5)];
  info.doc = store.Text();
  info.base_index = static_cast<uint32_t>(input->Int());
  auto* fields = store.Run<MXNetFieldInfo>(&info.num_fields);
  info.fields = fields;
  for (size_t i = 0; fields != nullptr && i < info.num_fields; ++i) {
    fields[i].name = store.Text();
    fields[i].type = store.Text();
    fields[i].doc = store.Text();
    if (input->Below(4) != 3) {
      fields[i].getter = [](void*, MXNetObjectHandle, MXNetAny*) { return -1; };
    }
  }
  auto* methods = store.Run<MXNetMethodInfo>(&info.num_methods);
  info.methods = methods;
  const PackedFunc nop = PackedFunc::GetGlobal("testing.nop");
  for (size_t i = 0; methods != nullptr && i < info.num_methods; ++i) {
    methods[i].name = store.Text();
    methods[i].func = input->Below(4) != 3 ? nop.get() : nullptr;
  }
  uint32_t index = 0;
  if (MXNetObjectRegisterType(store.Sized(info), &index) != 0) return;
  const MXNetTypeInfo* view = nullptr;
  FUZZ_CHECK(MXNetObjectGetTypeInfo(index, &view) == 0 && view != nullptr);
  FUZZ_CHECK(view->type_index == index && view->struct_size == sizeof(MXNetTypeInfo));
  for (size_t i = 0; i < view->num_fields; ++i) LengthOf(view->fields[i].name);
}

void SetError(Input* input) {
  Store store(input);
  MXNetErrorInfo info{};
  info.kind = store.Text();
  const std::string message = input->Text();
  char* data = store.Keep<char>(message.size());
  std::copy(message.begin(), message.end(), data);
  info.message = {input->Below(4) == 3 ? nullptr : data, message.size()};
  auto* frames = store.Run<MXNetErrorFrame>(&info.num_frames);
  info.frames = frames;
  for (size_t i = 0; frames != nullptr && i < info.num_frames; ++i) {
    frames[i] = {store.Text(), store.Text(), static_cast<int32_t>(input->Int())};
  }
  const PackedFunc payload = PackedFunc::GetGlobal("testing.nop");
  if (input->Below(2) != 0) info.payload = payload.get();
  const MXNetErrorInfo* sized = store.Sized(info);
  FUZZ_CHECK(MXNetSetLastError(sized) == -1);
  const MXNetErrorInfo* view = MXNetGetLastError();
  FUZZ_CHECK(view->message.data[view->message.size] == '\0');
  for (size_t i = 0; i < view->num_frames; ++i) LengthOf(view->frames[i].function);
  if (sized->struct_size >= sizeof(info)) {
    FUZZ_CHECK(view->message.size == (info.message.data == nullptr ? 0 : message.size()));
    FUZZ_CHECK(view->payload == info.payload);
  } else if (sized->struct_size < offsetof(MXNetErrorInfo, frames)) {
    FUZZ_CHECK(std::string_view(view->message.data).find("struct_size") != std::string_view::npos);
  } else {
    FUZZ_CHECK(view->payload == nullptr);
  }
  MXNetSetLastError(view);
  MXNetSetLastError(nullptr);
}

DLDataType NextDataType(Input* input) {
  if (input->Below(4) == 3) return input->Raw<DLDataType>();
  static constexpr DLDataType kTypes[] = {runtime::kFloat32, runtime::kInt64, runtime::kBool};
  return kTypes[input->Below(3)];
}

/*! \brief Writes all of an array, if it is one that a small input may make. */
void UseArray(MXNetNDArrayHandle array) {
  const DLTensor& tensor = static_cast<MXNetNDArrayObject*>(array)->tensor;
  FUZZ_CHECK(tensor.byte_offset == 0 && tensor.strides != nullptr);
  FUZZ_CHECK(runtime::IsContiguous(tensor));
  const int64_t bytes = runtime::TensorSize(tensor) * runtime::ItemSize(tensor.dtype);
  FUZZ_CHECK(bytes >= 0);
  if (bytes > 0 && bytes < 1 << 20) std::memset(tensor.data, 0x55, static_cast<size_t>(bytes));
}

void CreateArray(Input* input) {
  Store store(input);
  size_t ndim = 0;
  auto* shape = store.Run<int64_t>(&ndim);
  for (size_t i = 0; shape != nullptr && i < ndim; ++i) shape[i] = input->Int();
  if (input->Below(20) == 19) ndim = static_cast<size_t>(-1);
  const DLDevice device{static_cast<DLDeviceType>(input->Below(3)), 0};
  MXNetNDArrayHandle array = nullptr;
  if (MXNetNDArrayCreate(shape, static_cast<int>(ndim), NextDataType(input), device,
                         static_cast<int>(input->Below(4)), &array) != 0) {
    FUZZ_CHECK(array == nullptr);
    return;
  }
  UseArray(array);
  DLManagedTensorVersioned* exported = nullptr;
  DLManagedTensor* legacy = nullptr;
  FUZZ_CHECK(MXNetNDArrayToDLPack(array, &exported) == 0);
  FUZZ_CHECK(MXNetNDArrayToDLPackLegacy(array, &legacy) == 0);
  MXNetObjectFree(array);
  // The memory lives as long as what was exported.
  MXNetNDArrayHandle back = nullptr;
  FUZZ_CHECK(MXNetNDArrayFromDLPack(exported, &back) == 0);
  legacy->deleter(legacy);
  UseArray(back);
  MXNetObjectFree(back);
}

/*! \brief Takes a tensor over of any layout; its elements are not looked at. */
template <typename Managed>
void TakeTensor(Input* input, int (*take)(Managed*, MXNetNDArrayHandle*)) {
  static int deleted;
  Store store(input);
  Managed managed{};
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed.version.major = static_cast<uint32_t>(input->Below(3));
    managed.flags = static_cast<uint64_t>(input->Int());
  }
  size_t ndim = 0;
  managed.dl_tensor.shape = store.Run<int64_t>(&ndim);
  if (input->Below(3) == 2) managed.dl_tensor.strides = store.Keep<int64_t>(ndim);
  for (size_t i = 0; i < ndim; ++i) {
    if (managed.dl_tensor.shape != nullptr) managed.dl_tensor.shape[i] = input->Int();
    if (managed.dl_tensor.strides != nullptr) managed.dl_tensor.strides[i] = input->Int();
  }
  static constexpr int32_t kOdd[] = {-1, INT32_MIN, INT32_MAX, 65};
  managed.dl_tensor.ndim =
      input->Below(20) == 19 ? kOdd[input->Below(4)] : static_cast<int32_t>(ndim);
  managed.dl_tensor.device = DLDevice{static_cast<DLDeviceType>(input->Below(3)), 0};
  managed.dl_tensor.dtype = NextDataType(input);
  deleted = 0;
  if (input->Below(4) != 3) managed.deleter = [](Managed*) { ++deleted; };
  MXNetNDArrayHandle array = nullptr;
  const bool taken = take(&managed, &array) == 0;
  FUZZ_CHECK(taken == (array != nullptr) && deleted == 0);
  if (!taken) return;
  MXNetObjectFree(array);
  FUZZ_CHECK(deleted == (managed.deleter != nullptr ? 1 : 0));
}

void LookUp(Input* input) {
  const char* key = nullptr;
  const MXNetTypeInfo* info = nullptr;
  const auto index = static_cast<uint32_t>(input->Int());
  FUZZ_CHECK((MXNetObjectTypeIndex2Key(index, &key) == 0) == (key != nullptr));
  FUZZ_CHECK(MXNetObjectGetTypeInfo(index, &info) == 0);
  const std::string name = input->Text();
  MXNetFunctionHandle func = nullptr;
  FUZZ_CHECK(MXNetFuncGetGlobal(name.c_str(), &func) == 0);
  if (func != nullptr) {
    MXNetFuncFree(func);
    return;
  }
  const PackedFunc nop = PackedFunc::GetGlobal("testing.nop");
  const bool registered = MXNetFuncRegisterGlobal(name.c_str(), nop.get(), 0) == 0;
  FUZZ_CHECK(registered == (name.c_str()[0] != '\0'));
  if (!registered) return;
  FUZZ_CHECK(MXNetFuncRegisterGlobal(name.c_str(), nop.get(), 0) == -1);
  FUZZ_CHECK(MXNetFuncRemoveGlobal(name.c_str()) == 0);
  FUZZ_CHECK(MXNetFuncRemoveGlobal(name.c_str()) == -1);
}

void Run(Input input) {
  for (int calls = 0; calls < 20 && !input.empty(); ++calls) {
    switch (input.Byte()) {
      case 'F':
        Describe(&input);
        break;
      case 'T':
        DescribeType(&input);
        break;
      case 'E':
        SetError(&input);
        break;
      case 'A':
        CreateArray(&input);
        break;
      case 'V':
        TakeTensor<DLManagedTensorVersioned>(&input, &MXNetNDArrayFromDLPack);
        break;
      case 'L':
        TakeTensor<DLManagedTensor>(&input, &MXNetNDArrayFromDLPackLegacy);
        break;
      default:
        LookUp(&input);
    }
  }
  MXNetSetLastError(nullptr);
}

}  // namespace
}  // namespace fuzz
}  // namespace mxnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mxnet::fuzz::Run(mxnet::fuzz::Input(data, size));
  return 0;
}
