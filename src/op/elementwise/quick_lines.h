/*!
 * \file quick_lines.h
 * \brief Elementwise operators on lines: elements at even steps, of a type that may not be the one
 * that is computed in.
 */
#ifndef MXNET_SRC_OP_ELEMENTWISE_QUICK_LINES_H_
#define MXNET_SRC_OP_ELEMENTWISE_QUICK_LINES_H_

#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {

/*! \brief x1 and x2 of args, and out if it is given; false where they need the slow path. */
bool QuickBinaryLines(const BinaryOp& op, const MXNetArgs& args, MXNetRetValue* ret);
/*! \brief The same of x, without out. */
bool QuickUnaryLine(const UnaryOp& op, const DLTensor& x, MXNetRetValue* ret);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ELEMENTWISE_QUICK_LINES_H_
