/*!
 * \file product.cc
 * \brief Products: by CLBlast, or as sums.
 */
#include "gemm.h"
#include "reduce.h"

namespace opencl {

std::unique_ptr<Work> MakeProduct(const Request& request) {
  std::optional<Product> product = FindProduct(request);
  if (!product) return nullptr;
  const ProductAxes& axes = product->axes;
  request.CheckDevice({product->dtype});
  const bool has_gemm = product->dtype == DType::kFloat32 || product->dtype == DType::kFloat64;
  const bool is_empty = axes.batch.count() * axes.summed.count() == 0;
  if (has_gemm && product->of_a == product->of_b && !is_empty && IsWorthGemm(axes)) {
    return MakeGemm(request, axes);
  }
  return MakeReduceWork(request, DotReducer(product->dtype), AsReduction(axes), false,
                        {product->a, product->b});
}

}  // namespace opencl
