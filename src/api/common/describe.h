/*!
 * \file describe.h
 * \brief Type expressions and documentation of the parameters that many operators share.
 */
#ifndef MXNET_SRC_API_COMMON_DESCRIBE_H_
#define MXNET_SRC_API_COMMON_DESCRIBE_H_

#include <mxnet/runtime/registry.h>

/*!
 * \brief Starts the registration of an operator: its errors name it, and it returns an array.
 *
 * It asks for that array before it reads elements, or is a view; see kMXNetFuncMeta.
 */
#define MXNET_REGISTER_OP(Name) MXNET_REGISTER_ELEMENTS_OP(Name).flags(kMXNetFuncMeta)

/*! \brief The same for an operator whose result has a geometry that depends on elements. */
#define MXNET_REGISTER_ELEMENTS_OP(Name) \
  MXNET_REGISTER_API(Name).name_errors().flags(kMXNetFuncOperator).returns("ndarray")

namespace mxnet {
namespace op {

constexpr char kShapeType[] = "int | Sequence[int]";
constexpr char kShapeDoc[] = "Extents of the array.";
constexpr char kDTypeType[] = "DTypeLike | None";
constexpr char kDTypeDoc[] = "Element type; float32 if None.";
constexpr char kLikeDTypeDoc[] = "Element type; that of the given array if None.";
constexpr char kOrderDoc[] = "Memory layout; only row-major, 'C', is supported.";
constexpr char kContextType[] = "Context | str | None";
constexpr char kContextDoc[] = "Where the array is allocated; the current context if None.";
constexpr char kLikeContextDoc[] = "Where the array is allocated; where the given one is if None.";
constexpr char kArrayType[] = "ArrayLike";
constexpr char kArrayDoc[] = "Input array.";
constexpr char kArraysType[] = "Sequence[ArrayLike]";
constexpr char kAxisType[] = "int";
constexpr char kOptionalAxisType[] = "int | None";
constexpr char kAxesType[] = "int | Sequence[int]";
constexpr char kOptionalAxesType[] = "int | Sequence[int] | None";

/*! \brief Bytes of operands from which a copy takes longer than giving up the lock of Python. */
constexpr int kReleaseBytes = 1 << 16;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_DESCRIBE_H_
