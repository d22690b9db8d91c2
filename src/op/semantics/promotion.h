/*!
 * \file promotion.h
 * \brief The data type of a result, by the rules of mxnet/op/promotion.h.
 */
#ifndef MXNET_SRC_OP_SEMANTICS_PROMOTION_H_
#define MXNET_SRC_OP_SEMANTICS_PROMOTION_H_

#include <mxnet/op/c_operator_api.h>

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief What a Python scalar adds to a result type (NEP 50); kNone is an array's own type. */
enum class WeakKind {
  kNone = kMXNetWeakNone,
  kBool = kMXNetWeakBool,
  kInt = kMXNetWeakInt,
  kFloat = kMXNetWeakFloat,
  kComplex = kMXNetWeakComplex
};

/*! \brief The smallest type that holds both; TypeError for a type operators do not know. */
DLDataType PromoteTypes(DLDataType a, DLDataType b);

/*!
 * \brief The smallest type that holds all of many, in whatever order they come.
 *
 * Those of higher kinds count first: uint16, int16 and complex64 together are complex64, though of
 * the first two alone and complex64 it were complex128.
 */
class CommonType {
 public:
  void Add(DLDataType dtype) { has_[CheckedIndexOfDType(dtype)] = true; }
  bool is_empty() const noexcept;
  /*! \brief The type; only where there is one. */
  DLDataType dtype() const;

 private:
  bool has_[kNumDTypes]{};
};

/*! \brief The type of Python numbers on their own: bool, int64, float32, complex64. */
DLDataType DefaultDType(WeakKind kind);

/*! \brief The type of an array of dtype together with a Python scalar. */
DLDataType PromoteWeak(DLDataType dtype, WeakKind kind);

/*!
 * \brief The type of an array of dtype together with a list of Python numbers.
 *
 * Integers and bools beside each other count as the arrays that they are. In all else the list is
 * weak, so that it does not widen floats and complex numbers.
 */
DLDataType PromoteNumbers(DLDataType dtype, DLDataType numbers, WeakKind kind);

/*!
 * \brief The type of two operands; an operand whose kind is not kNone is a Python scalar.
 *
 * Of two Python scalars it is the type of the larger kind.
 */
DLDataType ResultType(DLDataType a, WeakKind a_kind, DLDataType b, WeakKind b_kind);

/*! \brief The float of an integer type as exp() has it: 8 bits float16, 16 float32, else float64.
 */
DLDataType FloatOfDType(DLDataType dtype);

/*! \brief The component type of a complex type; any other type itself. */
DLDataType RealOfDType(DLDataType dtype);

/*! \brief NumPy's casting='same_kind': a safe cast or one inside a kind, float64 to float32. */
bool CanCastSameKind(DLDataType from, DLDataType to);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SEMANTICS_PROMOTION_H_
