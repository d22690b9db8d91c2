/*!
 * \file relu.cc
 * \brief What relu is differentiated by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <memory>

#include "graph/training/checks.h"
#include "graph/training/lines.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::Ref;

/*! \brief A choice, not a product, so that nothing is left of what is no number. */
struct ChoosePositive {
  static MXNET_ALWAYS_INLINE void Run(const float* dy, const float* y, int64_t begin, int64_t end,
                                      float* dx) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) dx[i] = y[i] > 0 ? dy[i] : 0.0f;
  }
};

struct ReluGradient {
  int64_t size;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    static const auto choose = op::ForWideCpu<ChoosePositive>();
    ForLines(size, 1, [&](int64_t begin, int64_t end) {
      choose(In<float>(in[0]), In<float>(in[1]), begin, end, Out<float>(out[0]));
    });
  }
};

Ref<Kernel> MakeReluGradient(const Shape& shape, int64_t bytes) {
  CheckShape("shape", shape);
  const int64_t dense = SizeOf(shape) * int64_t{sizeof(float)};
  if (bytes != 0 && (bytes < dense || bytes % int64_t{sizeof(float)} != 0)) {
    MXNET_THROW("ValueError") << "bytes: expected 0, or " << dense << " or more, a multiple of "
                              << sizeof(float) << ", got " << bytes;
  }
  const int64_t size = bytes == 0 ? SizeOf(shape) : bytes / int64_t{sizeof(float)};
  const bool any_layout = bytes != 0;
  const KernelInput input{kFloat32, shape, any_layout, static_cast<size_t>(bytes)};
  KernelOutput output{kFloat32, shape};
  output.bytes = static_cast<size_t>(bytes);
  output.in_place = 0;
  return op::MakeKernel("training.relu_grad", {{input, input}}, {output},
                        std::unique_ptr<ReluGradient>(new ReluGradient{size}));
}

MXNET_REGISTER_API("mx.graph.training.relu_grad")
    .describe("A kernel: the gradient of relu's result, and that result, to that of its data.")
    .arg("shape", "Of the data.")
    .arg("bytes", 0, "That each takes, where they are not row-major, but in one layout.")
    .name_errors()
    .set_body_typed(&MakeReluGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
