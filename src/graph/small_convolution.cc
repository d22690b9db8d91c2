/*!
 * \file small_convolution.cc
 * \brief A kernel of convolutions of small images, with what is done to the sums behind it.
 */
#include "op/kernels/convolution/small_convolution.h"

#include <mxnet/op/kernel.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/thread_memory.h"
#include "graph/training/checks.h"
#include "op/kernels/cpu.h"
#include "op/parallel/parallel.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace graph {
namespace {

using op::ConvolutionLoops;
using op::KernelOutput;
using op::SmallConvolutionShape;
using runtime::kFloat32;
using runtime::NDArray;
using runtime::Ref;
using training::CheckNumbers;
using training::CheckShape;
using training::CheckWeight;
using training::Shape;
using training::TextOf;

void CheckCount(const char* argument, const Shape& numbers, size_t count, int64_t least) {
  if (numbers.size() != count) {
    MXNET_THROW("ValueError") << argument << ": expected " << count << " numbers, got "
                              << numbers.size();
  }
  CheckNumbers(argument, numbers, least);
}

/*! \brief Looked at only for what does not fit together: whether it is small is asked apart. */
SmallConvolutionShape ShapeOf(const Shape& x, const Shape& weight, const Shape& strides,
                              const Shape& pads, const Shape& dilations) {
  CheckCount("x", x, 4, 1);
  CheckCount("weight", weight, 4, 1);
  CheckShape("x", x);
  CheckShape("weight", weight);
  CheckCount("strides", strides, 2, 1);
  CheckCount("pads", pads, 4, 0);
  CheckCount("dilations", dilations, 2, 1);
  if (weight[1] != x[1]) {
    MXNET_THROW("ValueError") << "weight: expected (out channels, " << x[1]
                              << ", rows, columns), got " << TextOf(weight);
  }
  return {x[1],
          {x[2], x[3]},
          weight[0],
          {weight[2], weight[3]},
          {strides[0], strides[1]},
          {dilations[0], dilations[1]},
          {pads[0], pads[1], pads[2], pads[3]},
          false,
          false};
}

/*! \brief Elements of an image with its pads. */
double PaddedSize(const SmallConvolutionShape& shape) {
  double size = static_cast<double>(shape.channels);
  for (size_t axis = 0; axis < 2; ++axis) {
    size *= static_cast<double>(shape.image[axis] + shape.pads[axis] + shape.pads[2 + axis] +
                                shape.strides[axis] - 1);
  }
  return size;
}

double Size(int64_t a, int64_t b, int64_t c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

double ResultSize(const SmallConvolutionShape& shape) {
  return Size(shape.out_channels, shape.Result(0), shape.Result(1));
}

/*! \brief Whether an image, the weights and the result stay in the near caches of one thread. Else
 * they are read again for each block of channels, and several threads share an image. */
bool IsNear(const SmallConvolutionShape& shape) {
  constexpr double kNear = 1 << 16;
  const double weights =
      Size(shape.out_channels, shape.channels, shape.kernel[0] * shape.kernel[1]);
  return PaddedSize(shape) + weights + ResultSize(shape) <= kNear;
}

bool Fits(const SmallConvolutionShape& shape) {
  constexpr auto kMost = static_cast<double>(op::SmallConvolution::kMostElements);
  return PaddedSize(shape) <= kMost && ResultSize(shape) <= kMost;
}

/*! \brief So many images are enough for all threads. */
constexpr int64_t kManyImages = 16;

struct Convolution {
  int64_t batch;
  int64_t x_size; /*!< of one image */
  int64_t y_size;
  op::SmallConvolution loops;
  int64_t channels;
  bool shares_images; /*!< whether several threads are at one image */

  std::vector<op::KernelConstant> constants() const {
    const op::SmallConvolution::Parts& parts = loops.parts();
    return {{parts.weight.data(), parts.weight.bytes()}, {parts.bias.data(), parts.bias.bytes()}};
  }

  void Run(const DLTensor* in, int, DLTensor* out, int, void* copy) const {
    const auto* x = training::In<float>(in[0]);
    auto* const y = training::Out<float>(out[0]);
    if (shares_images) {
      for (int64_t i = 0; i < batch; ++i) Share(x + i * x_size, y + i * y_size, copy);
      return;
    }
    InParallelWith(loops.workspace(), batch, [&](void* work, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) loops.Run(x + i * x_size, y + i * y_size, work);
    });
  }

  /*! \brief One image, by all threads. */
  void Share(const float* x, float* y, void* copy) const {
    const float* image = x;
    if (copy != nullptr) {
      op::InParallel(channels, 1,
                     [&](int64_t begin, int64_t end) { loops.Copy(x, begin, end, copy); });
      image = static_cast<const float*>(copy);
    }
    const int64_t bands = (loops.rows() + kBand - 1) / kBand;
    const int64_t rows = std::min(kBand, loops.rows());
    InParallelWith(loops.workspace_of(rows), loops.blocks() * bands,
                   [&](void* work, int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t block = i / bands;
                       const int64_t row = i % bands * kBand;
                       const int64_t end_row = std::min(row + kBand, loops.rows());
                       loops.RunPart({block, block + 1, row, end_row}, image, y, work);
                     }
                   });
  }

