/*!
 * \file value.h
 * \brief Tensors of a model: views of its buffers.
 */
#ifndef MXACC_SDK_GRAPH_STEPS_VALUE_H_
#define MXACC_SDK_GRAPH_STEPS_VALUE_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mxacc {

using Extents = std::vector<int64_t>;

/*! \brief Some elements of a buffer, as a strided tensor; steps and offsets are in elements. */
struct Value {
  size_t buffer = 0;
  int64_t offset = 0;
  MXAccDataType dtype{};
  Extents shape;
  Extents strides;

  size_t ndim() const { return shape.size(); }
  int64_t count() const;
  size_t bytes() const;
  bool is_row_major() const;
  /*! \brief Without data; shape and strides are this object's. */
  MXTensor tensor() const;
};

/*! \brief kMXAccUnsupported where 64 bits do not count them. */
int64_t CountOf(const Extents& shape);
/*! \brief The numbers of axes from first on, before last. */
Extents Range(size_t first, size_t last);
Extents RowMajorStrides(const Extents& shape);
/*! \brief "float32". */
std::string NameOfType(MXAccDataType dtype);
inline bool IsFloatType(MXAccDataType dtype) {
  return dtype.code == kMXAccFloat || dtype.code == kMXAccBfloat;
}
inline bool IsIntType(MXAccDataType dtype) {
  return dtype.code == kMXAccInt || dtype.code == kMXAccUInt;
}

/*! \brief The shape that shapes broadcast to; kMXAccUnsupported where they do not. */
Extents BroadcastShape(const Extents& a, const Extents& b);

/*! \brief The same elements in another order of axes. */
Value Transposed(const Value& value, const Extents& axes);
/*! \brief The same elements in another shape of as many, where no copy is needed for that. */
std::optional<Value> Reshaped(const Value& value, const Extents& shape);
/*! \brief Elements repeated along axes; kMXAccUnsupported where it does not broadcast. */
Value Expanded(const Value& value, const Extents& shape);
/*! \brief count elements along an axis, step apart from first on. */
Value Sliced(const Value& value, size_t axis, int64_t first, int64_t step, int64_t count);

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_STEPS_VALUE_H_
