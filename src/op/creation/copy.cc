/*!
 * \file copy.cc
 * \brief Copies, and conversions to another element type.
 */
#include "op/argument/arguments.h"
#include "op/creation/creation.h"
#include "op/schema/describe.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

void InferCopy(const InferCall& call, const NoAttributes&) {
  SetSpec(call.in[0].dtype, ShapeOf(call.in[0]), call.out);
}

void RunCopy(const RunCall& call, const NoAttributes&) { CopyCast(call.in[0], call.out[0]); }

bool QuickCopy(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = PlainArray(args);
  if (array == nullptr) return false;
  *ret = Contiguous(*array);
  return true;
}

struct AsTypeAttributes {
  DLDataType dtype;
  bool copy;
};

void InferAsType(const InferCall& call, const AsTypeAttributes& attributes) {
  const ShapeView shape = ShapeOf(call.in[0]);
  if (IsKnown(shape)) return SetMade(attributes.dtype, shape, call.out);
  CheckedIndexOfDType(attributes.dtype);
  SetSpec(attributes.dtype, shape, call.out);
}

void RunAsType(const RunCall& call, const AsTypeAttributes&) { CopyCast(call.in[0], call.out[0]); }

/*! \brief What is shared may be on any device. */
bool QuickAsType(const void*, const MXNetArgs& args, MXNetRetValue* ret) {
  if (args.type_codes[0] != kMXNetNDArrayHandle) return false;
  const DLTensor& given = static_cast<const MXNetNDArrayObject*>(args.values[0].v_handle)->tensor;
  const DLDataType dtype = DTypeOf(args[1]);
  if (!ToFlag(args[2]) && given.dtype == dtype) {
    *ret = args[0];
    return true;
  }
  const DLTensor* array = PlainArray(args);
  if (array == nullptr) return false;
  *ret = AsType(*array, dtype);
  return true;
}

MXNetViewKind ShareAsType(const ViewCall& call, const AsTypeAttributes& attributes) {
  return !attributes.copy && call.in.dtype == call.out->dtype ? kMXNetViewInput : kMXNetViewNone;
}

MXNET_REGISTER_OPERATOR("_npi.copy", NoAttributes)
    .describe("Return a row-major copy of an array.")
    .input("a", kArrayDoc)
    .frontend("order", "str", "C", kOrderDoc)
    .release_gil(kReleaseBytes)
    .infer(&InferCopy)
    .run(&RunCopy)
    .quick(&QuickCopy);

MXNET_REGISTER_OPERATOR("_npi.astype", AsTypeAttributes)
    .describe("Convert an array to another element type.")
    .input("a", kArrayDoc)
    .attribute("dtype", &AsTypeAttributes::dtype, "Element type of the result.")
    .attribute("copy", &AsTypeAttributes::copy, true,
               "If False, an array of that type already is shared.")
    .release_gil(kReleaseBytes)
    .infer(&InferAsType)
    .view(&ShareAsType)
    .run(&RunAsType)
    .quick(&QuickAsType);

}  // namespace
}  // namespace op
}  // namespace mxnet
