/*!
 * \file arg_extremum.h
 * \brief What argmax and argmin differ in, and what they find.
 */
#ifndef MXNET_SRC_OP_REDUCTION_ARG_EXTREMUM_H_
#define MXNET_SRC_OP_REDUCTION_ARG_EXTREMUM_H_

#include <optional>

#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief Finds along the one reduced axis of a reduction, for each index of the kept ones. */
struct FindTable {
  int64_t (*find[kNumDTypes])(const char* x, int64_t stride, int64_t n);
  /*! \brief NULL where columns are not searched side by side. */
  void (*columns[kNumDTypes])(const char* x, int64_t stride, int64_t columns, int64_t step,
                              int64_t n, int64_t* out);
};

/*! \brief A search, and its name for messages. */
struct Search {
  FindTable table;
  const char* name;
};

/*! \brief What is found along one axis, or along all as one, in a new array without them. */
NDArray Find(const Search& search, const DLTensor& a, std::optional<int64_t> axis);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_ARG_EXTREMUM_H_
