/*!
 * \file range.h
 * \brief Evenly spaced numbers in new arrays.
 */
#ifndef MXNET_SRC_OP_CREATION_RANGE_H_
#define MXNET_SRC_OP_CREATION_RANGE_H_

#include <mxnet/op/attributes.h>

#include <optional>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

struct RangeAttributes {
  Number start;
  std::optional<Number> stop;
  std::optional<Number> step;
  std::optional<DLDataType> dtype;
};

/*! \brief The numbers of arange. */
NDArray MakeRange(const RangeAttributes& attributes, Context ctx);

struct SpacingAttributes {
  double start;
  double stop;
  int64_t num;
  bool endpoint;
  bool retstep;
  std::optional<DLDataType> dtype;
};

/*! \brief The numbers of linspace, and the distance of neighbours. */
NDArray MakeSpaced(const SpacingAttributes& attributes, Context ctx, double* distance);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_CREATION_RANGE_H_
