/*!
 * \file call_key.cc
 * \brief Reads the arguments of a call into a key.
 */
#include "acc/dispatch/call_key.h"

#include <algorithm>

namespace mxnet {
namespace acc {
namespace {

/*! \brief The first word of an array. */
uint64_t ArrayWord(const DLTensor& tensor) {
  constexpr uint64_t kOnHost = uint64_t{1} << 31;  // above all numbers of dimensions
  return CallKey::SpecWord(tensor) | (tensor.device.device_type == kDLCPU ? kOnHost : 0);
}

}  // namespace

CallKey::CallKey(const CallKey& other) : size_(other.size_), hash_(other.hash_) {
  if (size_ > kInline) {
    large_.reset(new uint64_t[size_]);
    words_ = large_.get();
    capacity_ = size_;
  }
  std::copy_n(other.words_, size_, words_);
}

void CallKey::Grow(size_t more) {
  const size_t capacity = std::max(capacity_ * 2, size_ + more);
  std::unique_ptr<uint64_t[]> larger(new uint64_t[capacity]);
  std::copy_n(words_, size_, larger.get());
  large_ = std::move(larger);
  words_ = large_.get();
  capacity_ = capacity;
}

void CallKey::Hash() {
  // Two words at a time, as their products do not wait for one another.
  Reserve(1);
  words_[size_] = 0;
  uint64_t hash = size_;
  for (size_t i = 0; i < size_; i += 2) {
    const auto product = static_cast<unsigned __int128>(words_[i] ^ 0x9e3779b97f4a7c15u) *
                         (words_[i + 1] ^ 0xd6e8feb86659fd93u);
    hash = (hash << 7 | hash >> 57) +
           (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64));
  }
  hash_ = hash ^ hash >> 32;
}

void CallKey::AddBytes(const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  for (; size > 0; at += sizeof(uint64_t)) {
    const size_t part = std::min(size, sizeof(uint64_t));
    uint64_t word = 0;
    std::memcpy(&word, at, part);
    Add(word);
    size -= part;
  }
}

void CallKey::AddArray(const DLTensor& tensor, uint64_t flags) {
  const auto ndim = static_cast<size_t>(tensor.ndim);
  Reserve(1 + 2 * ndim);
  uint64_t* at = words_ + size_;
  size_ += 1 + 2 * ndim;
  *at++ = ArrayWord(tensor) | flags;
  at = std::copy_n(tensor.shape, ndim, at);
  std::copy_n(tensor.strides, ndim, at);
}

inline bool CallKey::AddValue(const MXNetValue& value, int type_code) {
  if (__builtin_expect(type_code != kMXNetNDArrayHandle, 0)) return AddOther(value, type_code);
  const DLTensor& tensor = TensorOf(value);
  // 0-d arrays of the CPU are numbers with a type; a library is given no other array of the CPU.
  if (tensor.device.device_type == kDLCPU && tensor.ndim > 0) return false;
  // Part of the key, because a read-only array is rejected as out=.
  constexpr uint64_t kReadOnly = uint64_t{1} << 30;
  const auto* array = static_cast<const MXNetNDArrayObject*>(value.v_handle);
  AddArray(tensor, (array->flags & kMXNetNDArrayReadOnly) != 0 ? kReadOnly : 0);
  return true;
}

bool CallKey::AddItems(const MXNetAny* items, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (!AddValue(items[i].value, items[i].type_code)) return false;
  }
  return true;
}

bool CallKey::AddOther(const MXNetValue& value, int type_code) {
  switch (type_code) {
    case kMXNetNull:
    case kMXNetMissing:
      Add(TypeWord(type_code, 0));
      return true;
    case kMXNetInt:
    case kMXNetUInt:
    case kMXNetFloat:
    case kMXNetBool:
      Add(TypeWord(type_code, 0));
      Add(value.v_uint64);
      return true;
    case kMXNetType:
      Add(TypeWord(type_code, 0));
      AddBytes(&value.v_type, sizeof(value.v_type));
      return true;
    case kMXNetStr:
      Add(TypeWord(type_code, value.v_str.size));
      AddBytes(value.v_str.data, value.v_str.size);
      return true;
    case kMXNetIntTuple:
    case kMXNetIntList:
      Add(TypeWord(type_code, value.v_ints.size));
      AddBytes(value.v_ints.data, value.v_ints.size * sizeof(int64_t));
      return true;
    default:
      break;
  }
  if (const DLTensor* number = TypedNumber(value, type_code)) {
    AddArray(*number, 0);
    return true;
  }
  if (ObjectTypeOf(value, type_code) == kMXNetObjectShape) {
    const MXNetIntArray ints = static_cast<const MXNetShapeObject*>(value.v_handle)->ints;
    Add(TypeWord(kMXNetIntTuple, ints.size));
    AddBytes(ints.data, ints.size * sizeof(int64_t));
    return true;
  }
  const MXNetAnyArray* items = ItemsOf(value, type_code);
  if (items == nullptr || type_code == kMXNetDict) return false;
  Add(TypeWord(kMXNetTuple, items->size));
  return AddItems(items->data, items->size);
}

int CallKey::Read(const Call& call, const void* device) {
  Add(reinterpret_cast<uintptr_t>(&call.func));
  Add(reinterpret_cast<uintptr_t>(device));
  for (int i = 0; i < call.args.size; ++i) {
    if (i == call.devices.context_index) continue;
    if (!AddValue(call.args.values[i], call.args.type_codes[i])) return i;
  }
  Hash();
  return -1;
}

}  // namespace acc
}  // namespace mxnet
