/*!
 * \file window.h
 * \brief The attributes of what slides over spatial axes.
 */
#ifndef ONEDNN_MODELS_WINDOW_H_
#define ONEDNN_MODELS_WINDOW_H_

#include "lowering.h"

namespace onednn {

struct WindowAttributes {
  Shape strides;
  Shape dilations;
  Shape pads;         /*!< the beginnings of all axes, then the ends */
  bool follows_shape; /*!< pads are those that auto_pad makes of the shape of the input */
};

/*! \brief Of a window of these extents over input 0; Failure for what does not go together. */
WindowAttributes WindowOf(const NodeLowering& to, const Shape& kernel);

}  // namespace onednn

#endif  // ONEDNN_MODELS_WINDOW_H_
