/*!
 * \file copying.cc
 * \brief Operators that move elements, and convert them.
 */
#include <iterator>

#include "operators.h"
#include "passes.h"

namespace onednn {
namespace {

/*! \brief Elements in row-major order, whatever the shapes. */
void AddReshape(const MXAccOperator& op, Plan* plan) {
  const Array a = TheInput(op);
  Array out = TheOutput(op);
  if (!SameType(a.dtype, out.dtype)) Unsupported("an output of another type");
  if (SizeOf(a.shape) != SizeOf(out.shape)) {
    throw Failure(kMXAccBadArgument, "the output has another number of elements");
  }
  if (!IsDense(out)) Unsupported("an output that is not dense");
  out.shape = a.shape;
  out.strides = DenseStrides(a.shape);
  plan->Copy(a, out);
}

void AddCopy(const MXAccOperator& op, Plan* plan) {
  const Array out = TheOutput(op);
  const Array a = Broadcast(TheInput(op), out.shape);
  if (!SameType(a.dtype, out.dtype)) Unsupported("an output of another type");
  plan->Copy(a, out);
}

void AddPositive(const MXAccOperator& op, Plan* plan) {
  if (op.num_in == 1 && !IsFloat(InputOf(op, 0).dtype)) Unsupported("other types than floats");
  AddCopy(op, plan);
}

void AddAsType(const MXAccOperator& op, Plan* plan) {
  const Array out = TheOutput(op);
  const Array a = Broadcast(TheInput(op), out.shape);
  if (SameType(a.dtype, out.dtype)) return plan->Copy(a, out);
  if (IsFloat(a.dtype) && out.dtype.code == kMXAccBool) {
    const Array zero = plan->Constant(a.dtype, 0, out.shape);
    return AddBinaryPass({algorithm::binary_ne, {}}, a, zero, out, plan);
  }
  if (!IsFloat(out.dtype)) Unsupported("integers of floats, which oneDNN rounds");
  if (a.dtype.code != kMXAccBool) return plan->Convert(a, out);
  // Bytes of a bool may be others than 0 and 1.
  const Array bytes = plan->Scratch(out.dtype, out.shape);
  const Array zero = plan->Constant(out.dtype, 0, out.shape);
  plan->Convert(a, bytes);
  AddBinaryPass({algorithm::binary_ne, {}}, bytes, zero, out, plan);
}

constexpr Entry kEntries[] = {
    {"astype", AddAsType},     {"copy", AddCopy},     {"flatten", AddReshape},
    {"positive", AddPositive}, {"ravel", AddReshape}, {"reshape", AddReshape},
};

}  // namespace

Family Copying() { return {kEntries, std::size(kEntries), 0, ElementsOf}; }

}  // namespace onednn
