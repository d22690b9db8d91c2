/*!
 * \file mxnet/runtime/container/array.h
 * \brief Tuple (MXNet's ADT) and Array: immutable spans of owned values.
 */
#ifndef MXNET_RUNTIME_CONTAINER_ARRAY_H_
#define MXNET_RUNTIME_CONTAINER_ARRAY_H_

#include <mxnet/runtime/any.h>

#include <initializer_list>
#include <vector>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

struct SeqStorage {
  MXNetSeqObject object;
  std::vector<Any> items;
};

inline Object* MakeSeqObject(std::vector<Any> items, uint32_t type_index) {
  static_assert(sizeof(Any) == sizeof(MXNetAny), "Any adds nothing to MXNetAny");
  auto* storage = new SeqStorage{{}, std::move(items)};
  storage->object.header = MXNetObject{1, type_index, &DeleteObject<SeqStorage>, nullptr};
  storage->object.items = MXNetAnyArray{reinterpret_cast<const MXNetAny*>(storage->items.data()),
                                        storage->items.size()};
  return &storage->object.header;
}

}  // namespace details MXNET_HIDDEN

/*! \brief What Tuple and Array share; elements are shared, never copied. */
template <uint32_t kTypeIndex>
class SeqRef : public ObjectRef {
 public:
  SeqRef() : SeqRef(std::vector<Any>()) {}
  explicit SeqRef(std::vector<Any> items)
      : ObjectRef(ObjectRef::Steal(details::MakeSeqObject(std::move(items), kTypeIndex))) {}
  explicit SeqRef(ObjectRef ref) : ObjectRef(std::move(ref)) {}

  size_t size() const noexcept { return run().size; }
  bool empty() const noexcept { return size() == 0; }
  const Any* begin() const noexcept { return reinterpret_cast<const Any*>(run().data); }
  const Any* end() const noexcept { return begin() + size(); }

  /*! \brief Element i, or an IndexError. */
  const Any& at(size_t i) const {
    if (i >= size()) {
      MXNET_THROW("IndexError") << "index " << i << " is out of range for " << size() << " items";
    }
    return begin()[i];
  }
  const Any& operator[](size_t i) const { return at(i); }

 private:
  const MXNetAnyArray& run() const noexcept { return as<MXNetSeqObject>()->items; }
};

/*! \brief A fixed row of values, a Python tuple. */
using Tuple = SeqRef<kMXNetObjectTuple>;
using ADT = Tuple;

/*! \brief A list of values. T says what its elements are taken as; Any leaves that open. */
template <typename T = Any>
class Array : public SeqRef<kMXNetObjectArray> {
 public:
  using SeqRef<kMXNetObjectArray>::SeqRef;
  Array() = default;
  Array(const std::vector<T>& items);  // NOLINT(runtime/explicit): defined in type_traits.h
  Array(std::initializer_list<T> items) : Array(std::vector<T>(items)) {}

  T operator[](size_t i) const { return this->at(i).template As<T>(); }
};

template <>
class Array<Any> : public SeqRef<kMXNetObjectArray> {
 public:
  using SeqRef<kMXNetObjectArray>::SeqRef;
  Array() = default;
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_CONTAINER_ARRAY_H_
