/*!
 * \file recurrent.h
 * \brief What recurrent layers in training are made of: the product of each step, by a kernel that
 * another library has made, the order of the steps, and functions of lines.
 */
#ifndef MXNET_SRC_GRAPH_TRAINING_RECURRENT_H_
#define MXNET_SRC_GRAPH_TRAINING_RECURRENT_H_

#include <cmath>
#include <utility>

#include "graph/training/checks.h"
#include "graph/training/lines.h"
#include "op/kernels/elementwise/vector_math.h"

namespace mxnet {
namespace graph {
namespace training {

/*! \brief Steps of a sequence, for a batch: so many, and the extent of the state. */
struct Sequence {
  int64_t steps;
  int64_t batch;
  int64_t hidden;
  bool is_reversed;

  int64_t state() const { return batch * hidden; }
  /*! \brief The step that is taken as number `position`. */
  int64_t step(int64_t position) const { return is_reversed ? steps - 1 - position : position; }
};

/*! \brief The sequence of these extents, of whose steps `saved` times the state is saved;
 * ValueError for others. */
inline Sequence SequenceOf(const Shape& extents, bool is_reversed, int64_t saved) {
  if (extents.size() != 3) {
    MXNET_THROW("ValueError") << "extents: expected steps, batch and hidden, got " << extents.size()
                              << " numbers";
  }
  CheckNumbers("extents", extents, 1);
  CheckShape("extents, of what is saved", {saved, extents[0], extents[1], extents[2]});
  return {extents[0], extents[1], extents[2], is_reversed};
}

/*! \brief Rows times a matrix, which is in the layout that the kernel wants. */
class Product {
 public:
  /*! \brief ValueError for a kernel of another product than (rows, inner) by (inner, columns). */
  Product(runtime::Ref<op::Kernel> kernel, int64_t rows, int64_t inner, int64_t columns)
      : kernel_(std::move(kernel)), x_{rows, inner}, y_{rows, columns} {
    const auto is_plain = [](const auto& tensor, const Shape& shape) {
      using runtime::operator==;
      return tensor.dtype == runtime::kFloat32 && tensor.shape == shape;
    };
    const op::KernelInputs& inputs = kernel_->inputs();
    const bool fits = inputs && inputs->size() == 2 && is_plain(inputs->front(), x_) &&
                      !inputs->front().any_layout && kernel_->outputs().size() == 1 &&
                      is_plain(kernel_->outputs()[0], y_) && kernel_->outputs()[0].bytes == 0;
    if (!fits) {
      MXNET_THROW("ValueError") << "product: expected a kernel of float32 (" << rows << ", "
                                << inner << ") by (" << inner << ", " << columns
                                << "), row-major, got " << kernel_->name();
    }
  }

  /*! \brief What a step says of its matrix. */
  op::KernelInput matrix() const { return kernel_->inputs()->back(); }
  size_t workspace() const {
    const auto bytes = static_cast<size_t>(kernel_->workspace_bytes());
    return (bytes + 63) / 64 * 64;
  }

  void Run(const float* x, const DLTensor& matrix, float* y, void* workspace) const {
    const DLTensor in[] = {Rows(x, x_), matrix};
    DLTensor out = Rows(y, y_);
    const MXNetKernel& kernel = kernel_->kernel();
    if (kernel.run(kernel.state, in, 2, &out, 1, workspace) != 0) throw runtime::Error::FromLast();
  }

 private:
  DLTensor Rows(const float* data, const Shape& shape) const {
    DLTensor tensor{};
    tensor.data = const_cast<float*>(data);
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 2;
    tensor.dtype = runtime::kFloat32;
    tensor.shape = const_cast<int64_t*>(shape.data());
    return tensor;
  }

  runtime::Ref<op::Kernel> kernel_;
  Shape x_;
  Shape y_;
};

inline void TanhRun(const float* x, float* out, int64_t n) {
  static const op::VectorUnary<float> function = op::FindVectorUnary<float>("tanh");
  if (function) return function(x, out, n);
  for (int64_t i = 0; i < n; ++i) out[i] = std::tanh(x[i]);
}

/*! \brief x becomes 1 / (1 + exp(-x)). */
inline void SigmoidRun(float* x, int64_t n) {
  static const op::VectorUnary<float> function = op::FindVectorUnary<float>("sigmoid");
  if (function) return function(x, x, n);
  for (int64_t i = 0; i < n; ++i) x[i] = 1.0f / (1.0f + std::exp(-x[i]));
}

struct SumBody {
  static MXNET_ALWAYS_INLINE void Run(const float* a, const float* b, int64_t n, float* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
  }
};

/*! \brief 1 / (1 + exp(-(a + b))). */
inline void SigmoidOfSum(const float* a, const float* b, int64_t n, float* out) {
  static const auto add = op::ForWideCpu<SumBody>();
  add(a, b, n, out);
  SigmoidRun(out, n);
}

}  // namespace training
}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_TRAINING_RECURRENT_H_
