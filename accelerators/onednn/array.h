/*!
 * \file array.h
 * \brief What the steps of a plan read and write.
 */
#ifndef ONEDNN_ARRAY_H_
#define ONEDNN_ARRAY_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

#include "../sdk/attribute.h"
#include "../sdk/library.h"
#include "../sdk/status.h"
#include "../sdk/tensor.h"

namespace onednn {

using namespace mxacc;

using dnnl::algorithm;
using Desc = dnnl::memory::desc;
using DType = dnnl::memory::data_type;
using Dims = dnnl::memory::dims;

/*! \brief Where elements are; known in full only when the plan runs. */
struct Location {
  enum class Kind { kInput, kOutput, kScratch, kConstant };

  Kind kind;
  size_t index;  /*!< of the input or output; else the byte where the elements begin */
  size_t offset; /*!< bytes */
};

struct Array {
  Location location;
  MXAccDataType dtype;
  Dims shape;
  Dims strides; /*!< in elements, any sign; 0 along axes by which it broadcasts */

  int ndim() const { return static_cast<int>(shape.size()); }
};

constexpr MXAccDataType kFloat32{kMXAccFloat, 32, 1};

Array InputOf(const MXAccOperator& op, int32_t index);
Array OutputOf(const MXAccOperator& op, int32_t index);

/*! \brief What oneDNN calls a type: float32, float16, bfloat16, int32, int8, uint8 and, as that,
 * bool; none for others. */
std::optional<DType> TypeOf(MXAccDataType dtype);
bool IsFloat(MXAccDataType dtype);
bool IsBool(MXAccDataType dtype);
/*! \brief The type two floats are computed in, and their result has. */
MXAccDataType Promoted(MXAccDataType a, MXAccDataType b);

int64_t SizeOf(const Dims& shape);
Dims DenseStrides(const Dims& shape);
/*! \brief Whether the elements lie one behind the other in row-major order. */
bool IsDense(const Array& array);

/*! \brief Failure, kMXAccUnsupported, for types that oneDNN does not know. */
Desc DescOf(const Array& array);
Desc DenseDesc(MXAccDataType dtype, const Dims& shape);

/*! \brief The same elements seen in a larger shape; Failure where they do not broadcast to it. */
Array Broadcast(const Array& array, const Dims& shape);

/*! \brief A dense array seen in another shape. */
Array Shaped(Array dense, Dims shape);

/*! \brief Those axes for which which[i] is chosen, in order. */
Array Chosen(const Array& array, const std::vector<bool>& which, bool chosen);
/*! \brief The axes that are not last, in order, then those that are. */
Array Ordered(const Array& array, const std::vector<bool>& last);

/*! \brief The array with neighbouring axes joined that are evenly spaced, in order, and without
 * those of extent 1. */
Array Merged(const Array& array);

/*! \brief Arrays of one shape by fewer axes, of which there is at least one; see JoinAxes. */
std::vector<Array> Joined(const std::vector<Array>& arrays);

}  // namespace onednn

#endif  // ONEDNN_ARRAY_H_
