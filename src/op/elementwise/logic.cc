/*!
 * \file logic.cc
 * \brief Logical and bitwise operators, and shifts.
 */
#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {
namespace {

const BinaryOp kBitwiseAnd = LightBinaryOf<formulas::bitwise_and>();
const BinaryOp kBitwiseOr = LightBinaryOf<formulas::bitwise_or>();
const BinaryOp kBitwiseXor = LightBinaryOf<formulas::bitwise_xor>();
const BinaryOp kLogicalAnd = BinaryOf<formulas::logical_and, ComplexTypes>();
const BinaryOp kLogicalOr = BinaryOf<formulas::logical_or, ComplexTypes>();
const BinaryOp kLogicalXor = BinaryOf<formulas::logical_xor, ComplexTypes>();
const BinaryOp kLeftShift = BinaryOf<formulas::left_shift>();
const BinaryOp kRightShift = BinaryOf<formulas::right_shift>();

MXNET_REGISTER_BINARY("bitwise_and", "Ands the bits of integers, or bools.", kBitwiseAnd);
MXNET_REGISTER_BINARY("bitwise_or", "Ors the bits of integers, or bools.", kBitwiseOr);
MXNET_REGISTER_BINARY("bitwise_xor", "Exclusive-ors the bits of integers, or bools.", kBitwiseXor);
MXNET_REGISTER_BINARY("logical_and", "Whether both elements are true, that is not zero.",
                      kLogicalAnd);
MXNET_REGISTER_BINARY("logical_or", "Whether at least one element is true, that is not zero.",
                      kLogicalOr);
MXNET_REGISTER_BINARY("logical_xor", "Whether exactly one element is true, that is not zero.",
                      kLogicalXor);
MXNET_REGISTER_BINARY("left_shift",
                      "Shifts the bits of x1 left by x2; a distance beyond its bits gives 0.",
                      kLeftShift);
MXNET_REGISTER_BINARY("right_shift",
                      "Shifts the bits of x1 right by x2, keeping the sign; a distance beyond its "
                      "bits gives 0, or -1 for a negative integer.",
                      kRightShift);

}  // namespace
}  // namespace op
}  // namespace mxnet
