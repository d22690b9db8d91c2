/*!
 * \file mxnet/runtime/container/map.h
 * \brief Map: an immutable dictionary that keeps the order of insertion.
 */
#ifndef MXNET_RUNTIME_CONTAINER_MAP_H_
#define MXNET_RUNTIME_CONTAINER_MAP_H_

#include <mxnet/runtime/any.h>
#include <mxnet/runtime/container/map_key.h>

#include <string_view>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

/*! \brief Where `key` is, or where it would go, in an open-addressing index. */
inline size_t FindSlot(const MXNetAnyArray& items, const int64_t* index, size_t capacity,
                       uint64_t seed, const MXNetAny& key) noexcept {
  size_t slot = MapKey::Hash(key, seed) & (capacity - 1);
  while (index[slot] >= 0 && !MapKey::Equal(items.data[2 * index[slot]], key)) {
    slot = (slot + 1) & (capacity - 1);
  }
  return slot;
}

/*! \brief Number of the entry with this key, or -1. */
inline int64_t FindEntry(const MXNetMapObject& map, const MXNetAny& key) noexcept {
  if (map.index != nullptr) {
    return map.index[FindSlot(map.items, map.index, map.index_capacity, map.seed, key)];
  }
  for (size_t i = 0; i < map.items.size; i += 2) {
    if (MapKey::Equal(map.items.data[i], key)) return static_cast<int64_t>(i / 2);
  }
  return -1;
}

struct MapStorage {
  MXNetMapObject object;
  std::vector<Any> items;
  std::vector<int64_t> index;
};

/*! \brief Drops all but the last value of a key that repeats, as a Python dict display does. */
inline void IndexEntries(MapStorage* map) {
  const size_t entries = map->items.size() / 2;
  size_t capacity = 8;
  while (capacity < entries * 2) capacity *= 2;
  map->index.assign(capacity, -1);
  MXNetAnyArray run{reinterpret_cast<const MXNetAny*>(map->items.data()), 0};
  size_t kept = 0;
  for (size_t i = 0; i < entries; ++i) {
    size_t slot =
        FindSlot(run, map->index.data(), capacity, map->object.seed, map->items[2 * i].raw());
    if (map->index[slot] >= 0) {
      map->items[2 * map->index[slot] + 1] = std::move(map->items[2 * i + 1]);
      continue;
    }
    if (kept != i) {
      map->items[2 * kept] = std::move(map->items[2 * i]);
      map->items[2 * kept + 1] = std::move(map->items[2 * i + 1]);
    }
    map->index[slot] = static_cast<int64_t>(kept++);
  }
  map->items.resize(2 * kept);
}

/*! \brief A map of the run key, value, key, value, ... */
inline Object* MakeMapObject(std::vector<Any> items) {
  auto* map = new MapStorage{{}, std::move(items), {}};
  map->object.seed = MapKey::NewSeed(map);
  IndexEntries(map);
  map->object.header = MXNetObject{1, kMXNetObjectMap, &DeleteObject<MapStorage>, nullptr};
  map->object.items =
      MXNetAnyArray{reinterpret_cast<const MXNetAny*>(map->items.data()), map->items.size()};
  map->object.index = map->index.data();
  map->object.index_capacity = map->index.size();
  return &map->object.header;
}

}  // namespace details MXNET_HIDDEN

/*! \brief An entry of a Map or Dict, which has them one behind the other. */
struct MapEntry {
  Any key;
  Any value;
};

/*! \brief A dictionary of owned keys and values; K and V say what they are taken as. */
template <typename K = Any, typename V = Any>
class Map : public ObjectRef {
 public:
  Map() : Map(std::vector<Any>()) {}
  /*! \brief Of the run key, value, key, value, ... */
  explicit Map(std::vector<Any> items)
      : ObjectRef(ObjectRef::Steal(details::MakeMapObject(std::move(items)))) {}
  Map(std::initializer_list<std::pair<K, V>> entries);  // defined in type_traits.h
  explicit Map(ObjectRef ref) : ObjectRef(std::move(ref)) {}

  size_t size() const noexcept { return object().items.size / 2; }
  /*! \brief Key and value of entry i, in order of insertion. */
  const Any& key(size_t i) const noexcept { return entries()[2 * i]; }
  const Any& value(size_t i) const noexcept { return entries()[2 * i + 1]; }
  /*! \brief The entries, `for (const auto& [key, value] : map)`. */
  const MapEntry* begin() const noexcept { return reinterpret_cast<const MapEntry*>(entries()); }
  const MapEntry* end() const noexcept { return begin() + size(); }
  bool count(const K& key) const;
  /*! \brief The value of a key, or a KeyError. */
  V at(const K& key) const;
  V operator[](const K& key) const { return at(key); }

 private:
  const MXNetMapObject& object() const noexcept { return *as<MXNetMapObject>(); }
  const Any* entries() const noexcept { return reinterpret_cast<const Any*>(object().items.data); }
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_CONTAINER_MAP_H_
