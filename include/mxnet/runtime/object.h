/*!
 * \file mxnet/runtime/object.h
 * \brief ObjectRef: the C++ owner of one reference to a reference-counted object.
 */
#ifndef MXNET_RUNTIME_OBJECT_H_
#define MXNET_RUNTIME_OBJECT_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace mxnet {
namespace runtime {

/*! \brief The C header of an object; concrete objects are structs that begin with it. */
using Object = MXNetObject;

namespace details MXNET_HIDDEN {

inline void Retain(Object* obj) noexcept {
  if (obj != nullptr) __atomic_fetch_add(&obj->ref_count, 1, __ATOMIC_RELAXED);
}

inline void Release(Object* obj) noexcept {
  if (obj == nullptr) return;
  // A sole owner cannot race with anybody, which saves the locked decrement.
  if (__atomic_load_n(&obj->ref_count, __ATOMIC_ACQUIRE) == 1 ||
      __atomic_fetch_sub(&obj->ref_count, 1, __ATOMIC_ACQ_REL) == 1) {
    obj->deleter(obj);
  }
}

/*! \brief How deep deleters called deleters on this thread, and the objects that wait for them. */
struct Deletions {
  int depth;
  Object* waiting;
};
inline thread_local Deletions deletions{0, nullptr};

/*!
 * \brief Destroys an object that may hold the last reference to others, and so on.
 *
 * A chain of millions must not need stack for each link: what lies too deep waits, linked through
 * the words of its header that nobody reads any more, until the deletions before it are over.
 */
inline void DeleteInTurn(Object* obj, void (*destroy)(Object*)) noexcept {
  constexpr int kMaxDepth = 64;
  static_assert(offsetof(Object, deleter) >= sizeof(Object*), "a link fits before the deleter");
  if (deletions.depth >= kMaxDepth) {
    std::memcpy(static_cast<void*>(obj), &deletions.waiting, sizeof(Object*));
    deletions.waiting = obj;
    return;
  }
  ++deletions.depth;
  destroy(obj);
  while (deletions.depth == 1 && deletions.waiting != nullptr) {
    Object* next = deletions.waiting;
    std::memcpy(&deletions.waiting, static_cast<const void*>(next), sizeof(Object*));
    next->deleter(next);
  }
  --deletions.depth;
}

template <typename T>
void DestroyObject(Object* obj) {
  delete reinterpret_cast<T*>(obj);
}

template <typename T>
void DeleteObject(Object* obj) {
  DeleteInTurn(obj, &DestroyObject<T>);
}

}  // namespace details MXNET_HIDDEN

/*!
 * \brief Allocates a T, a struct whose first member is `MXNetObject header`, with one reference.
 *
 * The destructor of T runs in the library that made it, whoever drops the last reference.
 */
template <typename T>
T* NewObject(uint32_t type_index) {
  T* obj = new T();
  obj->header.ref_count = 1;
  obj->header.type_index = type_index;
  obj->header.deleter = &details::DeleteObject<T>;
  return obj;
}

/*! \brief Owns a reference to an object, or nothing. Copies share the object. */
class ObjectRef {
 public:
  ObjectRef() = default;
  ObjectRef(std::nullptr_t) {}  // NOLINT(runtime/explicit)
  ObjectRef(const ObjectRef& other) noexcept : ptr_(other.ptr_) { details::Retain(ptr_); }
  ObjectRef(ObjectRef&& other) noexcept : ptr_(other.ptr_) { other.ptr_ = nullptr; }
  ObjectRef& operator=(ObjectRef other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  ~ObjectRef() { details::Release(ptr_); }

  /*! \brief Takes over a reference the caller owns, as a C function's `out` gives it. */
  static ObjectRef Steal(void* handle) noexcept {
    ObjectRef ref;
    ref.ptr_ = static_cast<Object*>(handle);
    return ref;
  }

  /*! \brief Adds a reference to a borrowed handle. */
  static ObjectRef Borrow(void* handle) noexcept {
    details::Retain(static_cast<Object*>(handle));
    return Steal(handle);
  }

  /*! \brief Gives the reference up to the caller. */
  Object* Detach() noexcept {
    Object* ptr = ptr_;
    ptr_ = nullptr;
    return ptr;
  }

  Object* get() const noexcept { return ptr_; }
  bool defined() const noexcept { return ptr_ != nullptr; }
  explicit operator bool() const noexcept { return defined(); }
  bool same_as(const ObjectRef& other) const noexcept { return ptr_ == other.ptr_; }
  uint32_t type_index() const noexcept {
    return ptr_ == nullptr ? static_cast<uint32_t>(kMXNetObjectNone) : ptr_->type_index;
  }

 protected:
  template <typename T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(ptr_);
  }

 private:
  Object* ptr_{nullptr};
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_OBJECT_H_