  /*! \brief Rows that a thread does at a time, an even number: what is worth handing to one. */
  static constexpr int64_t kBand = 16;
};

Ref<op::Kernel> MakeSmallConvolution(const Shape& x, const NDArray& weight,
                                     const std::optional<NDArray>& bias, const Shape& strides,
                                     const Shape& pads, const Shape& dilations, bool relu,
                                     bool pools) {
  const Shape of_weight(weight.shape().begin(), weight.shape().end());
  SmallConvolutionShape shape = ShapeOf(x, of_weight, strides, pads, dilations);
  shape.relu = relu;
  shape.pools = pools;
  CheckWeight("weight", weight);
  if (bias) CheckWeight("bias", *bias);
  if (bias && (bias->shape().size() != 1 || bias->shape()[0] != shape.out_channels)) {
    MXNET_THROW("ValueError") << "bias: expected the shape (" << shape.out_channels << "), got "
                              << bias->shape().str();
  }
  const Shape y{x[0], shape.out_channels, shape.Result(0), shape.Result(1)};
  if (y[2] < 1 || y[3] < 1) {
    MXNET_THROW("ValueError") << "x: no window fits into an image of " << x[2] << " by " << x[3];
  }
  if (!Fits(shape)) {
    MXNET_THROW("ValueError") << "x: expected an image and a result of 2 ** 20 elements or fewer, "
                                 "pads included";
  }
  const NDArray dense_weight = op::Contiguous(weight.tensor());
  const NDArray dense_bias = bias ? op::Contiguous(bias->tensor()) : NDArray();
  const bool shares = x[0] < kManyImages && !IsNear(shape);
  auto state = std::unique_ptr<Convolution>(
      new Convolution{x[0], x[1] * x[2] * x[3], y[1] * y[2] * y[3],
                      op::SmallConvolution(shape, dense_weight.data_as<float>(),
                                           bias ? dense_bias.data_as<float>() : nullptr),
                      x[1], shares});
  const size_t copy_bytes = shares ? state->loops.copy_bytes() : 0;
  const std::string name =
      std::string("small_convolution") + (relu ? "+relu" : "") + (pools ? "+max_pool" : "");
  return op::MakeKernel(name, {{{kFloat32, x}}}, {KernelOutput{kFloat32, y}}, std::move(state),
                        copy_bytes);
}

/*!
 * \brief Whether the loops are estimated to take less time than kernels that have the channels in
 * blocks. Times are counted in instructions that multiply and add a register; the factors are those
 * of oneDNN 3 on processors of both widths, for images of 8 to 64 rows.
 */
struct Estimate {
  /*! \brief Shorter work stays on the calling thread. */
  static constexpr double kWorthSharing = 60000;
  /*! \brief What a step of a plan takes, without its work. */
  static constexpr double kStep = 4000;
  /*! \brief Up to so many channels are read as they lie, others are brought to blocks. */
  static constexpr int64_t kFewChannels = 3;

  SmallConvolutionShape shape;
  double batch;

  double Result() const { return ResultSize(shape); }

  double Own() const {
    const ConvolutionLoops loops = op::LoopsOf(shape);
    const bool turns = loops.lanes == op::ConvolutionLanes::kChannels;
    return 1.25 * loops.multiplies + (turns ? Result() : 0) + PaddedSize(shape) / 2;
  }

