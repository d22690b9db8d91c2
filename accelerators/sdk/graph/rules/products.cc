/*!
 * \file products.cc
 * \brief Products of matrices.
 */
#include "node_steps.h"

namespace mxacc {
namespace {

Value Matrix(NodeSteps& at, size_t index, const char* transposed) {
  const Value value = at.Input(index);
  if (value.ndim() != 2) at.Decline("of other than matrices");
  return at.node().Integer(transposed, 0) != 0 ? Transposed(value, {1, 0}) : value;
}

Value Scaled(NodeSteps& at, const Value& value, double factor) {
  return factor == 1 ? value : at.Binary("multiply", value, factor);
}

void Gemm(NodeSteps& at) {
  at.NeedFloats();
  Value product = at.MatMul(Matrix(at, 0, "transA"), Matrix(at, 1, "transB"));
  product = Scaled(at, product, at.node().Number("alpha", 1));
  const double beta = at.node().Number("beta", 1);
  if (at.Has(2) && beta != 0) {
    product = at.Binary("add", product, Scaled(at, at.Input(2), beta));
  }
  at.Give(product);
}

}  // namespace

void AddProductRules(Rules* rules) {
  (*rules)["MatMul"] = [](NodeSteps& at) { at.Give(at.MatMul(at.Input(0), at.Input(1))); };
  (*rules)["Gemm"] = Gemm;
}

}  // namespace mxacc
