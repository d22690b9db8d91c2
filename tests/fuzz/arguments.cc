/*!
 * \file arguments.cc
 * \brief Tagged values of an input.
 */
#include "./arguments.h"

#include <mxnet/runtime/data_type.h>

#include <algorithm>

namespace mxnet {
namespace fuzz {

using runtime::Any;

template <typename T>
T* Arguments::Keep(size_t count) {
  kept_.emplace_back(new char[count * sizeof(T)]());
  return reinterpret_cast<T*>(kept_.back().get());
}

MXNetAny Arguments::Text(int type_code) {
  const std::string text = input_->Text();
  char* data = Keep<char>(text.size());
  std::copy(text.begin(), text.end(), data);
  MXNetAny any{};
  any.type_code = type_code;
  any.value.v_str = MXNetByteArray{data, text.size()};
  return any;
}

MXNetAny Arguments::Ints(int type_code) {
  const size_t size = input_->Below(10);
  auto* data = Keep<int64_t>(size);
  for (size_t i = 0; i < size; ++i) data[i] = input_->Int();
  MXNetAny any{};
  any.type_code = type_code;
  any.value.v_ints = MXNetIntArray{data, size};
  return any;
}

MXNetAny Arguments::Run(int type_code, int depth) {
  // A dict of an odd number of values is not promised to be anything, but must do no harm.
  const size_t size = depth > 8 ? 0 : input_->Below(10);
  auto* data = Keep<MXNetAny>(size);
  for (size_t i = 0; i < size; ++i) data[i] = Next(depth + 1);
  MXNetAny any{};
  any.type_code = type_code;
  any.value.v_seq = MXNetAnyArray{data, size};
  return any;
}

MXNetAny Arguments::Object() {
  MXNetAny any{};
  if (objects_->empty()) {
    any.type_code = kMXNetObjectHandle;
    return any;
  }
  return (*objects_)[input_->Below(objects_->size())].raw();
}

/*! \brief Memory that whoever borrows it keeps for as long as it likes. */
struct Owned {
  int references;
  std::unique_ptr<char[]> data;

