/*!
 * \file mxnet/runtime/container/list.h
 * \brief List: a span of owned values that can be changed, and that all its owners see change.
 */
#ifndef MXNET_RUNTIME_CONTAINER_LIST_H_
#define MXNET_RUNTIME_CONTAINER_LIST_H_

#include <mxnet/runtime/any.h>

#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

/*!
 * \brief A span of values in memory of malloc, as the C structs of mutable containers have it.
 *
 * Not a std::vector: another library, with another standard library, may change the container. What
 * a change drops is released when the container is whole again, for that may run any code.
 */
class MutableRun {
 public:
  MutableRun(MXNetAnyArray* items, size_t* capacity) : items_(items), capacity_(capacity) {}

  Any* data() const noexcept {
    return const_cast<Any*>(reinterpret_cast<const Any*>(items_->data));
  }
  size_t size() const noexcept { return items_->size; }

  void Insert(size_t at, std::vector<Any> values) const {
    Reserve(size() + values.size());
    Any* gap = data() + at;
    Shift(gap, gap + values.size(), size() - at);
    for (size_t i = 0; i < values.size(); ++i) new (gap + i) Any(std::move(values[i]));
    items_->size += values.size();
  }

  std::vector<Any> Erase(size_t at, size_t count) const {
    Any* first = data() + at;
    std::vector<Any> erased;
    erased.reserve(count);
    for (size_t i = 0; i < count; ++i) erased.push_back(std::move(first[i]));
    Shift(first + count, first, size() - at - count);
    items_->size -= count;
    return erased;
  }

  /*! \brief Has room for so many values, or throws std::bad_alloc and changes nothing. */
  void Reserve(size_t needed) const {
    if (needed <= *capacity_) return;
    // Without std::max: <algorithm> is a tenth of what the compiler reads for a small library.
    size_t capacity = needed > 4 ? needed : 4;
    if (capacity < 2 * *capacity_) capacity = 2 * *capacity_;
    void* data = capacity > SIZE_MAX / sizeof(Any)
                     ? nullptr
                     : std::realloc(static_cast<void*>(this->data()), capacity * sizeof(Any));
    if (data == nullptr) throw std::bad_alloc();
    items_->data = static_cast<const MXNetAny*>(data);
    *capacity_ = capacity;
  }

  void Free() const noexcept {
    for (size_t i = 0; i < size(); ++i) data()[i].~Any();
    std::free(data());
  }

 private:
  /*! \brief An Any is its bits and nothing refers to its address, so that it moves as memory does.
   */
  static void Shift(Any* from, Any* to, size_t count) noexcept {
    if (count > 0) {
      std::memmove(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(Any));
    }
  }

  MXNetAnyArray* items_;
  size_t* capacity_;
};

inline MutableRun RunOf(MXNetListObject* list) noexcept { return {&list->items, &list->capacity}; }

inline void DestroyList(Object* self) {
  auto* list = reinterpret_cast<MXNetListObject*>(self);
  RunOf(list).Free();
  delete list;
}

inline Object* MakeListObject(std::vector<Any> items) {
  auto* list = new MXNetListObject();
  list->header = MXNetObject{1, kMXNetObjectList,
                             [](Object* self) { DeleteInTurn(self, &DestroyList); }, nullptr};
  const ObjectRef owner = ObjectRef::Steal(list);
  RunOf(list).Insert(0, std::move(items));
  return ObjectRef(owner).Detach();
}

}  // namespace details MXNET_HIDDEN

/*!
 * \brief A list of values that can be changed. T says what its elements are taken as.
 *
 * Copies share the list. It has no lock of its own: whoever changes it from several threads brings
 * one, and Python's lock is one.
 */
template <typename T = Any>
class List : public ObjectRef {
 public:
  List() : List(std::vector<Any>()) {}
  explicit List(std::vector<Any> items)
      : ObjectRef(ObjectRef::Steal(details::MakeListObject(std::move(items)))) {}
  explicit List(ObjectRef ref) : ObjectRef(std::move(ref)) {}

  size_t size() const noexcept { return run().size(); }
  bool empty() const noexcept { return size() == 0; }
  /*! \brief The elements, until the next change. */
  const Any* begin() const noexcept { return run().data(); }
  const Any* end() const noexcept { return begin() + size(); }

  /*! \brief Element i, or an IndexError. */
  const Any& at(size_t i) const {
    Check(i, size());
    return begin()[i];
  }
  T operator[](size_t i) const { return at(i).template As<T>(); }

  /*! \brief Replaces element i, or an IndexError. */
  void Set(size_t i, T value) const {
    Any any = Own(std::move(value));
    Check(i, size());
    std::swap(run().data()[i], any);
  }
  void push_back(T value) const { Insert(size(), std::move(value)); }
  /*! \brief Puts a value before element i; i may be the size. */
  void Insert(size_t i, T value) const {
    std::vector<Any> values;
    values.push_back(Own(std::move(value)));
    Check(i, size() + 1);
    run().Insert(i, std::move(values));
  }
  /*! \brief Removes count elements from element i on. */
  void Erase(size_t i, size_t count = 1) const { Replace(i, count, {}); }
  /*! \brief Replaces count elements from element i on. */
  void Replace(size_t i, size_t count, std::vector<Any> values) const {
    Check(i, size() + 1);
    if (count > size() - i) {
      MXNET_THROW("IndexError") << count << " elements from index " << i
                                << " on are out of range for a list";
    }
    // Before anything changes, so that where there is no memory the list stays as it was.
    run().Reserve(size() - count + values.size());
    // Released last: that may run code which changes the list again.
    const std::vector<Any> erased = run().Erase(i, count);
    run().Insert(i, std::move(values));
  }
  void clear() const { run().Erase(0, size()); }

 private:
  static Any Own(T value);  // defined in type_traits.h

  static void Check(size_t i, size_t limit) {
    if (i >= limit) MXNET_THROW("IndexError") << "index " << i << " is out of range for a list";
  }
  details::MutableRun run() const noexcept {
    return details::RunOf(reinterpret_cast<MXNetListObject*>(get()));
  }
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_CONTAINER_LIST_H_
