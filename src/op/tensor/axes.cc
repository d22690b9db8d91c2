/*!
 * \file axes.cc
 * \brief Checks of axes and shapes.
 */
#include "op/tensor/axes.h"

#include <mxnet/op/extent.h>
#include <mxnet/runtime/error.h>

namespace mxnet {
namespace op {

void CheckNdim(int ndim) {
  if (ndim <= kMaxNdim) return;
  MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got " << ndim;
}

int NormalizeAxis(int64_t axis, int ndim, const char* prefix) {
  if (axis < -ndim || axis >= ndim) {
    MXNET_THROW("AxisError") << prefix << "axis " << axis << " is out of bounds for array of "
                             << "dimension " << ndim;
  }
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

void NormalizeAxes(ShapeView axes, int ndim, DimBuffer* out, const char* repeated) {
  bool seen[kMaxNdim] = {};
  out->ndim = 0;
  for (int64_t given : axes) {
    const int axis = NormalizeAxis(given, ndim);
    if (seen[axis]) MXNET_THROW("ValueError") << repeated;
    seen[axis] = true;
    out->push_back(axis);
  }
}

std::string CompactShape(ShapeView shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ",";
    text += ExtentText(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

void CheckBroadcastInto(ShapeView from, ShapeView to) {
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const int64_t extent = from[from.size() - 1 - i];
    fits = extent == 1 || !AreDifferent(extent, to[to.size() - 1 - i]);
  }
  if (!fits) {
    MXNET_THROW("ValueError") << "could not broadcast input array from shape " << CompactShape(from)
                              << " into shape " << CompactShape(to);
  }
}

}  // namespace op
}  // namespace mxnet
