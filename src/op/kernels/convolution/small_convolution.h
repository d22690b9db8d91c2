/*!
 * \file small_convolution.h
 * \brief Convolutions over two axes, of images and weights that stay in the nearest caches.
 *
 * Images and results are row-major, channels first, without a layout of blocks: where channels are
 * few, filling those up would cost more than they save.
 */
#ifndef MXNET_SRC_OP_KERNELS_CONVOLUTION_SMALL_CONVOLUTION_H_
#define MXNET_SRC_OP_KERNELS_CONVOLUTION_SMALL_CONVOLUTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "op/kernels/lanes/lines.h"

namespace mxnet {
namespace op {

/*! \brief One image, the window that moves over it, and what is done to the sums. */
struct SmallConvolutionShape {
  int64_t channels;
  std::array<int64_t, 2> image; /*!< rows and columns */
  int64_t out_channels;
  std::array<int64_t, 2> kernel;
  std::array<int64_t, 2> strides;
  std::array<int64_t, 2> dilations;
  std::array<int64_t, 4> pads; /*!< above, left, below, right */
  bool relu;                   /*!< whether negative sums become 0 */
  bool pools;                  /*!< whether the largest of each two by two sums is kept */

  /*! \brief How many windows there are along an axis, less than 1 where none fits. */
  int64_t Windows(size_t axis) const {
    const int64_t reach = (kernel[axis] - 1) * dilations[axis];
    const int64_t room = image[axis] + pads[axis] + pads[2 + axis] - reach - 1;
    return room < 0 ? 0 : room / strides[axis] + 1;
  }
  /*! \brief Elements of the result along an axis. */
  int64_t Result(size_t axis) const { return pools ? Windows(axis) / 2 : Windows(axis); }
};

/*! \brief Which elements lie side by side in a register. */
enum class ConvolutionLanes { kColumns, kChannels };

/*! \brief How the loops for a shape go on this processor. */
struct ConvolutionLoops {
  ConvolutionLanes lanes;
  int64_t block;     /*!< output channels whose sums are made at the same time */
  double multiplies; /*!< instructions that multiply and add, for one image */
};

/*! \brief What is done at a time: blocks of output channels, and rows of windows. */
struct ConvolutionPart {
  int64_t first_block;
  int64_t end_block;
  int64_t first_row; /*!< an even number */
  int64_t end_row;
};

/*! \brief Of a shape whose result is not empty. */
ConvolutionLoops LoopsOf(const SmallConvolutionShape& shape) noexcept;

/*! \brief A convolution with its weights, ready for images. Several threads may run it at once. */
class SmallConvolution {
 public:
  /*! \brief Elements of an image with its pads, and of a result, at most. */
  static constexpr int64_t kMostElements = int64_t{1} << 20;

  /*!
   * \brief Packs copies of the weights: out_channels x channels x kernel; bias may be NULL.
   *
   * No extent, stride or dilation may be less than 1, no pad negative, no result empty, and neither
   * side larger than kMostElements.
   */
  SmallConvolution(const SmallConvolutionShape& shape, const float* weight, const float* bias);

  /*! \brief Bytes that Run works in. */
  size_t workspace() const;

  /*! \brief One image; work is aligned to 64 bytes. Of a NaN and a number, which is the larger is
   * not told: where pools is set a NaN may get lost, else none does. */
  void Run(const float* x, float* y, void* work) const noexcept;

  /*! \brief Bytes of the copy of an image that RunPart reads; 0 where it reads the image itself. */
  size_t copy_bytes() const;

  /*! \brief Makes that copy of channels from begin on, before end. Several threads may copy others
   * at once. */
  void Copy(const float* x, int64_t begin, int64_t end, void* copy) const noexcept;

  /*! \brief Blocks of output channels. */
  int64_t blocks() const;

  /*! \brief Rows of windows. */
  int64_t rows() const { return parts_.windows[0]; }

  /*! \brief Bytes that RunPart works in for so many rows. */
  size_t workspace_of(int64_t rows) const;

  /*! \brief A part of the result of an image, given its copy where there is one. */
  void RunPart(const ConvolutionPart& part, const float* image, float* y,
               void* work) const noexcept;

  /*! \brief What the loops of all levels read. */
  struct Parts {
    SmallConvolutionShape shape;
    ConvolutionLoops loops;
    std::array<int64_t, 2> windows; /*!< whose sums are made: an even number where pools is set */
    std::array<int64_t, 2> result;
    bool copies;        /*!< whether images are copied, with their pads and columns in phases */
    int64_t plane_rows; /*!< of a channel in the copy */
    int64_t phase;      /*!< columns of a phase: those of equal remainder by the stride */
    int64_t row_step;   /*!< from the windows of one row to those of the next */
    int64_t image_size; /*!< elements of the copy with what vectors read behind it */
    std::vector<int64_t> offsets; /*!< of the elements of a window from its first one */
    Lines weight;                 /*!< [channels / block][offset][block] */
    Lines bias;                   /*!< padded with zeros to whole blocks */
  };

  /*! \brief What all of them read. */
  const Parts& parts() const noexcept { return parts_; }

 private:
  Parts parts_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_CONVOLUTION_SMALL_CONVOLUTION_H_
