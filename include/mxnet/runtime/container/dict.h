/*!
 * \file mxnet/runtime/container/dict.h
 * \brief Dict: a dictionary that can be changed, and that all its owners see change.
 */
#ifndef MXNET_RUNTIME_CONTAINER_DICT_H_
#define MXNET_RUNTIME_CONTAINER_DICT_H_

#include <mxnet/runtime/container/list.h>
#include <mxnet/runtime/container/map.h>

#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

inline MutableRun RunOf(MXNetDictObject* dict) noexcept {
  return {&dict->map.items, &dict->capacity};
}

/*! \brief Makes the index anew, in the memory it has. */
inline void FillIndex(MXNetDictObject* dict) noexcept {
  auto* index = const_cast<int64_t*>(dict->map.index);
  if (index == nullptr) return;
  const size_t capacity = dict->map.index_capacity;
  std::memset(index, -1, capacity * sizeof(int64_t));
  for (size_t i = 0; i < dict->map.items.size / 2; ++i) {
    index[FindSlot(dict->map.items, index, capacity, dict->map.seed, dict->map.items.data[2 * i])] =
        static_cast<int64_t>(i);
  }
}

/*! \brief Gives the index room for a number of entries. */
inline void ReserveIndex(MXNetDictObject* dict, size_t entries) {
  if (2 * entries <= dict->map.index_capacity) return;
  size_t capacity = 8;
  while (capacity < entries * 4) capacity *= 2;
  void* index = std::malloc(capacity * sizeof(int64_t));
  if (index == nullptr) throw std::bad_alloc();
  std::free(const_cast<int64_t*>(dict->map.index));
  dict->map.index = static_cast<int64_t*>(index);
  dict->map.index_capacity = capacity;
  FillIndex(dict);
}

inline void SetEntry(MXNetDictObject* dict, Any key, Any value) {
  const int64_t found = FindEntry(dict->map, key.raw());
  if (found >= 0) {
    std::swap(RunOf(dict).data()[2 * found + 1], value);
    return;
  }
  const size_t entry = dict->map.items.size / 2;
  ReserveIndex(dict, entry + 1);
  const size_t slot = FindSlot(dict->map.items, dict->map.index, dict->map.index_capacity,
                               dict->map.seed, key.raw());
  std::vector<Any> both;
  both.push_back(std::move(key));
  both.push_back(std::move(value));
  RunOf(dict).Insert(dict->map.items.size, std::move(both));
  const_cast<int64_t*>(dict->map.index)[slot] = static_cast<int64_t>(entry);
}

/*! \brief Removes an entry and returns its key and value. */
inline std::vector<Any> EraseEntry(MXNetDictObject* dict, size_t entry) {
  auto* index = const_cast<int64_t*>(dict->map.index);
  const size_t mask = dict->map.index_capacity - 1;
  size_t hole =
      FindSlot(dict->map.items, index, mask + 1, dict->map.seed, dict->map.items.data[2 * entry]);
  std::vector<Any> erased = RunOf(dict).Erase(2 * entry, 2);
  const auto number = static_cast<int64_t>(entry);
  if (2 * entry < dict->map.items.size) {
    for (size_t slot = 0; slot <= mask; ++slot) index[slot] -= index[slot] > number ? 1 : 0;
  }
  // Closes the gap that a search would end at: what can stand in it moves there.
  for (size_t slot = (hole + 1) & mask; index[slot] >= 0; slot = (slot + 1) & mask) {
    const size_t home = MapKey::Hash(dict->map.items.data[2 * index[slot]], dict->map.seed) & mask;
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
    index[hole] = index[slot];
    hole = slot;
  }
  index[hole] = -1;
  return erased;
}

inline void DestroyDict(Object* self) {
  auto* dict = reinterpret_cast<MXNetDictObject*>(self);
  RunOf(dict).Free();
  std::free(const_cast<int64_t*>(dict->map.index));
  delete dict;
}

/*! \brief A dict of the run key, value, key, value, ... */
inline Object* MakeDictObject(std::vector<Any> items) {
  auto* dict = new MXNetDictObject();
  dict->map.header = MXNetObject{1, kMXNetObjectDict,
                                 [](Object* self) { DeleteInTurn(self, &DestroyDict); }, nullptr};
  dict->map.seed = MapKey::NewSeed(dict);
  const ObjectRef owner = ObjectRef::Steal(dict);
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    SetEntry(dict, std::move(items[i]), std::move(items[i + 1]));
  }
  return ObjectRef(owner).Detach();
}

}  // namespace details MXNET_HIDDEN

/*!
 * \brief A dictionary that can be changed and keeps the order of insertion.
 *
 * Copies share the dict. As with List, changes from several threads need a lock. Removing the
 * entry added last takes the same time whatever the size; removing another one moves those behind
 * it.
 */
template <typename K = Any, typename V = Any>
class Dict : public ObjectRef {
 public:
  Dict() : Dict(std::vector<Any>()) {}
  /*! \brief Of the run key, value, key, value, ... */
  explicit Dict(std::vector<Any> items)
      : ObjectRef(ObjectRef::Steal(details::MakeDictObject(std::move(items)))) {}
  explicit Dict(ObjectRef ref) : ObjectRef(std::move(ref)) {}

  size_t size() const noexcept { return object()->map.items.size / 2; }
  /*! \brief Key and value of entry i, in order of insertion, until the next change. */
  const Any& key(size_t i) const noexcept { return details::RunOf(object()).data()[2 * i]; }
  const Any& value(size_t i) const noexcept { return details::RunOf(object()).data()[2 * i + 1]; }
  /*! \brief The entries, `for (const auto& [key, value] : map)`, until the next change. */
  const MapEntry* begin() const noexcept {
    return reinterpret_cast<const MapEntry*>(details::RunOf(object()).data());
  }
  const MapEntry* end() const noexcept { return begin() + size(); }
  bool count(const K& key) const { return Find(key) >= 0; }
  /*! \brief The value of a key, or a KeyError. */
  V at(const K& key) const {
    const int64_t entry = Find(key);
    if (entry < 0) MXNET_THROW("KeyError") << "the dict has no such key";
    return value(static_cast<size_t>(entry)).template As<V>();
  }
  V operator[](const K& key) const { return at(key); }

  /*! \brief Adds an entry, or replaces the value of one. */
  void Set(K key, V value) const;  // defined in type_traits.h
  /*! \brief Removes an entry; false where there is none. */
  bool Erase(const K& key) const {
    const int64_t entry = Find(key);
    if (entry >= 0) details::EraseEntry(object(), static_cast<size_t>(entry));
    return entry >= 0;
  }
  void clear() const {
    const std::vector<Any> erased = details::RunOf(object()).Erase(0, object()->map.items.size);
    details::FillIndex(object());
  }

 private:
  int64_t Find(const K& key) const;  // defined in type_traits.h
  MXNetDictObject* object() const noexcept { return reinterpret_cast<MXNetDictObject*>(get()); }
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_CONTAINER_DICT_H_
