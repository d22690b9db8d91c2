/*!
 * \file describe.h
 * \brief Type expressions and documentation of the parameters that many operators share.
 */
#ifndef MXNET_SRC_OP_SCHEMA_DESCRIBE_H_
#define MXNET_SRC_OP_SCHEMA_DESCRIBE_H_

#include <mxnet/runtime/registry.h>

namespace mxnet {
namespace op {

using runtime::ParamType;

constexpr char kShapeDoc[] = "Extents of the array.";
constexpr ParamType kDTypeType{"DTypeLike | None", kMXNetRoleDType};
constexpr char kDTypeDoc[] = "Element type; float32 if None.";
constexpr char kLikeDTypeDoc[] = "Element type; that of the given array if None.";
constexpr char kOrderDoc[] = "Memory layout; only row-major, 'C', is supported.";
constexpr ParamType kContextType{"Context | str | None", kMXNetRoleContext};
constexpr char kContextDoc[] = "Where the array is allocated; the current context if None.";
constexpr char kLikeContextDoc[] = "Where the array is allocated; where the given one is if None.";
constexpr ParamType kArrayType{"ArrayLike", kMXNetRoleArray};
constexpr char kArrayDoc[] = "Input array.";

/*! \brief Bytes of operands from which a copy takes longer than giving up the lock of Python. */
constexpr int kReleaseBytes = 1 << 16;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_SCHEMA_DESCRIBE_H_
