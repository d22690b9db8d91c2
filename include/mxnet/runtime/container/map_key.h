/*!
 * \file mxnet/runtime/container/map_key.h
 * \brief Equality and hash of the keys of a Map.
 */
#ifndef MXNET_RUNTIME_CONTAINER_MAP_KEY_H_
#define MXNET_RUNTIME_CONTAINER_MAP_KEY_H_

#include <mxnet/runtime/any.h>

#include <chrono>
#include <cstring>
#include <string_view>
#if __has_include(<sys/random.h>)
#include <sys/random.h>
#endif

namespace mxnet {
namespace runtime {
namespace details MXNET_HIDDEN {

/*!
 * \brief Keys are equal where Python's are: text and bytes by content, numbers by value whatever
 *        their kind, tuples by their elements, everything else by identity.
 */
struct MapKey {
  static bool AsText(const MXNetAny& key, std::string_view* out) noexcept {
    return ReadBytes(key, kMXNetStr, kMXNetObjectString, out);
  }

  /*! \brief A hash all bits of which depend on all bits of the key and of the map's seed. */
  static size_t Hash(const MXNetAny& key, uint64_t seed) noexcept {
    std::string_view bytes;
    if (AsText(key, &bytes) || AsBytes(key, &bytes)) return HashBytes(bytes, seed);
    const size_t size = TupleSize(key);
    if (size != kNoTuple) {
      uint64_t hash = seed;
      for (size_t i = 0; i < size; ++i) hash = Hash(TupleItem(key, i), hash);
      return static_cast<size_t>(Mix(size, hash));
    }
    const MXNetAny number = Plain(key);
    if (number.type_code == kMXNetComplex) {
      uint64_t parts[2];
      std::memcpy(parts, number.value.v_complex, sizeof(parts));
      return static_cast<size_t>(Mix(parts[0], Mix(parts[1], seed)));
    }
    return static_cast<size_t>(Mix(number.value.v_uint64, seed));
  }

  /*! \brief A seed for a new map, which differs from process to process and from map to map. */
  static uint64_t NewSeed(const void* map) noexcept {
    static const uint64_t random = ProcessSeed();
    return Mix(reinterpret_cast<uintptr_t>(map), random);
  }

  static bool Equal(const MXNetAny& a, const MXNetAny& b) noexcept {
    std::string_view left, right;
    if (AsText(a, &left)) return AsText(b, &right) && left == right;
    if (AsBytes(a, &left)) return AsBytes(b, &right) && left == right;
    const size_t size = TupleSize(a);
    if (size != TupleSize(b)) return false;
    if (size != kNoTuple) {
      for (size_t i = 0; i < size; ++i) {
        if (!Equal(TupleItem(a, i), TupleItem(b, i))) return false;
      }
      return true;
    }
    const MXNetAny x = Plain(a);
    const MXNetAny y = Plain(b);
    if (x.type_code != y.type_code) return false;
    if (x.type_code == kMXNetComplex) {
      return std::memcmp(x.value.v_complex, y.value.v_complex, sizeof(x.value.v_complex)) == 0;
    }
    return x.value.v_int64 == y.value.v_int64;
  }

 private:
  static constexpr size_t kNoTuple = static_cast<size_t>(-1);

  /*! \brief A number of the process's own, that nobody else has a use for or can tell. */
  [[gnu::cold, gnu::noinline]] static uint64_t ProcessSeed() noexcept {
    uint64_t random = 0;
#if __has_include(<sys/random.h>)
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random)) return random;
#endif
    // Where the kernel has none, as right after its start: the time, and where the stack is.
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return Mix(static_cast<uint64_t>(now), reinterpret_cast<uintptr_t>(&random));
  }

  // Not std::hash: a map made by one library is looked into by others, which may have another one.
  static uint64_t Mix(uint64_t bits, uint64_t seed) noexcept {
    // Both halves of a product: the low one alone has nothing of the high bits of the key in its
    // low bits, which choose the slot.
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = static_cast<Wide>(bits ^ seed) * 0x9E3779B97F4A7C15u;
    const auto mixed = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    return mixed ^ (mixed >> 32);
  }

