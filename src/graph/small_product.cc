/*!
 * \file small_product.cc
 * \brief A kernel of products of a few rows with a constant matrix.
 */
#include "op/kernels/product/small_product.h"

#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <memory>
#include <optional>
#include <utility>

#include "graph/training/checks.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace graph {
namespace {

using op::KernelOutput;
using op::SmallProduct;
using runtime::kFloat32;
using runtime::NDArray;
using runtime::Ref;
using training::CheckNumbers;
using training::CheckWeight;

struct Product {
  int64_t rows;
  SmallProduct loops;

  std::vector<op::KernelConstant> constants() const {
    const SmallProduct::Parts& parts = loops.parts();
    return {{parts.matrix.data(), parts.matrix.bytes()}, {parts.bias.data(), parts.bias.bytes()}};
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* work) const {
    loops.Run(training::In<float>(in[0]), rows, training::Out<float>(out[0]), work);
  }
};

bool SuitsSmallProduct(int64_t rows, int64_t columns, int64_t terms) {
  CheckNumbers("extents", {rows, columns, terms}, 0);
  return SmallProduct::Suits(rows, columns, terms);
}

Ref<op::Kernel> MakeSmallProduct(int64_t rows, const NDArray& matrix,
                                 const std::optional<NDArray>& bias, bool transposed, bool relu) {
  CheckWeight("matrix", matrix);
  if (bias) CheckWeight("bias", *bias);
  if (matrix.shape().size() != 2) {
    MXNET_THROW("ValueError") << "matrix: expected two axes, got the shape "
                              << matrix.shape().str();
  }
  const int64_t terms = matrix.shape()[transposed ? 1 : 0];
  const int64_t columns = matrix.shape()[transposed ? 0 : 1];
  if (!SmallProduct::Suits(rows, columns, terms)) {
    MXNET_THROW("ValueError") << "rows and matrix: expected what suits_small_product takes, got "
                              << rows << " rows and " << terms << " x " << columns << " elements";
  }
  if (bias && (bias->shape().size() != 1 || bias->shape()[0] != columns)) {
    MXNET_THROW("ValueError") << "bias: expected the shape (" << columns << "), got "
                              << bias->shape().str();
  }
  const NDArray dense = op::Contiguous(matrix.tensor());
  const NDArray added = bias ? op::Contiguous(bias->tensor()) : NDArray();
  auto state = std::unique_ptr<Product>(new Product{
      rows, SmallProduct({terms, columns, dense.data_as<float>(), transposed ? 1 : columns,
                          transposed ? terms : 1, bias ? added.data_as<float>() : nullptr, relu})});
  const size_t workspace = state->loops.workspace(rows);
  return op::MakeKernel(relu ? "small_product+relu" : "small_product",
                        {{{kFloat32, {rows, terms}}}}, {KernelOutput{kFloat32, {rows, columns}}},
                        std::move(state), workspace);
}

MXNET_REGISTER_API("mx.graph.suits_small_product")
    .describe(
        "Whether small_product takes a product, and is faster than libraries: of a few rows with "
        "a matrix that stays in the second cache.")
    .arg("rows")
    .arg("columns")
    .arg("terms", "Rows of the matrix.")
    .name_errors()
    .set_body_typed(&SuitsSmallProduct);

MXNET_REGISTER_API("mx.graph.small_product")
    .describe("A kernel: the product of some float32 rows and a constant matrix.")
    .arg("rows")
    .arg("matrix", "terms x columns, or the other way round where transposed.")
    .arg("bias", "What is added to each row, or None.")
    .arg("transposed")
    .arg("relu", "Whether negative sums become 0.")
    .name_errors()
    .set_body_typed(&MakeSmallProduct);

}  // namespace
}  // namespace graph
}  // namespace mxnet
