/*!
 * \file copying.cc
 * \brief Operators that move elements, and convert them.
 */
#include <iterator>

#include "operators.h"

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
  const bool is_truth = IsFloat(a.dtype) && IsBool(out.dtype);
  if (!is_truth && !IsFloat(out.dtype)) Unsupported("integers of floats, which oneDNN rounds");
  plan->Convert(a, out);
}

constexpr Entry kEntries[] = {
    {"astype", AddAsType},     {"copy", AddCopy},     {"flatten", AddReshape},
    {"positive", AddPositive}, {"ravel", AddReshape}, {"reshape", AddReshape},
};

}  // namespace

Family Copying() { return {kEntries, std::size(kEntries), 0, ElementsOf}; }

}  // namespace onednn
