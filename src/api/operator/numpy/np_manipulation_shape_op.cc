/*!
 * \file np_manipulation_shape_op.cc
 * \brief The same elements in another shape: reshape, ravel, squeeze, expand_dims, broadcast_to.
 */
#include <string>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/views.h"

namespace mxnet {
namespace op {
namespace {

[[noreturn]] void ThrowCannotReshape(int64_t size, ShapeView shape) {
  std::string text = CompactShape(shape);
  const size_t unknown = text.find("-1");
  if (unknown != std::string::npos) text.replace(unknown, 2, "newaxis");
  MXNET_THROW("ValueError") << "cannot reshape array of size " << size << " into shape " << text;
}

/*! \brief The shape with its one unknown extent, if any, worked out. */
void InferShape(int64_t size, ShapeView given, DimBuffer* shape) {
  int unknown = -1;
  int64_t known = 1;
  bool overflow = false;
  bool empty = false;
  if (given.ndim() > kMaxNdim) {
    MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got "
                              << given.ndim();
  }
  for (int64_t extent : given) {
    if (extent < -1) ThrowCannotReshape(size, given);
    if (extent == -1) {
      if (unknown >= 0) MXNET_THROW("ValueError") << "can only specify one unknown dimension";
      unknown = shape->ndim;
    } else {
      overflow = __builtin_mul_overflow(known, extent, &known) || overflow;
      empty = empty || extent == 0;
    }
    shape->push_back(extent);
  }
  if (unknown >= 0) {
    if (overflow || empty || size % known != 0) ThrowCannotReshape(size, given);
    (*shape)[unknown] = size / known;
  } else if (empty ? size != 0 : overflow || known != size) {
    ThrowCannotReshape(size, given);
  }
}

NDArray Squeeze(const NDArray& array, const MXNetArgValue& axis) {
  bool drop[kMaxNdim] = {};
  if (axis.is_null()) {
    for (int d = 0; d < array.ndim(); ++d) drop[d] = array->shape[d] == 1;
  } else {
    DimBuffer axes;
    const IntsArgument given(axis);
    if (array.ndim() == 0 && given.is_single()) {
      NormalizeAxis(given[0], 1);
      return array;
    }
    NormalizeAxes(given.view(), array.ndim(), &axes, "duplicate value in 'axis'");
    for (int64_t d : axes.view()) {
      if (array->shape[d] != 1) {
        MXNET_THROW("ValueError") << "cannot select an axis to squeeze out which has size not "
                                  << "equal to one";
      }
      drop[d] = true;
    }
  }
  DimBuffer shape;
  DimBuffer strides;
  for (int d = 0; d < array.ndim(); ++d) {
    if (drop[d]) continue;
    shape.push_back(array->shape[d]);
    strides.push_back(array->strides[d]);
  }
  return ViewOf(array, shape, strides);
}

NDArray ExpandDims(const NDArray& array, ShapeView new_axes) {
  const int ndim = array.ndim() + new_axes.ndim();
  if (ndim > kMaxNdim) {
    MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got " << ndim;
  }
  DimBuffer axes;
  NormalizeAxes(new_axes, ndim, &axes, "repeated axis");
  bool is_new[kMaxNdim] = {};
  for (int64_t axis : axes.view()) is_new[axis] = true;
  DimBuffer shape;
  DimBuffer strides;
  int from = 0;
  for (int d = 0; d < ndim; ++d) {
    shape.push_back(is_new[d] ? 1 : array->shape[from]);
    strides.push_back(is_new[d] ? 0 : array->strides[from]);
    if (!is_new[d]) ++from;
  }
  return ViewOf(array, shape, strides);
}

NDArray BroadcastTo(const NDArray& array, ShapeView shape) {
  const int offset = shape.ndim() - array.ndim();
  bool fits = offset >= 0;
  for (int d = 0; fits && d < array.ndim(); ++d) {
    fits = array->shape[d] == 1 || array->shape[d] == shape[static_cast<size_t>(d + offset)];
  }
  for (int64_t extent : shape) {
    if (extent < 0) {
      MXNET_THROW("ValueError") << "all elements of broadcast shape must be non-negative";
    }
  }
  if (!fits) {
    MXNET_THROW("ValueError") << "could not broadcast an array of shape "
                              << CompactShape(array.shape()) << " to shape " << CompactShape(shape);
  }
  if (shape.ndim() > kMaxNdim) {
    MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got "
                              << shape.ndim();
  }
  // One element stands for many, so that writing one would change others.
  return AsReadOnly(RepeatTo(array, shape));
}

MXNET_REGISTER_OP("_npi.reshape")
    .flags(kMXNetFuncView)
    .describe("Give an array a new shape; a view where the memory allows it, else a copy.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("shape", kShapeType, "The new shape; one extent may be -1, it is worked out.")
    .add_frontend_argument("order", "str", "C", "Order of the elements; only 'C' is supported.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const NDArray array = ToArray(args[0]);
      DimBuffer shape;
      InferShape(array.size(), IntsArgument(args[1]).view(), &shape);
      *ret = ReshapeTo(array, shape);
    });

MXNET_REGISTER_OP("_npi.ravel")
    .flags(kMXNetFuncView)
    .describe(
        "Give an array one axis; a view if its elements follow one another in memory, else a copy.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_frontend_argument("order", "str", "C", "Order of the elements; only 'C' is supported.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const NDArray array = ToArray(args[0]);
      // A view with other strides would do, but in NumPy whoever writes to it changes no other.
      *ret = Flattened(IsContiguous(array.tensor()) ? array : Contiguous(array.tensor()));
    });

MXNET_REGISTER_OP("_npi.flatten")
    .flags(kMXNetFuncView)
    .describe("A copy of an array with one axis.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_frontend_argument("order", "str", "C", "Order of the elements; only 'C' is supported.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Flattened(Contiguous(ToArray(args[0]).tensor()));
    });

MXNET_REGISTER_OP("_npi.squeeze")
    .flags(kMXNetFuncView)
    .describe("A view of an array without axes of one element.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("axis", kOptionalAxesType, nullptr, "Which of them; all if None.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Squeeze(ToArray(args[0]), args[1]);
    });

MXNET_REGISTER_OP("_npi.expand_dims")
    .flags(kMXNetFuncView)
    .describe("A view of an array with new axes of one element.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("axis", kAxesType, "Where the new axes are in the result.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = ExpandDims(ToArray(args[0]), IntsArgument(args[1]).view());
    });

MXNET_REGISTER_OP("_npi.broadcast_to")
    .flags(kMXNetFuncView)
    .describe("A read-only view of an array, repeated to a shape it broadcasts to.")
    .add_argument("array", kArrayType, kArrayDoc)
    .add_argument("shape", kShapeType, "The shape of the result.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = BroadcastTo(ToArray(args[0]), IntsArgument(args[1]).view());
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
