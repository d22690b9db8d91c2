/*!
 * \file window.h
 * \brief What slides over spatial axes: the kernels of convolutions and of pooling.
 */
#ifndef MXNET_SRC_ONEDNN_WINDOW_H_
#define MXNET_SRC_ONEDNN_WINDOW_H_

#include <optional>
#include <string>
#include <vector>

#include "onednn/engine.h"

namespace mxnet {
namespace onednn {

using GivenInts = std::optional<std::vector<int64_t>>;

struct Window {
  /*! \brief With strides and dilations of 1 and no padding where none are given. pads has the
   * beginnings of all axes first. ValueError for what does not fit the number of axes. */
  Window(Dims kernel, const GivenInts& strides, const GivenInts& pads, const GivenInts& dilations);

  size_t ndim() const { return kernel.size(); }
  /*! \brief From the first to the last element that the window sees along an axis. */
  int64_t Reach(size_t axis) const { return (kernel[axis] - 1) * (dilation[axis] + 1) + 1; }
  /*! \brief How often it fits along the last axes of x; with `ceil`, the last time but partly.
   * ValueError where it does not fit once. Makes the ends of the padding fit exactly. */
  Dims Slide(const Dims& x, bool ceil = false);

  Dims kernel;
  Dims strides;
  Dims dilation; /*!< elements left out, as oneDNN counts: 0 for none */
  Dims begin;
  Dims end;
};

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_WINDOW_H_