  /*! \brief Without what it takes to bring the result out of blocks, which may not be needed. */
  double Blocked() const {
    const bool is_wide = op::HostCpuLevel() >= op::CpuLevel::kAvx512;
    const bool is_few = shape.channels <= kFewChannels;
    const int64_t block = is_wide ? 16 : 8;
    const double lanes = op::HostCpuLevel() >= op::CpuLevel::kAvx2 ? block : 4;
    const double sums =
        Size((shape.out_channels + block - 1) / block * block, shape.Windows(0), shape.Windows(1));
    const double multiplies = sums * Size(shape.channels, shape.kernel[0], shape.kernel[1]) / lanes;
    double time = (is_few && !is_wide ? 1.3 : 1.05) * multiplies;
    if (!is_few) {
      const double of_element = shape.channels % 8 == 0 ? 1.5 : 3;
      time += of_element * Size(shape.channels, shape.image[0], shape.image[1]) + kStep / batch;
    }
    if (shape.pools) time += sums / 2 + kStep / batch;
    return time;
  }

  bool IsFaster() const {
    const double own = Own() * batch;
    const double blocked = Blocked() * batch;
    const double threads = op::NumThreads();
    if (own < kWorthSharing) return own <= blocked;
    // Images are shared, their rows are not.
    return own / std::min(batch, threads) <= blocked / threads;
  }
};

bool SuitsSmallConvolution(const Shape& x, const Shape& weight, const Shape& strides,
                           const Shape& pads, const Shape& dilations, bool pools) {
  SmallConvolutionShape shape = ShapeOf(x, weight, strides, pads, dilations);
  shape.pools = pools;
  if (shape.Result(0) < 1 || shape.Result(1) < 1) return false;
  if (weight[2] * weight[3] == 1) return false;  // a product of matrices
  return IsNear(shape) && Estimate{shape, static_cast<double>(x[0])}.IsFaster();
}

MXNET_REGISTER_API("mx.graph.suits_small_convolution")
    .describe(
        "Whether small_convolution is estimated to be faster than kernels that have channels in "
        "blocks, and its data to stay in the caches; where no window fits it is not.")
    .arg("x", "The shape of the images: batch, channels, rows, columns.")
    .arg("weight", "Its shape.")
    .arg("strides", "Of rows and of columns.")
    .arg("pads", "Above, left, below, right.")
    .arg("dilations", "Of rows and of columns.")
    .arg("pools", "Whether a pool follows, which the kernel does.")
    .name_errors()
    .set_body_typed(&SuitsSmallConvolution);

bool FitsSmallConvolution(const Shape& x, const Shape& weight, const Shape& strides,
                          const Shape& pads, const Shape& dilations, bool pools) {
  SmallConvolutionShape shape = ShapeOf(x, weight, strides, pads, dilations);
  shape.pools = pools;
  return shape.Result(0) >= 1 && shape.Result(1) >= 1 && Fits(shape);
}

MXNET_REGISTER_API("mx.graph.fits_small_convolution")
    .describe(
        "Whether small_convolution takes it: images and results of 2 ** 20 elements or fewer.")
    .arg("x", "The shape of the images: batch, channels, rows, columns.")
    .arg("weight", "Its shape.")
    .arg("strides", "Of rows and of columns.")
    .arg("pads", "Above, left, below, right.")
    .arg("dilations", "Of rows and of columns.")
    .arg("pools", "Whether a pool follows, which the kernel does.")
    .name_errors()
    .set_body_typed(&FitsSmallConvolution);

MXNET_REGISTER_API("mx.graph.small_convolution")
    .describe("A kernel: a convolution of float32 images, channels first, by a constant weight.")
    .arg("x", "The shape of the images: batch, channels, rows, columns.")
    .arg("weight", "Output channels, channels, rows, columns.")
    .arg("bias", "For each output channel, or None.")
    .arg("strides", "Of rows and of columns.")
    .arg("pads", "Above, left, below, right.")
    .arg("dilations", "Of rows and of columns.")
    .arg("relu", "Whether negative sums become 0.")
    .arg("pools", "Whether the largest of each two by two sums is kept, which may lose a NaN.")
    .name_errors()
    .set_body_typed(&MakeSmallConvolution);

}  // namespace
}  // namespace graph
}  // namespace mxnet