  static void Retain(void* owner) { ++static_cast<Owned*>(owner)->references; }
  static void Release(void* owner) {
    auto* owned = static_cast<Owned*>(owner);
    if (--owned->references == 0) delete owned;
  }
};

char* Arguments::Borrow(size_t bytes, MXNetBorrowedTensor* borrowed) {
  static const MXNetOwnerFunctions owner_functions{&Owned::Retain, &Owned::Release};
  auto* owned = new Owned{1, std::unique_ptr<char[]>(new char[bytes]())};
  owned_.emplace_back(owned, &Owned::Release);
  borrowed->owner = owned;
  borrowed->owner_functions = &owner_functions;
  borrowed->flags = input_->Below(2) != 0 ? kMXNetNDArrayReadOnly : 0;
  return owned->data.get();
}

/*! \brief A tensor within memory of its own: whole, transposed, reversed, repeated or empty. */
MXNetAny Arguments::Tensor(int type_code) {
  static constexpr DLDataType kTypes[] = {
      runtime::kFloat32, runtime::kFloat64, runtime::kInt64,      runtime::kBool,
      runtime::kUInt8,   runtime::kFloat16, runtime::kComplex128, {kDLInt, 4, 1},
      {kDLInt, 0, 1},    {kDLFloat, 32, 4}, runtime::kBFloat16,   runtime::kInt32};
  tensors_.emplace_back();
  MXNetBorrowedTensor& borrowed = tensors_.back();
  DLTensor& tensor = borrowed.tensor;
  tensor.device = DLDevice{kDLCPU, static_cast<int32_t>(input_->Below(2))};
  tensor.ndim = static_cast<int32_t>(input_->Below(5));
  tensor.dtype = kTypes[input_->Below(sizeof(kTypes) / sizeof(kTypes[0]))];
  const size_t ndim = static_cast<size_t>(tensor.ndim);
  tensor.shape = Keep<int64_t>(ndim);
  const bool strided = input_->Below(2) != 0;
  if (strided) tensor.strides = Keep<int64_t>(ndim);
  int64_t low = 0;
  int64_t high = 0;
  int64_t size = 1;
  for (size_t i = 0; i < ndim; ++i) {
    tensor.shape[i] = static_cast<int64_t>(input_->Below(5));
    size *= tensor.shape[i];
    if (!strided) continue;
    tensor.strides[i] = static_cast<int64_t>(input_->Below(9)) - 4;
    const int64_t reach = tensor.strides[i] * std::max<int64_t>(tensor.shape[i] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  if (!strided) high = std::max<int64_t>(size - 1, 0);
  const int64_t item = runtime::ItemSize(tensor.dtype);
  const size_t bytes = size == 0 ? 0 : static_cast<size_t>((high - low + 1) * item);
  char* data = type_code == kMXNetBorrowedArray ? Borrow(bytes, &borrowed) : Keep<char>(bytes);
  tensor.data = size == 0 ? nullptr : data;
  tensor.byte_offset = size == 0 ? 0 : static_cast<uint64_t>(-low * item);
  MXNetAny any{};
  any.type_code = type_code;
  any.value.v_handle = &borrowed;
  return any;
}

MXNetAny Arguments::Next(int depth) {
  MXNetAny any{};
  const uint8_t kind = input_->Byte();
  // In a container there are none of these: they are said of arguments alone.
  if (depth > 0 && (kind == 'm' || kind == 'k')) return Next(depth);
  switch (kind) {
    case 'i':
      any.type_code = kMXNetInt;
      any.value.v_int64 = input_->Int();
      return any;
    case 'u':
      any.type_code = kMXNetUInt;
      any.value.v_uint64 = static_cast<uint64_t>(input_->Int()) | (uint64_t{1} << 63);
      return any;
    case 'f':
      any.type_code = kMXNetFloat;
      any.value.v_float64 = input_->Float();
      return any;
    case 'x':
      any.type_code = kMXNetComplex;
      any.value.v_complex[0] = input_->Float();
      any.value.v_complex[1] = input_->Float();
      return any;
    case 'b':
      any.type_code = kMXNetBool;
      any.value.v_int64 = static_cast<int64_t>(input_->Below(2));
      return any;
    case 'p':
      any.type_code = kMXNetHandle;
      any.value.v_handle = reinterpret_cast<void*>(static_cast<uintptr_t>(input_->Int()));
      return any;
    case 'd':
      any.type_code = kMXNetType;
      any.value.v_type = input_->Raw<DLDataType>();
      return any;
    case 'c':
      any.type_code = kMXNetContext;
      any.value.v_ctx.device_type = static_cast<DLDeviceType>(input_->Below(20));
      any.value.v_ctx.device_id = static_cast<int32_t>(input_->Int());
      return any;
    case 'e':
      any.type_code = kMXNetEnum;
      any.value.v_enum.value = input_->Int();
      any.value.v_enum.type_index = static_cast<uint64_t>(input_->Int());
      return any;
    case '"':
      return Text(kMXNetStr);
    case 'y':
      return Text(kMXNetBytes);
    case 'k':
      return Text(kMXNetKeyword);
    case 'm':
      any.type_code = kMXNetMissing;
      return any;
    case '<':
      return Ints(kMXNetIntTuple);
    case '>':
      return Ints(kMXNetIntList);
    case '(':
      return Run(kMXNetTuple, depth);
    case '[':
      return Run(kMXNetList, depth);
    case '{':
      return Run(kMXNetDict, depth);
    case 'a':
      return Tensor(kMXNetArrayHandle);
    case 'A':
      return Tensor(kMXNetReadOnlyArray);
    case 'v':
      return Tensor(kMXNetBorrowedArray);
    case 'o':
      return Object();
    case '0': {
      // Not an array's: tensors are read without a look at their address, on the fastest way.
      static constexpr int kCodes[] = {kMXNetObjectHandle, kMXNetModuleHandle, kMXNetFuncHandle};
      any.type_code = kCodes[input_->Below(3)];
      return any;
    }
    case '?':
      // A number that no value has yet.
      any.type_code = kMXNetExtReserveEnd;
      any.value.v_int64 = input_->Int();
      return any;
    default:
      any.type_code = kMXNetNull;
      return any;
  }
}

}  // namespace fuzz
}  // namespace mxnet
