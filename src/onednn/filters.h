/*!
 * \file filters.h
 * \brief What convolutions, their transposes and their gradients have in common.
 */
#ifndef MXNET_SRC_ONEDNN_FILTERS_H_
#define MXNET_SRC_ONEDNN_FILTERS_H_

#include <utility>

#include "onednn/primitive.h"

namespace mxnet {
namespace onednn {

/*! \brief Weights with the groups as an axis of their own, the first. */
inline Dims Grouped(const Dims& weight, int64_t groups) {
  if (groups == 1) return weight;
  Dims grouped = weight;
  grouped[0] /= groups;
  grouped.insert(grouped.begin(), groups);
  return grouped;
}

inline Dims Spatial(const Dims& shape) { return Dims(shape.begin() + 2, shape.end()); }

/*! \brief Each weight is multiplied once for each of these images' positions. */
inline void ExpectProducts(const Dims& weight, const Dims& image, Maker* maker) {
  const double positions = static_cast<double>(SizeOf(image)) / static_cast<double>(image[1]);
  maker->Expect(TimeOfProducts(static_cast<double>(SizeOf(weight)) * positions));
}

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_FILTERS_H_
