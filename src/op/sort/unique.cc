/*!
 * \file unique.cc
 * \brief The different elements of an array.
 */
#include <mxnet/op/operator.h>

#include <algorithm>

#include "op/schema/describe.h"
#include "op/semantics/order.h"
#include "op/sort/lines.h"
#include "op/sort/sort.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

NDArray Unique(const DLTensor& array) {
  const NDArray sorted = Flattened(Contiguous(array));
  NormalizeBools(sorted.tensor());
  const SortedLines lines{1, sorted.size(), 1};
  const int64_t bytes = ScratchBytes<false>(sorted.dtype(), lines);
  SortInPlace(sorted.tensor(), lines, NDArray::Empty(ShapeView(&bytes, 1), kUInt8).data());
  int64_t count = 0;
  DispatchDType(sorted.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = sorted.data_as<T>();
    if constexpr (kIsComplexType<T>) {
      T* end = std::unique(data, data + sorted.size(),
                           [](T a, T b) { return a == b || (IsNan(a) && IsNan(b)); });
      count = end - data;
    } else {
      count = UniqueOfSorted(data, sorted.size());
    }
  });
  if (count == sorted.size()) return sorted;
  return Contiguous(RangeOfAxis(sorted, 0, 0, count).tensor());
}

namespace {

/*! \brief What measure has found for run. */
struct UniqueAttributes {
  mutable NDArray found;
};

void InferUnique(const InferCall& call, const UniqueAttributes&) {
  const int64_t count = NewExtent("unique");
  SetSpec(call.in[0].dtype, ShapeView(&count, 1), call.out);
}

void MeasureUnique(const MeasureCall& call, const UniqueAttributes& attributes) {
  attributes.found = Unique(call.in[0]);
  SetSpec(call.in[0].dtype, attributes.found.shape(), call.out);
}

void RunUnique(const RunCall& call, const UniqueAttributes& attributes) {
  CopyCast(attributes.found.tensor(), call.out[0]);
}

MXNET_REGISTER_OPERATOR("_npi.unique", UniqueAttributes)
    .describe("The different elements of an array, sorted; all NaN count as one.")
    .input("ar", kArrayDoc)
    .release_gil(kReleaseBytes)
    .infer(&InferUnique)
    .measure(&MeasureUnique)
    .run(&RunUnique);

}  // namespace
}  // namespace op
}  // namespace mxnet
