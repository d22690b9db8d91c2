/*!
 * \file reshape.cc
 * \brief The same elements in another shape: reshape, ravel, flatten.
 */
#include <mxnet/op/operator.h>

#include <string>

#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/views.h"

namespace mxnet {
namespace op {
namespace {

constexpr char kOnlyRowMajor[] = "Order of the elements; only 'C' is supported.";

struct ReshapeAttributes {
  Extents shape;
};

[[noreturn]] void ThrowCannotReshape(int64_t size, ShapeView shape) {
  std::string text;
  for (int64_t extent : shape) {
    text += (text.empty() ? "" : ",") + (extent == -1 ? "newaxis" : std::to_string(extent));
  }
  MXNET_THROW("ValueError") << "cannot reshape array of size " << ExtentText(size)
                            << " into shape (" << text << (shape.size() == 1 ? ",)" : ")");
}

/*! \brief The extents that are given, of which one may be -1. */
struct GivenShape {
  GivenShape(ShapeView shape, int64_t size) {
    for (int d = 0; d < shape.ndim(); ++d) {
      const int64_t extent = shape[static_cast<size_t>(d)];
      if (extent < -1) ThrowCannotReshape(size, shape);
      if (extent == -1) {
        if (unknown >= 0) MXNET_THROW("ValueError") << "can only specify one unknown dimension";
        unknown = d;
        continue;
      }
      overflow = __builtin_mul_overflow(product, extent, &product) || overflow;
      empty = empty || extent == 0;
    }
  }

  int unknown{-1};
  int64_t product{1}; /*!< of all others */
  bool overflow{false};
  bool empty{false};
};

void InferReshape(const InferCall& call, const ReshapeAttributes& attributes) {
  const int64_t size = SizeOf(ShapeOf(call.in[0]));
  const ShapeView shape = attributes.shape.view();
  const GivenShape given(shape, size);
  SetSpec(call.in[0].dtype, shape, call.out);
  if (given.unknown >= 0) {
    const bool divides = !given.overflow && !given.empty;
    if (!divides || (!IsSymbolic(size) && size % given.product != 0)) {
      ThrowCannotReshape(size, shape);
    }
    call.out->shape[given.unknown] = DivideExtent(size, given.product);
  } else if (given.empty ? size > 0 : given.overflow || AreDifferent(given.product, size)) {
    ThrowCannotReshape(size, shape);
  }
}

MXNetViewKind ViewReshaped(const ViewCall& call, const ReshapeAttributes&) {
  return StridesForShape(call.in, ShapeOf(*call.out), call.out->strides) ? kMXNetViewMade
                                                                         : kMXNetViewNone;
}

template <typename Attributes>
void RunCopy(const RunCall& call, const Attributes&) {
  CopyRowMajor(call.in[0], call.out[0]);
}

void InferFlat(const InferCall& call, const NoAttributes&) {
  const int64_t size = SizeOf(ShapeOf(call.in[0]));
  SetSpec(call.in[0].dtype, ShapeView(&size, 1), call.out);
}

/*! \brief A view with other strides would do, but in NumPy whoever writes to it changes no other.
 */
MXNetViewKind ViewFlat(const ViewCall& call, const NoAttributes&) {
  if (!IsContiguous(call.in)) return kMXNetViewNone;
  call.out->strides[0] = 1;
  return kMXNetViewMade;
}

MXNET_REGISTER_OPERATOR("_npi.reshape", ReshapeAttributes)
    .describe("Give an array a new shape; a view where the memory allows it, else a copy.")
    .input("a", kArrayDoc)
    .attribute("shape", &ReshapeAttributes::shape,
               "The new shape; one extent may be -1, it is worked out.")
    .frontend("order", "str", "C", kOnlyRowMajor)
    .infer(&InferReshape)
    .view(&ViewReshaped)
    .run(&RunCopy<ReshapeAttributes>);

MXNET_REGISTER_OPERATOR("_npi.ravel", NoAttributes)
    .describe(
        "Give an array one axis; a view if its elements follow one another in memory, else a copy.")
    .input("a", kArrayDoc)
    .frontend("order", "str", "C", kOnlyRowMajor)
    .release_gil(kReleaseBytes)
    .infer(&InferFlat)
    .view(&ViewFlat)
    .run(&RunCopy<NoAttributes>);

MXNET_REGISTER_OPERATOR("_npi.flatten", NoAttributes)
    .describe("A copy of an array with one axis.")
    .input("a", kArrayDoc)
    .frontend("order", "str", "C", kOnlyRowMajor)
    .release_gil(kReleaseBytes)
    .infer(&InferFlat)
    .run(&RunCopy<NoAttributes>);

}  // namespace
}  // namespace op
}  // namespace mxnet
