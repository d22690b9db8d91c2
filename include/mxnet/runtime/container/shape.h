/*!
 * \file mxnet/runtime/container/shape.h
 * \brief Shape, an immutable span of integers, and ShapeView, which borrows one.
 */
#ifndef MXNET_RUNTIME_CONTAINER_SHAPE_H_
#define MXNET_RUNTIME_CONTAINER_SHAPE_H_

#include <mxnet/runtime/object.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief A borrowed span of integers: extents, strides or axes. Valid as long as its owner. */
class ShapeView {
 public:
  ShapeView() = default;
  ShapeView(const int64_t* data, size_t size) : data_(data), size_(size) {}
  ShapeView(const std::vector<int64_t>& dims)  // NOLINT(runtime/explicit)
      : ShapeView(dims.data(), dims.size()) {}

  const int64_t* data() const noexcept { return data_; }
  const int64_t* begin() const noexcept { return data_; }
  const int64_t* end() const noexcept { return data_ + size_; }
  size_t size() const noexcept { return size_; }
  int ndim() const noexcept { return static_cast<int>(size_); }
  int64_t operator[](size_t i) const noexcept { return data_[i]; }

  friend bool operator==(const ShapeView& a, const ShapeView& b) noexcept {
    return a.size_ == b.size_ &&
           (a.size_ == 0 || std::memcmp(a.data_, b.data_, a.size_ * sizeof(int64_t)) == 0);
  }
  friend bool operator!=(const ShapeView& a, const ShapeView& b) noexcept { return !(a == b); }

  /*! \brief As Python writes it: "(3, 4)", "(3,)". */
  std::string str() const {
    std::string text = "(";
    for (size_t i = 0; i < size_; ++i) {
      if (i > 0) text += ", ";
      text += std::to_string(data_[i]);
    }
    return text + (size_ == 1 ? ",)" : ")");
  }

 private:
  const int64_t* data_{nullptr};
  size_t size_{0};
};

/*! \brief An owned span of integers. */
class Shape : public ObjectRef {
 public:
  Shape() : Shape(ShapeView()) {}
  Shape(ShapeView dims) : ObjectRef(ObjectRef::Steal(Make(dims))) {}  // NOLINT(runtime/explicit)
  Shape(std::initializer_list<int64_t> dims) : Shape(ShapeView(dims.begin(), dims.size())) {}
  explicit Shape(ObjectRef ref) : ObjectRef(std::move(ref)) {}

  operator ShapeView() const noexcept { return view(); }
  ShapeView view() const noexcept {
    const MXNetIntArray& ints = as<MXNetShapeObject>()->ints;
    return {ints.data, ints.size};
  }
  size_t size() const noexcept { return view().size(); }
  int64_t operator[](size_t i) const noexcept { return view()[i]; }

 private:
  static Object* Make(ShapeView dims) {
    void* memory = ::operator new(sizeof(MXNetShapeObject) + dims.size() * sizeof(int64_t));
    auto* obj = new (memory) MXNetShapeObject();
    int64_t* data = reinterpret_cast<int64_t*>(obj + 1);
    if (dims.size() > 0) std::memcpy(data, dims.data(), dims.size() * sizeof(int64_t));
    obj->header = MXNetObject{1, kMXNetObjectShape,
                              [](MXNetObject* self) { ::operator delete(self); }, nullptr};
    obj->ints = MXNetIntArray{data, dims.size()};
    return &obj->header;
  }
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_CONTAINER_SHAPE_H_
