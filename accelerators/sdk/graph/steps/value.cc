#include "value.h"

#include <algorithm>

#include "../../status.h"
#include "../../tensor.h"

namespace mxacc {
namespace {

int64_t Times(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) Unsupported("more elements than 64 bits count");
  return product;
}

}  // namespace

int64_t CountOf(const Extents& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count = Times(count, extent);
  return count;
}

Extents Range(size_t first, size_t last) {
  Extents axes;
  for (size_t i = first; i < last; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Extents RowMajorStrides(const Extents& shape) {
  Extents strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = Times(step, shape[i]);
  }
  return strides;
}

std::string NameOfType(MXAccDataType dtype) {
  static const char* const kKinds[] = {"int", "uint", "float", "", "bfloat", "complex"};
  if (dtype.code == kMXAccBool) return "bool";
  const bool known = dtype.code < sizeof(kKinds) / sizeof(*kKinds);
  return (known ? kKinds[dtype.code] : "") + std::to_string(dtype.bits);
}

int64_t Value::count() const { return CountOf(shape); }

size_t Value::bytes() const { return static_cast<size_t>(Times(count(), ItemSize(dtype))); }

bool Value::is_row_major() const { return IsRowMajor(tensor().tensor); }

MXTensor Value::tensor() const {
  MXTensor made{};
  made.struct_size = sizeof(made);
  made.tensor.device = MXAccDevice{kMXAccHost, 0};
  made.tensor.ndim = static_cast<int32_t>(shape.size());
  made.tensor.dtype = dtype;
  // MXTensor has no const for what nobody changes.
  made.tensor.shape = const_cast<int64_t*>(shape.data());
  made.tensor.strides = const_cast<int64_t*>(strides.data());
  return made;
}

Extents BroadcastShape(const Extents& a, const Extents& b) {
  Extents shape = a.size() >= b.size() ? a : b;
  const Extents& other = a.size() >= b.size() ? b : a;
  for (size_t i = 1; i <= other.size(); ++i) {
    int64_t& extent = shape[shape.size() - i];
    const int64_t wanted = other[other.size() - i];
    if (extent == 1) extent = wanted;
    if (wanted != 1 && wanted != extent) Unsupported("shapes that do not broadcast");
  }
  return shape;
}

Value Transposed(const Value& value, const Extents& axes) {
  Value view = value;
  for (size_t i = 0; i < axes.size(); ++i) {
    view.shape[i] = value.shape[static_cast<size_t>(axes[i])];
    view.strides[i] = value.strides[static_cast<size_t>(axes[i])];
  }
  return view;
}

std::optional<Value> Reshaped(const Value& value, const Extents& shape) {
  Value view = value;
  view.shape = shape;
  if (value.is_row_major()) {
    view.strides = RowMajorStrides(shape);
    return view;
  }
  // Axes of extent 1 have no say; the others are taken in runs of as many elements on both sides.
  Extents extents;
  Extents steps;
  for (size_t i = 0; i < value.ndim(); ++i) {
    if (value.shape[i] == 1) continue;
    extents.push_back(value.shape[i]);
    steps.push_back(value.strides[i]);
  }
  view.strides.assign(shape.size(), 0);
  size_t from = 0;
  size_t to = 0;
  while (from < extents.size() && to < shape.size()) {
    const size_t first_from = from;
    const size_t first_to = to;
    int64_t here = extents[from++];
    int64_t there = shape[to++];
    while (here != there) {
      if (here < there) {
        if (from == extents.size()) return std::nullopt;
        here *= extents[from++];
      } else {
        if (to == shape.size()) return std::nullopt;
        there *= shape[to++];
      }
    }
    for (size_t i = first_from; i + 1 < from; ++i) {
      if (steps[i] != steps[i + 1] * extents[i + 1]) return std::nullopt;
    }
    int64_t step = steps[from - 1];
    for (size_t i = to; i-- > first_to;) {
      view.strides[i] = step;
      step *= shape[i];
    }
  }
  return view;
}

Value Expanded(const Value& value, const Extents& shape) {
  Value view = value;
  if (BroadcastShape(value.shape, shape) != shape) Unsupported("shapes that do not broadcast");
  const size_t added = shape.size() - value.ndim();
  view.shape = shape;
  view.strides.assign(shape.size(), 0);
  for (size_t i = 0; i < value.ndim(); ++i) {
    if (value.shape[i] != 1) view.strides[added + i] = value.strides[i];
  }
  return view;
}

Value Sliced(const Value& value, size_t axis, int64_t first, int64_t step, int64_t count) {
  Value view = value;
  if (count != 0) view.offset += first * value.strides[axis];
  view.shape[axis] = count;
  view.strides[axis] *= step;
  return view;
}

}  // namespace mxacc
