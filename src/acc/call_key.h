/*!
 * \file call_key.h
 * \brief What selects the executor of a call: operator, attributes, and geometry of the arrays.
 */
#ifndef MXNET_SRC_ACC_CALL_KEY_H_
#define MXNET_SRC_ACC_CALL_KEY_H_

#include <cstdint>
#include <cstring>
#include <memory>

#include "acc/call.h"

namespace mxnet {
namespace acc {

/*!
 * \brief A run of words, equal for calls that one executor serves.
 *
 * Of arrays on the device it holds the geometry, of other arguments the value.
 */
class CallKey {
 public:
  CallKey() = default;
  CallKey(const CallKey& other);
  CallKey& operator=(const CallKey&) = delete;

  /*! \brief False where an argument is of a kind that no executor is asked for. */
  bool Read(const Call& call, const void* device);
  /*! \brief Whether this is the key of a call; false, too, where only reading it would tell. */
  bool IsOf(const Call& call, const void* device) const;

  uint64_t hash() const { return hash_; }
  friend bool operator==(const CallKey& a, const CallKey& b) {
    return a.size_ == b.size_ && std::memcmp(a.words_, b.words_, a.size_ * sizeof(uint64_t)) == 0;
  }

 private:
  static constexpr size_t kInline = 64;

  void Add(uint64_t word) {
    Reserve(1);
    words_[size_++] = word;
  }
  void Reserve(size_t more) {
    if (__builtin_expect(capacity_ - size_ < more, 0)) Grow(more);
  }
  void AddBytes(const void* data, size_t size);
  void AddArray(const DLTensor& tensor);
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

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_CALL_KEY_H_
