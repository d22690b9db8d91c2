/*!
 * \file blas_product.cc
 * \brief A kernel of products of matrices by BLAS, with what is added to them and a Relu behind.
 */
#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/mkl.h"
#include "graph/training/checks.h"
#include "op/kernels/product/blas_gemm.h"
#include "op/tensor/cast.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace graph {
namespace {

using op::KernelInput;
using op::KernelOutput;
using op::blas::Library;
using op::product::BlasMatrix;
using op::product::Operands;
using runtime::DataTypeName;
using runtime::kFloat32;
using runtime::kFloat64;
using runtime::kMaxNdim;
using runtime::Ref;
using runtime::operator==;
using runtime::operator!=;
using training::CheckNumbers;
using training::CheckShape;
using training::Shape;
using training::TextOf;

/*! \brief c = alpha op(a) op(b) + beta c, row-major. */
void Gemm(const BlasMatrix<float>& a, const BlasMatrix<float>& b, const Operands<float>& p,
          float alpha, float beta, float* c) {
  Library::WithThreads().sgemm(CblasRowMajor, a.trans, b.trans, static_cast<blasint>(p.m),
                               static_cast<blasint>(p.n), static_cast<blasint>(p.k), alpha, a.data,
                               a.ld, b.data, b.ld, beta, c, static_cast<blasint>(p.n));
}
void Gemm(const BlasMatrix<double>& a, const BlasMatrix<double>& b, const Operands<double>& p,
          double alpha, double beta, double* c) {
  Library::WithThreads().dgemm(CblasRowMajor, a.trans, b.trans, static_cast<blasint>(p.m),
                               static_cast<blasint>(p.n), static_cast<blasint>(p.k), alpha, a.data,
                               a.ld, b.data, b.ld, beta, c, static_cast<blasint>(p.n));
}

/*!
 * \brief c = alpha a b + beta c; what c has before counts only where beta is not 0.
 *
 * Where c is a vector its sums go to `work` first, so that the routines for vectors make them,
 * which pack nothing: it is short beside the matrix.
 */
template <typename T>
void Multiply(const Operands<T>& p, T alpha, T beta, bool by_mkl, T* c, T* work) {
  const bool is_vector = p.m == 1 || p.n == 1;
  if (alpha == 1 && beta == 0 && (is_vector || !by_mkl)) return op::product::BlasGemm(p, c);
  if (!is_vector) {
    const BlasMatrix<T> a(p.a, p.m, p.k, p.a_row, p.a_column);
    const BlasMatrix<T> b(p.b, p.k, p.n, p.b_row, p.b_column);
    if constexpr (std::is_same_v<T, float>) {
      if (by_mkl) return Mkl::Gemm(a, b, p, alpha, beta, c);
    }
    return Gemm(a, b, p, alpha, beta, c);
  }
  op::product::BlasGemm(p, work);
  for (int64_t i = 0; i < p.m * p.n; ++i) {
    c[i] = alpha * work[i] + (beta == 0 ? T(0) : beta * c[i]);
  }
}

/*! \brief An operand as a stack of matrices in memory, at the strides of a tensor. */
template <typename T>
struct Stack {
  Stack(const DLTensor& tensor, int axes) : data(training::In<T>(tensor)) {
    int64_t strides[kMaxNdim];
    op::StridesOf(tensor, strides);
    const int own = tensor.ndim - 2;
    row = strides[own];
    column = strides[own + 1];
    for (int d = 0; d < own; ++d) {
      steps[static_cast<size_t>(axes - own + d)] = tensor.shape[d] == 1 ? 0 : strides[d];
    }
  }

  const T* data;
  int64_t row, column;
  std::array<int64_t, kMaxNdim> steps{}; /*!< from matrix to matrix along an axis of the result */
};

template <typename T>
struct BlasProduct {
  Shape shape; /*!< of the result */
  int64_t terms;
  bool flips_a;
  bool flips_b;
  T alpha;
  T beta; /*!< 0 where nothing is added */
  bool relu;
  bool by_mkl;

