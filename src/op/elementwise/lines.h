/*!
 * \file lines.h
 * \brief Elementwise operators on lines: elements at even steps, of a type that may not be the one
 * that is computed in.
 */
#ifndef MXNET_SRC_OP_ELEMENTWISE_LINES_H_
#define MXNET_SRC_OP_ELEMENTWISE_LINES_H_

#include "op/elementwise/elementwise.h"

namespace mxnet {
namespace op {

/*! \brief Operands as lines, of which one may be a number, and how they are computed with. */
struct ElementLines {
  /*! \brief With an operand that is an array, and which operand is a number; 0 for none. */
  ElementLines(const DLTensor& array, int number_operand) noexcept
      : shaped(array), number(number_operand), stored(IndexOfDType(array.dtype)) {}
  ElementLines(const ElementLines&) = delete;
  ElementLines& operator=(const ElementLines&) = delete;

  /*!
   * \brief Finds the loop of an operator for the arrays with, where `with_float`, a Python float;
   * false where there is none or a rule of its own decides on the type.
   */
  bool FindLoop(const LoopTable& table, MXNetTypeRule rule, ResultRule result_rule,
                bool with_float);
  /*! \brief Makes an array input i, if it is a line of the type and shape of the one. */
  bool SetInput(int i, const DLTensor& array);
  /*! \brief Makes the number, whose element is in `scalar`, its input. */
  void SetNumber() noexcept;
  /*! \brief Makes an array the output, if it fits and each input is it or apart from it. */
  bool SetOutput(const DLTensor& out);
  /*! \brief Throws where an operator rejects integers of x2, an array unless it is the number. */
  void CheckIntegers(const BinaryOp& op, const DLTensor* x2) const;

  /*! \brief Computes into the output that is set. */
  void RunBinary() const;
  /*! \brief Computes into a new array. */
  NDArray MakeBinary(const BinaryOp& op);
  NDArray MakeUnary(const UnaryOp& op);

  const DLTensor& shaped;
  int number;
  int stored;     /*!< the DTypeIndex of the arrays; -1 for none */
  int computed{}; /*!< that of the loop */
  int result{};   /*!< that of what the loop gives, before it is of the type of the output */
  InnerLoop loop{nullptr};
  bool is_light{};
  int64_t size;
  char* data[3]; /*!< out, x1, x2 */
  int64_t strides[3];
  ElementBuffer scalar;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ELEMENTWISE_LINES_H_