  static size_t HashBytes(std::string_view bytes, uint64_t seed) noexcept {
    const char* data = bytes.data();
    size_t left = bytes.size();
    uint64_t hash = seed ^ left;
    uint64_t word;
    for (; left >= sizeof(word); left -= sizeof(word), data += sizeof(word)) {
      std::memcpy(&word, data, sizeof(word));
      hash = Mix(word, hash);
    }
    word = 0;
    if (left > 0) std::memcpy(&word, data, left);
    return static_cast<size_t>(Mix(word, hash));
  }

  static bool ReadBytes(const MXNetAny& key, int borrowed, uint32_t object,
                        std::string_view* out) noexcept {
    if (key.type_code == borrowed) {
      *out = {key.value.v_str.data, key.value.v_str.size};
      return true;
    }
    if (ObjectTypeOf(key.value, key.type_code) != object) return false;
    const auto* bytes = static_cast<const MXNetBytesObject*>(key.value.v_handle);
    *out = {bytes->bytes.data, bytes->bytes.size};
    return true;
  }

  static bool AsBytes(const MXNetAny& key, std::string_view* out) noexcept {
    return ReadBytes(key, kMXNetBytes, kMXNetObjectBytes, out);
  }

  /*! \brief Number of elements of a Shape or Tuple, kNoTuple for anything else. */
  static size_t TupleSize(const MXNetAny& key) noexcept {
    switch (ObjectTypeOf(key.value, key.type_code)) {
      case kMXNetObjectShape:
        return static_cast<const MXNetShapeObject*>(key.value.v_handle)->ints.size;
      case kMXNetObjectTuple:
        return static_cast<const MXNetSeqObject*>(key.value.v_handle)->items.size;
      default:
        return kNoTuple;
    }
  }

  static MXNetAny TupleItem(const MXNetAny& key, size_t i) noexcept {
    if (ObjectTypeOf(key.value, key.type_code) == kMXNetObjectTuple) {
      return static_cast<const MXNetSeqObject*>(key.value.v_handle)->items.data[i];
    }
    MXNetAny item{};
    item.type_code = kMXNetInt;
    item.value.v_int64 = static_cast<const MXNetShapeObject*>(key.value.v_handle)->ints.data[i];
    return item;
  }

  /*! \brief The simplest kind that holds a number: True and 1.0 and 1+0j are all the int 1. */
  static MXNetAny Plain(MXNetAny key) noexcept {
    if (key.type_code == kMXNetBool || key.type_code == kMXNetEnum) key.type_code = kMXNetInt;
    if (key.type_code == kMXNetComplex) {
      // Adding 0.0 turns -0.0 into 0.0, which equals it.
      key.value.v_complex[0] += 0.0;
      key.value.v_complex[1] += 0.0;
      if (key.value.v_complex[1] == 0.0) {
        key.type_code = kMXNetFloat;
        key.value.v_float64 = key.value.v_complex[0];
      }
    }
    if (key.type_code == kMXNetFloat) {
      constexpr double kLimit = 9223372036854775808.0;  // 2**63
      const double value = key.value.v_float64;
      if (value == __builtin_floor(value) && value >= -kLimit && value < 2 * kLimit) {
        key.type_code = value < kLimit ? kMXNetInt : kMXNetUInt;
        if (value < kLimit) {
          key.value.v_int64 = static_cast<int64_t>(value);
        } else {
          key.value.v_uint64 = static_cast<uint64_t>(value);
        }
      }
    }
    if (key.type_code == kMXNetNull) key.value.v_int64 = 0;
    if (key.type_code == kMXNetType) {
      // Half of the words compared; the rest may be anything.
      const DLDataType dtype = key.value.v_type;
      key.value.v_int64 = 0;
      key.value.v_type = dtype;
    }
    return key;
  }
};

}  // namespace details MXNET_HIDDEN
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_CONTAINER_MAP_KEY_H_
