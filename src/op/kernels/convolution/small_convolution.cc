/*!
 * \file small_convolution.cc
 * \brief Convolutions of small images on the registers that the processor has.
 */
#include "op/kernels/convolution/small_convolution.h"

#include <algorithm>

#include "op/kernels/lanes/floats.h"

namespace mxnet {
namespace op {

#define MXNET_LOOPS Convolution
#define MXNET_LOOPS_FILE "op/kernels/convolution/small_convolution.inc"
#include "op/kernels/lanes/levels.inc"

namespace {

/*! \brief Elements of the largest tile of columns, which may begin at the last one of an image. */
constexpr int64_t kBehind = 64;

SmallConvolution::Parts PartsOf(const SmallConvolutionShape& shape, const float* weight,
                                const float* bias) {
  SmallConvolution::Parts parts{};
  parts.shape = shape;
  parts.loops = LoopsOf(shape);
  for (size_t axis = 0; axis < 2; ++axis) {
    parts.result[axis] = shape.Result(axis);
    parts.windows[axis] = shape.pools ? 2 * parts.result[axis] : shape.Windows(axis);
  }
  const auto& [height, width] = shape.image;
  const int64_t stride = shape.strides[1];
  const bool is_as_given = stride == 1 && shape.pads == std::array<int64_t, 4>{};
  parts.copies = !is_as_given || parts.loops.lanes == ConvolutionLanes::kColumns;
  parts.plane_rows = height + shape.pads[0] + shape.pads[2];
  parts.phase = (width + shape.pads[1] + shape.pads[3] + stride - 1) / stride;
  const int64_t row = stride * parts.phase;
  parts.row_step = shape.strides[0] * row;
  parts.image_size = Lines::RoundUp(shape.channels * parts.plane_rows * row + kBehind);
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    for (int64_t i = 0; i < shape.kernel[0]; ++i) {
      for (int64_t j = 0; j < shape.kernel[1]; ++j) {
        const int64_t column = j * shape.dilations[1];
        parts.offsets.push_back((channel * parts.plane_rows + i * shape.dilations[0]) * row +
                                column % stride * parts.phase + column / stride);
      }
    }
  }
  const int64_t block = parts.loops.block;
  const auto taps = static_cast<int64_t>(parts.offsets.size());
  const int64_t padded = (shape.out_channels + block - 1) / block * block;
  parts.weight = Lines(padded * taps);
  parts.bias = Lines(padded);
  for (int64_t channel = 0; channel < shape.out_channels; ++channel) {
    float* const to = parts.weight.data() + channel / block * block * taps + channel % block;
    for (int64_t tap = 0; tap < taps; ++tap) to[tap * block] = weight[channel * taps + tap];
    if (bias != nullptr) parts.bias.data()[channel] = bias[channel];
  }
  return parts;
}

}  // namespace

ConvolutionLoops LoopsOf(const SmallConvolutionShape& shape) noexcept {
  return WithLoops([&](auto loops) { return loops.LoopsOf(shape); });
}

SmallConvolution::SmallConvolution(const SmallConvolutionShape& shape, const float* weight,
                                   const float* bias)
    : parts_(PartsOf(shape, weight, bias)) {}

size_t SmallConvolution::workspace() const { return copy_bytes() + workspace_of(rows()); }

size_t SmallConvolution::copy_bytes() const {
  return parts_.copies ? static_cast<size_t>(parts_.image_size) * sizeof(float) : 0;
}

size_t SmallConvolution::workspace_of(int64_t rows) const {
  if (parts_.loops.lanes != ConvolutionLanes::kChannels) return 0;
  const int64_t made = parts_.shape.pools ? rows / 2 : rows;
  return static_cast<size_t>(made * parts_.result[1] * parts_.loops.block) * sizeof(float);
}

int64_t SmallConvolution::blocks() const {
  return (parts_.shape.out_channels + parts_.loops.block - 1) / parts_.loops.block;
}

void SmallConvolution::Run(const float* x, float* y, void* work) const noexcept {
  auto* memory = static_cast<float*>(work);
  const float* image = x;
  if (parts_.copies) {
    Copy(x, 0, parts_.shape.channels, memory);
    image = memory;
    memory += parts_.image_size;
  }
  RunPart({0, blocks(), 0, rows()}, image, y, memory);
}

void SmallConvolution::Copy(const float* x, int64_t begin, int64_t end, void* copy) const noexcept {
  WithLoops([&](auto loops) { loops.Copy(parts_, x, begin, end, static_cast<float*>(copy)); });
}

void SmallConvolution::RunPart(const ConvolutionPart& part, const float* image, float* y,
                               void* work) const noexcept {
  WithLoops([&](auto loops) { loops.Run(parts_, part, image, y, static_cast<float*>(work)); });
}

}  // namespace op
}  // namespace mxnet
