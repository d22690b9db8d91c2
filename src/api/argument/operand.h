/*!
 * \file operand.h
 * \brief One operand of an elementwise operator.
 */
#ifndef MXNET_SRC_API_ARGUMENT_OPERAND_H_
#define MXNET_SRC_API_ARGUMENT_OPERAND_H_

#include <mxnet/runtime/packed_func.h>

#include <optional>

#include "api/argument/nested.h"
#include "op/semantics/promotion.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief An array, borrowed where that is possible, or a Python scalar with its weak type.
 *
 * Reading an array or a scalar allocates nothing. A list becomes an array that the operand owns, of
 * the type that asarray gives it, as does a foreign array whose address does not suit its element
 * type.
 */
class Operand {
 public:
  /*! \brief Reads an argument. TypeError where it is neither; ValueError off the host, and for text
   * where the use is kElements. */
  explicit Operand(const MXNetArgValue& arg, ArrayUse use = ArrayUse::kOperand);
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  bool is_array() const noexcept { return tensor_ != nullptr; }
  /*! \brief The array; only where is_array(). */
  const DLTensor& tensor() const noexcept { return *tensor_; }
  /*! \brief Its shape; a scalar's is (). */
  ShapeView shape() const noexcept { return is_array() ? TensorShape(*tensor_) : ShapeView(); }
  /*! \brief kNone for an array. */
  WeakKind kind() const noexcept { return kind_; }
  /*! \brief The kind of the numbers in a list of Python numbers; kNone for all else. */
  WeakKind kind_of_numbers() const noexcept { return numbers_; }
  /*! \brief The array's type, or the default type of the scalar. */
  DLDataType dtype() const noexcept { return dtype_; }
  Context ctx() const noexcept { return is_array() ? tensor_->device : Context{kDLCPU, 0}; }

  /*!
   * \brief Writes the scalar as one element of dtype; only where !is_array().
   *
   * OverflowError for an integer that an integer type cannot hold. Where the use is kElements as
   * StoreNumber has it.
   */
  void StoreScalar(DLDataType dtype, void* out) const;

  /*! \brief The scalar as int64 or, above INT64_MAX, uint64; only for kBool and kInt. */
  int64_t int_value() const noexcept { return value_.v_int64; }
  bool is_large_uint() const noexcept { return dtype_ == kUInt64 && kind_ == WeakKind::kInt; }

  /*! \brief An array of dtype with the operand's elements: borrowed, or converted and owned. */
  const DLTensor& TensorAs(DLDataType dtype);

  /*! \brief The same where what reads the array converts it: one of several elements is borrowed
   * in its own type. Numbers of a sequence are of dtype at once. */
  const DLTensor& TensorToConvert(DLDataType dtype);

  /*! \brief The operand as an array that outlives the arguments: shared, copied or 0-d. */
  NDArray TakeArray();

 private:
  void Own(NDArray array);

  const DLTensor* tensor_{nullptr};
  WeakKind kind_{WeakKind::kNone};
  WeakKind numbers_{WeakKind::kNone};
  ArrayUse use_;
  // Python numbers are read again for every type: no other type between would keep their value.
  std::optional<MXNetArgValue> nested_;
  DLDataType dtype_{};
  MXNetValue value_{};
  NDArray owned_;
};

/*! \brief Where the result of two operands belongs. */
inline Context ContextOf(const Operand& a, const Operand& b) noexcept {
  return a.is_array() ? a.ctx() : b.ctx();
}

/*!
 * \brief Any array-like argument as an array: shares an NDArray, copies a borrowed tensor, makes a
 * 0-d array of a Python scalar and an array of nested sequences.
 */
NDArray ToArray(MXNetArgValue arg);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_ARGUMENT_OPERAND_H_
