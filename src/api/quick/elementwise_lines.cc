/*!
 * \file elementwise_lines.cc
 * \brief Quick ways of elementwise operators on operands that are no dense arrays of one type.
 */
#include "api/quick/elementwise_operands.h"
#include "op/elementwise/lines.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Reads the number of a call as an element of the type that is computed in. */
bool ReadNumber(const MXNetArgs& args, bool is_float, ElementLines* lines) {
  const MXNetValue& value = args.values[lines->number - 1];
  const int type_code = args.type_codes[lines->number - 1];
  // A number is of the type of the arrays first.
  if (!is_float && !ReadScalar(lines->stored, value, kMXNetInt, &lines->scalar)) return false;
  if (!ReadScalar(lines->computed, value, type_code, &lines->scalar)) return false;
  lines->SetNumber();
  return true;
}

}  // namespace

bool QuickBinaryLines(const BinaryOp& op, const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* x1 = OperandArg(args, 0);
  const DLTensor* x2 = OperandArg(args, 1);
  if (x1 == nullptr && x2 == nullptr) return false;
  const int number = x1 == nullptr ? 1 : x2 == nullptr ? 2 : 0;
  ElementLines lines(x1 != nullptr ? *x1 : *x2, number);
  const bool with_float = number != 0 && args.type_codes[number - 1] == kMXNetFloat;
  if (!lines.FindLoop(op.table, op.rule, op.result, with_float)) return false;
  if (number != 0 && !ReadNumber(args, with_float, &lines)) return false;
  if (number != 1 && !lines.SetInput(1, *x1)) return false;
  if (number != 2 && !lines.SetInput(2, *x2)) return false;
  if (args.type_codes[2] == kMXNetNull) {
    lines.CheckIntegers(op, x2);
    *ret = lines.MakeBinary(op);
    return true;
  }
  if (args.type_codes[2] != kMXNetNDArrayHandle || op.result != ResultRule::kSame) return false;
  if (IsReadOnly(args, 2) || !lines.SetOutput(ArrayArg(args, 2))) return false;
  lines.CheckIntegers(op, x2);
  lines.RunBinary();
  *ret = args[2];
  return true;
}

bool QuickUnaryLine(const UnaryOp& op, const DLTensor& x, MXNetRetValue* ret) {
  ElementLines lines(x, 0);
  if (!lines.FindLoop(op.table, op.rule, op.result, false) || !lines.SetInput(1, x)) return false;
  *ret = lines.MakeUnary(op);
  return true;
}

}  // namespace op
}  // namespace mxnet
