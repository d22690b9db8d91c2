/*!
 * \file product.cc
 * \brief Quick ways of matmul, tensordot, dot and inner.
 */
#include <utility>

#include "api/quick/arguments.h"
#include "api/quick/attach.h"
#include "op/kernels/product/gemm.h"
#include "op/product/axes.h"
#include "op/product/contract.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Of two matrices of one type. */
bool QuickMatMul(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* a = HostArray(args, 0);
  const DLTensor* b = HostArray(args, 1);
  if (a == nullptr || b == nullptr || a->ndim != 2 || b->ndim != 2) return false;
  const int64_t k = a->shape[1];
  if (k == 0 || k != b->shape[0] || a->dtype != b->dtype) return false;
  const int64_t shape[2] = {a->shape[0], b->shape[1]};
  NDArray result = QuickOutput(args, 2, ShapeView(shape, 2), *a, *b);
  if (!result.defined()) return false;
  if (shape[0] != 0 && shape[1] != 0) {
    Gemm(a->dtype, shape[0], shape[1], k, Matrix{TensorData(*a), a->strides[0], a->strides[1]},
         Matrix{TensorData(*b), b->strides[0], b->strides[1]}, result.data());
  }
  *ret = std::move(result);
  return true;
}

/*! \brief Sums over pairs of axes of two arrays of one type; argument `out` may be -1 for none. */
bool QuickContract(const MXNetArgs& args, int out, const DLTensor& a, ShapeView a_axes,
                   const DLTensor& b, ShapeView b_axes, MXNetRetValue* ret) {
  if (a.dtype != b.dtype || a.ndim + b.ndim > kMaxNdim) return false;
  DimBuffer room;
  MXNetTensorSpec specs[3] = {{a.dtype, a.dtype, a.ndim, kMXNetWeakNone, a.shape},
                              {b.dtype, b.dtype, b.ndim, kMXNetWeakNone, b.shape},
                              {a.dtype, a.dtype, 0, kMXNetWeakNone, room.data}};
  InferContract(specs[0], a_axes, specs[1], b_axes, &specs[2]);
  NDArray result = out < 0 ? NDArray::Empty(ShapeOf(specs[2]), a.dtype, a.device)
                           : QuickOutput(args, out, ShapeOf(specs[2]), a, b);
  if (!result.defined()) return false;
  Contract(a, a_axes, b, b_axes, result.tensor());
  *ret = std::move(result);
  return true;
}

bool QuickTensorDot(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* a = HostArray(args, 0);
  const DLTensor* b = HostArray(args, 1);
  if (a == nullptr || b == nullptr || a->dtype != b->dtype) return false;
  const SummedAxes axes = ReadAttribute<SummedAxes>(args, 2);
  const AxisPairs pairs(axes, a->ndim, b->ndim);
  return QuickContract(args, -1, *a, pairs.a.view(), *b, pairs.b.view(), ret);
}

template <int kBAxisFromEnd>
bool QuickDot(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* a = HostArray(args, 0);
  const DLTensor* b = HostArray(args, 1);
  if (a == nullptr || b == nullptr) return false;
  const LastAxes axes(a->ndim, b->ndim, kBAxisFromEnd);
  if (axes.count != 0 && a->shape[axes.a] != b->shape[axes.b]) return false;
  // inner has no out.
  return QuickContract(args, kBAxisFromEnd == 1 ? -1 : 2, *a, axes.of_a(), *b, axes.of_b(), ret);
}

MXNET_QUICK("_npi.matmul", &QuickMatMul);
MXNET_QUICK("_npi.tensordot", &QuickTensorDot);
MXNET_QUICK("_npi.dot", &QuickDot<2>);
MXNET_QUICK("_npi.inner", &QuickDot<1>);

}  // namespace
}  // namespace op
}  // namespace mxnet