  size_t workspace() const {
    const bool is_plain = alpha == 1 && beta == 0;
    const bool is_vector = shape.back() == 1 || shape[shape.size() - 2] == 1;
    return is_plain || !is_vector ? 0 : static_cast<size_t>(training::SizeOf(shape)) * sizeof(T);
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* work) const {
    auto* const c = training::Out<T>(out[0]);
    const int64_t size = training::SizeOf(shape);
    if (size == 0) return;
    if (beta != 0) op::CopyCast(in[2], out[0]);
    if (terms == 0) {
      WithoutTerms(size, c);
    } else {
      MultiplyAll(in, c, static_cast<T*>(work));
    }
    if (!relu) return;
    op::InParallel(size, op::kElementsTimed, [c](int64_t begin, int64_t end) {
      // A NaN is not less than 0, and stays.
      for (int64_t i = begin; i < end; ++i) c[i] = c[i] < 0 ? T(0) : c[i];
    });
  }

 private:
  void WithoutTerms(int64_t size, T* c) const {
    for (int64_t i = 0; i < size; ++i) c[i] = beta == 0 ? T(0) : beta * c[i];
  }

  void MultiplyAll(const DLTensor* in, T* c, T* work) const {
    auto axes = static_cast<int>(shape.size()) - 2;
    Stack<T> a(in[0], axes);
    Stack<T> b(in[1], axes);
    if (flips_a) std::swap(a.row, a.column);
    if (flips_b) std::swap(b.row, b.column);
    Operands<T> p{shape[shape.size() - 2],
                  shape.back(),
                  terms,
                  a.data,
                  a.row,
                  a.column,
                  b.data,
                  b.row,
                  b.column};
    // Matrices whose rows follow each other evenly are one, where all are multiplied by the same.
    const auto is_zero = [](int64_t step) { return step == 0; };
    if (std::all_of(b.steps.begin(), b.steps.begin() + axes, is_zero)) {
      for (; axes > 0; --axes) {
        const int64_t step = a.steps[static_cast<size_t>(axes - 1)];
        const int64_t extent = shape[static_cast<size_t>(axes - 1)];
        if (extent != 1 && p.m != 1 && step != p.m * p.a_row) break;
        if (p.m * extent > INT32_MAX) break;
        if (extent != 1 && p.m == 1) p.a_row = step;
        p.m *= extent;
      }
    }
    int64_t count = 1;
    for (int d = 0; d < axes; ++d) count *= shape[static_cast<size_t>(d)];
    for (int64_t item = 0; item < count; ++item) {
      p.a = a.data;
      p.b = b.data;
      int64_t rest = item;
      for (int d = axes - 1; d >= 0; --d) {
        const int64_t extent = shape[static_cast<size_t>(d)];
        p.a += rest % extent * a.steps[static_cast<size_t>(d)];
        p.b += rest % extent * b.steps[static_cast<size_t>(d)];
        rest /= extent;
      }
      Multiply(p, alpha, beta, by_mkl, c + item * p.m * p.n, work);
    }
  }
};

/*! \brief The rows and columns of a matrix that may be transposed. */
std::pair<int64_t, int64_t> MatrixOf(const char* argument, const Shape& shape, bool flips) {
  CheckShape(argument, shape);
  if (shape.size() < 2 || shape.size() > static_cast<size_t>(kMaxNdim)) {
    MXNET_THROW("ValueError") << argument << ": expected 2 to " << kMaxNdim << " axes, got "
                              << shape.size();
  }
  const int64_t rows = shape[shape.size() - 2];
  const int64_t columns = shape.back();
  CheckNumbers(argument, {rows, columns}, 0);  // which BLAS counts in 32 bits
  return flips ? std::pair(columns, rows) : std::pair(rows, columns);
}

/*! \brief Whether a shape broadcasts to that of the result, and leaves it as it is. */
bool Broadcasts(const Shape& shape, const Shape& result) {
  if (shape.size() > result.size()) return false;
  const auto fits = [](int64_t one, int64_t whole) { return one == 1 || one == whole; };
  return std::equal(shape.rbegin(), shape.rend(), result.rbegin(), fits);
}

Shape ResultOf(const Shape& a, const Shape& b, int64_t rows, int64_t columns) {
  const Shape& longer = a.size() > b.size() ? a : b;
  Shape shape(longer.begin(), longer.end() - 2);
  for (const Shape* one : {&a, &b}) {
    const size_t first = shape.size() + 2 - one->size();
    for (size_t d = 0; d + 2 < one->size(); ++d) {
      int64_t& extent = shape[first + d];
      if (extent == 1) extent = (*one)[d];
      if ((*one)[d] == 1 || (*one)[d] == extent) continue;
      MXNET_THROW("ValueError") << "b: expected axes that broadcast with those of a, " << TextOf(a)
                                << ", got " << TextOf(b);
    }
  }
  shape.push_back(rows);
  shape.push_back(columns);
  CheckShape("a and b", shape);
  return shape;
}

struct Description {
  std::string name;
  std::vector<KernelInput> inputs;
  KernelOutput output;
};

template <typename T>
Ref<op::Kernel> Make(Description made, BlasProduct<T> product) {
  const size_t workspace = product.workspace();
  return op::MakeKernel(std::move(made.name), std::move(made.inputs), {made.output},
                        std::make_unique<BlasProduct<T>>(std::move(product)), workspace);
}

Ref<op::Kernel> MakeBlasProduct(DLDataType dtype, const Shape& a, const Shape& b,
                                const std::optional<Shape>& c, bool flips_a, bool flips_b,
                                double alpha, double beta, bool relu, bool by_mkl) {
  if (dtype != kFloat32 && dtype != kFloat64) {
    MXNET_THROW("TypeError") << "dtype: expected float32 or float64, got " << DataTypeName(dtype);
  }
  const auto [rows, terms] = MatrixOf("a", a, flips_a);
  const auto [others, columns] = MatrixOf("b", b, flips_b);
  if (terms != others) {
    MXNET_THROW("ValueError") << "b: expected " << terms << " rows, as a has columns, got "
                              << others;
  }
  const Shape shape = ResultOf(a, b, rows, columns);
  if (c && !Broadcasts(*c, shape)) {
    MXNET_THROW("ValueError") << "c: expected a shape that broadcasts to " << TextOf(shape)
                              << ", got " << TextOf(*c);
  }
  // BLAS would not look at the matrices, whose NaNs and infinities are NaNs of the product.
  if ((dtype == kFloat32 ? static_cast<double>(static_cast<float>(alpha)) : alpha) == 0)
    MXNET_THROW("ValueError") << "alpha: expected another number than 0";
  if (by_mkl && (dtype != kFloat32 || !Mkl::IsThere())) {
    MXNET_THROW("NotImplementedError") << "by_mkl: expected float32, and an MKL that another "
                                          "library has brought: see mx.use_mkl";
  }
  if (!by_mkl && op::NumThreads() == 1 && Library::Get().get_num_threads() > 1) {
    MXNET_THROW("NotImplementedError") << "BLAS shares its work, and this is for one thread";
  }
  const bool adds = c && beta != 0;
  const char* const library = by_mkl ? "mkl" : "blas";
  Description made{std::string(library) + (dtype == kFloat32 ? ".sgemm" : ".dgemm"),
                   {{dtype, a, true}, {dtype, b, true}},
                   {dtype, shape}};
  if (adds) {
    made.name += "+add";
    made.inputs.push_back({dtype, *c, true});
    if (*c == shape) made.output.in_place = 2;
  }
  if (relu) made.name += "+relu";
  const double added = adds ? beta : 0;
  if (dtype == kFloat64) {
    return Make(std::move(made),
                BlasProduct<double>{shape, terms, flips_a, flips_b, alpha, added, relu, false});
  }
  return Make(std::move(made),
              BlasProduct<float>{shape, terms, flips_a, flips_b, static_cast<float>(alpha),
                                 static_cast<float>(added), relu, by_mkl});
}

MXNET_REGISTER_API("mx.graph.blas_product")
    .describe(
        "A kernel: alpha a b + beta c by BLAS, of inputs at any strides, over the last two axes; "
        "the axes before them broadcast. NaNs and infinities are what sums make of them, and a "
        "product of no terms is 0.")
    .arg("dtype", "float32 or float64.")
    .arg("a", "The shape of the first factor.")
    .arg("b", "That of the second one.")
    .arg("c", "That of what is added, which broadcasts to the result; or None.")
    .arg("transpose_a", "Whether the last two axes of a are in the other order.")
    .arg("transpose_b", "Whether those of b are.")
    .arg("alpha", "Not 0.")
    .arg("beta", "c is not read where it is 0.")
    .arg("relu", "Whether negative results become 0; a NaN stays one.")
    .arg("by_mkl", false, "Whether the BLAS is the one that mx.use_mkl tells of.")
    .name_errors()
    .set_body_typed(&MakeBlasProduct);

}  // namespace
}  // namespace graph
}  // namespace mxnet
