/*!
 * \file call_key.h
 * \brief What selects the executor of a call: operator, attributes, and specs of the arrays.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_CALL_KEY_H_
#define MXNET_SRC_ACC_DISPATCH_CALL_KEY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "acc/dispatch/call.h"
#include "runtime/ndarray/ndarray.h"

namespace mxnet {
namespace acc {

/*!
 * \brief A span of words, equal for calls that one executor serves.
 *
 * Of arrays on the device it holds the spec, of other arguments the value.
 */
class CallKey {
 public:
  CallKey() = default;
  CallKey(const CallKey& other);
  CallKey& operator=(const CallKey&) = delete;

  /*!
   * \brief Reads the arguments; returns the index of the first that cannot be passed to a library,
   * or -1.
   */
  int Read(const Call& call, const void* device);
  /*!
   * \brief Whether this is the key of a call with these arguments, whose arrays are all in ctx.
   *
   * Calls visit(array) for each of them. False, too, with arguments other than arrays and plain
   * numbers, which are not compared here.
   */
  template <typename Visit>
  bool IsOf(const FunctionObject& func, const void* device, const CallArguments& args, Context ctx,
            Visit&& visit) const;

  uint64_t hash() const { return hash_; }
  /*! \brief The word of an array's ndim and type; differs from every TypeWord by the lanes. */
  static uint64_t SpecWord(const DLTensor& tensor) {
    uint64_t word;
    static_assert(offsetof(DLTensor, dtype) == offsetof(DLTensor, ndim) + sizeof(tensor.ndim) &&
                      sizeof(tensor.ndim) + sizeof(tensor.dtype) == sizeof(word),
                  "both are one word");
    std::memcpy(&word, &tensor.ndim, sizeof(word));
    return word;
  }
  friend bool operator==(const CallKey& a, const CallKey& b) {
    return a.size_ == b.size_ && std::memcmp(a.words_, b.words_, a.size_ * sizeof(uint64_t)) == 0;
  }

 private:
  static constexpr size_t kInline = 64;

  /*! \brief The first word of an argument that is no array. */
  static uint64_t TypeWord(int type_code, size_t size) {
    return static_cast<uint64_t>(static_cast<uint32_t>(type_code)) << 32 | size;
  }

  void Add(uint64_t word) {
    Reserve(1);
    words_[size_++] = word;
  }
  void Reserve(size_t more) {
    if (__builtin_expect(capacity_ - size_ < more, 0)) Grow(more);
  }
  void AddBytes(const void* data, size_t size);
  void AddArray(const DLTensor& tensor, uint64_t flags);
  bool AddOther(const MXNetValue& value, int type_code);
  bool AddValue(const MXNetValue& value, int type_code);
  bool AddItems(const MXNetAny* items, size_t size);
  void Grow(size_t more);
  void Hash();

  uint64_t* words_{inline_};
  size_t size_{0};
  size_t capacity_{kInline};
  uint64_t hash_{0};
  uint64_t inline_[kInline];
  std::unique_ptr<uint64_t[]> large_;
};

template <typename Visit>
inline bool CallKey::IsOf(const FunctionObject& func, const void* device, const CallArguments& args,
                          Context ctx, Visit&& visit) const {
  const uint64_t* at = words_;
  const uint64_t* end = words_ + size_;
  if (*at++ != reinterpret_cast<uintptr_t>(&func)) return false;
  if (*at++ != reinterpret_cast<uintptr_t>(device)) return false;
  for (int i = 0; i < args.size; ++i) {
    if (at == end) return false;
    const MXNetValue& value = args.values[i];
    const int type_code = args.type_codes[i];
    if (type_code == kMXNetNDArrayHandle) {
      const auto* array = static_cast<const ArrayObject*>(value.v_handle);
      const DLTensor& tensor = array->visible.tensor;
      if (tensor.device != ctx || *at++ != SpecWord(tensor)) return false;
      const auto extents = 2 * static_cast<size_t>(tensor.ndim);
      if (std::memcmp(at, ExtentsOf(array), extents * sizeof(*at)) != 0) return false;
      at += extents;
      visit(array);
    } else if (type_code == kMXNetNull || type_code == kMXNetMissing) {
      if (*at++ != TypeWord(type_code, 0)) return false;
    } else if (type_code == kMXNetInt || type_code == kMXNetFloat || type_code == kMXNetBool) {
      if (*at++ != TypeWord(type_code, 0) || *at++ != value.v_uint64) return false;
    } else {
      return false;
    }
  }
  return at == end;
}

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_CALL_KEY_H_
