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

using runtime::ParamType;

constexpr ParamType kShapeType{"int | Sequence[int]", kMXNetRoleShape};
constexpr char kShapeDoc[] = "Extents of the array.";
constexpr ParamType kDTypeType{"DTypeLike | None", kMXNetRoleDType};
constexpr ParamType kRequiredDTypeType{"DTypeLike", kMXNetRoleDType};
constexpr char kDTypeDoc[] = "Element type; float32 if None.";
constexpr char kLikeDTypeDoc[] = "Element type; that of the given array if None.";
constexpr char kOrderDoc[] = "Memory layout; only row-major, 'C', is supported.";
constexpr ParamType kContextType{"Context | str | None", kMXNetRoleContext};
constexpr char kContextDoc[] = "Where the array is allocated; the current context if None.";
constexpr char kLikeContextDoc[] = "Where the array is allocated; where the given one is if None.";
constexpr ParamType kArrayType{"ArrayLike", kMXNetRoleArray};
constexpr ParamType kOptionalArrayType{"ArrayLike | None", kMXNetRoleArray};
constexpr char kArrayDoc[] = "Input array.";
constexpr ParamType kArraysType{"Sequence[ArrayLike]", kMXNetRoleArrays};
constexpr ParamType kOutType{"ndarray | None", kMXNetRoleOut};
constexpr ParamType kAxisType{"int", kMXNetRoleAxes};
constexpr ParamType kOptionalAxisType{"int | None", kMXNetRoleAxes};
constexpr ParamType kAxesType{"int | Sequence[int]", kMXNetRoleAxes};
constexpr ParamType kOptionalAxesType{"int | Sequence[int] | None", kMXNetRoleAxes};

/*! \brief Bytes of operands from which a copy takes longer than giving up the lock of Python. */
constexpr int kReleaseBytes = 1 << 16;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_DESCRIBE_H_
