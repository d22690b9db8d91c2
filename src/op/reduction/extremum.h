/*!
 * \file extremum.h
 * \brief What max, min, any and all differ in.
 */
#ifndef MXNET_SRC_OP_REDUCTION_EXTREMUM_H_
#define MXNET_SRC_OP_REDUCTION_EXTREMUM_H_

#include "op/reduction/reduce.h"

namespace mxnet {
namespace op {

/*! \brief A reduction to elements of the table's types. */
struct Extremum {
  ReduceTable table;
  const char* identity_of; /*!< what has no value for no elements; NULL where there is one */
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_EXTREMUM_H_
