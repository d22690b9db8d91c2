/*!
 * \file depthwise.cc
 * \brief What convolutions of each channel by itself are differentiated by for their weights, of
 * images whose channels lie in blocks of 16.
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

constexpr int64_t kBlock = 16;
constexpr int64_t kWidest = 7;

// The numbers of a block of channels; those of images lie at any address of a float.
using Channels = float __attribute__((vector_size(4 * kBlock)));
using Pixel = float __attribute__((vector_size(4 * kBlock), aligned(4), may_alias));

/*! \brief Of both axes of images: extents, and how the window goes over them. */
struct Window {
  int64_t height, width;
  int64_t out_height, out_width;
  int64_t kernel_height, kernel_width;
  int64_t stride_y, stride_x;
  int64_t pad_y, pad_x; /*!< at the beginning */
  int64_t dilation_y, dilation_x;
};

/*! \brief Adds a row of the window's gradients, of K elements, for one image. */
template <int K>
struct AddRow {
  static MXNET_ALWAYS_INLINE void Run(const float* x, const float* dy, const Window& window,
                                      int64_t kernel_y, float* sums) {
    Channels all[K] = {};
    for (int64_t out_y = 0; out_y < window.out_height; ++out_y) {
      const int64_t y = out_y * window.stride_y - window.pad_y + kernel_y * window.dilation_y;
      if (y < 0 || y >= window.height) continue;
      const auto* from = reinterpret_cast<const Pixel*>(x + y * window.width * kBlock);
      const auto* given = reinterpret_cast<const Pixel*>(dy + out_y * window.out_width * kBlock);
      // Each row has sums of its own, which lose fewer digits than one over the image.
      Channels row[K] = {};
      for (int64_t out_x = 0; out_x < window.out_width; ++out_x) {
        const int64_t first = out_x * window.stride_x - window.pad_x;
        const Channels gradient = given[out_x];
        if (first >= 0 && first + (K - 1) * window.dilation_x < window.width) {
#pragma GCC unroll 8
          for (int k = 0; k < K; ++k) row[k] += gradient * from[first + k * window.dilation_x];
          continue;
        }
#pragma GCC unroll 8
        for (int k = 0; k < K; ++k) {
          const int64_t at = first + k * window.dilation_x;
          if (at >= 0 && at < window.width) row[k] += gradient * from[at];
        }
      }
#pragma GCC unroll 8
      for (int k = 0; k < K; ++k) all[k] += row[k];
    }
    for (int k = 0; k < K; ++k) *reinterpret_cast<Pixel*>(sums + k * kBlock) += all[k];
  }
};

using AddRowFunction = decltype(&AddRow<3>::Run);

/*! \brief Of a kernel of that width; nullptr where there is none. */
AddRowFunction AddRowOf(int64_t width) {
  if (width == 3) return op::ForWideCpu<AddRow<3>>();
  if (width == 5) return op::ForWideCpu<AddRow<5>>();
  if (width == 7) return op::ForWideCpu<AddRow<7>>();
  return nullptr;
}

struct DepthwiseGradient {
  int64_t items;
  int64_t channels;
  Window window;
  AddRowFunction add_row;

  int64_t blocks() const { return (channels + kBlock - 1) / kBlock; }

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    const auto* x = In<float>(in[0]);
    const auto* dy = In<float>(in[1]);
    auto* dw = Out<float>(out[0]);
    const int64_t width = window.kernel_width;
    const int64_t image = window.height * window.width * kBlock;
    const int64_t result = window.out_height * window.out_width * kBlock;
    const int64_t rows = blocks() * window.kernel_height;
    ForLines(rows, items * result, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t block = row / window.kernel_height;
        const int64_t kernel_y = row % window.kernel_height;
        float sums[kWidest * kBlock] = {};
        for (int64_t item = 0; item < items; ++item) {
          const int64_t at = item * blocks() + block;
          add_row(x + at * image, dy + at * result, window, kernel_y, sums);
        }
        const int64_t some = std::min(kBlock, channels - block * kBlock);
        for (int64_t lane = 0; lane < some; ++lane) {
          float* to = dw + (block * kBlock + lane) * window.kernel_height * width;
          for (int64_t k = 0; k < width; ++k) to[kernel_y * width + k] = sums[k * kBlock + lane];
        }
      }
    });
  }
};

KernelInput Images(const Shape& shape) { return {kFloat32, shape, true}; }

Ref<Kernel> MakeDepthwiseGradient(const Shape& shape, const Shape& result, const Shape& kernel,
                                  const Shape& strides, const Shape& pads, const Shape& dilations) {
  CheckShape("shape", shape);
  CheckShape("result", result);
  CheckNumbers("kernel", kernel, 1);
  CheckNumbers("strides", strides, 1);
  CheckNumbers("pads", pads, 0);
  CheckNumbers("dilations", dilations, 1);
  const bool fits = shape.size() == 4 && result.size() == 4 && kernel.size() == 2 &&
                    strides.size() == 2 && pads.size() == 2 && dilations.size() == 2 &&
                    result[0] == shape[0] && result[1] == shape[1];
  if (!fits) {
    MXNET_THROW("ValueError") << "shape and result: expected those of images with as many channels "
                                 "each, and two numbers in kernel, strides, pads and dilations";
  }
  const AddRowFunction add_row = AddRowOf(kernel[1]);
  if (add_row == nullptr) {
    MXNET_THROW("ValueError") << "kernel: expected a width of 3, 5 or 7, got " << kernel[1];
  }
  const Window window{shape[2],   shape[3],   result[2], result[3], kernel[0],    kernel[1],
                      strides[0], strides[1], pads[0],   pads[1],   dilations[0], dilations[1]};
  return op::MakeKernel("training.depthwise_weight_grad", {{Images(shape), Images(result)}},
                        {KernelOutput{kFloat32, {shape[1], 1, kernel[0], kernel[1]}}},
                        std::unique_ptr<DepthwiseGradient>(
                            new DepthwiseGradient{shape[0], shape[1], window, add_row}));
}

MXNET_REGISTER_API("mx.graph.training.depthwise_weight_grad")
    .describe(
        "A kernel: images x and the gradients of what a convolution of each channel by itself "
        "makes of them, both with channels in blocks of 16, to the gradient of its weight.")
    .arg("shape", "Of x: (n, channels, height, width).")
    .arg("result", "Of the gradient that is given.")
    .arg("kernel", "Height and width of the weight; a width of 3, 5 or 7.")
    .arg("strides", "Along both axes.")
    .arg("pads", "Before the first row and column.")
    .arg("dilations", "Along both axes.")
    .name_errors()
    .set_body_typed(&MakeDepthwiseGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
