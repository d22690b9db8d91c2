/*!
 * \file nested.h
 * \brief Arrays of nested Python sequences.
 */
#ifndef MXNET_SRC_API_ARGUMENT_NESTED_H_
#define MXNET_SRC_API_ARGUMENT_NESTED_H_

#include <mxnet/op/dims.h>
#include <mxnet/runtime/packed_func.h>

#include <optional>

#include "op/semantics/dispatch.h"
#include "op/semantics/promotion.h"
#include "op/tensor/number.h"

namespace mxnet {
namespace op {

/*! \brief What may be an index, for messages. */
constexpr char kValidIndices[] =
    "only integers, slices (`:`), ellipsis (`...`), mx.np.newaxis (`None`) and integer or boolean "
    "arrays are valid indices";

/*! \brief What an array is made for, which says what is wrong with it. */
enum class ArrayUse {
  kElements, /*!< to be one; text among its items is a ValueError */
  kOperand,  /*!< to compute with; text among its items is a TypeError */
  kIndex     /*!< to index with: of nothing at all it is int64, what is no number an IndexError */
};

/*!
 * \brief A new array of a tuple or list, of dtype or of the type its elements ask for.
 *
 * Of Python numbers alone that is the type of their widest kind: bool, int64 (uint64 with one
 * beyond it, as NumPy), float32, complex64; float32 of nothing at all. Scalars and arrays, at the
 * top or as items, are accepted too; the types of arrays are promoted together, Python numbers
 * beside them as PromoteNumbers has it. ValueError for ragged nesting, TypeError for elements that
 * are neither numbers nor arrays unless the use says otherwise, OverflowError for an int that dtype
 * cannot hold.
 */
NDArray ArrayFromNested(MXNetArgValue arg, std::optional<DLDataType> dtype,
                        Context ctx = Context{kDLCPU, 0}, ArrayUse use = ArrayUse::kElements);

/*!
 * \brief The kind of the numbers in a tuple or list that holds nothing else.
 *
 * kNone where an array is among its items, kFloat without any item; errors as ArrayFromNested.
 */
WeakKind KindOfNumbers(const MXNetArgValue& arg);

/*! \brief What ArrayFromNested would make of a tuple or list, whose elements are not read. */
struct NestedSpec {
  DimBuffer shape;
  DLDataType dtype;
  bool is_elsewhere; /*!< whether an array is among the items that the CPU has not */
};

/*! \brief That of a sequence; errors of its nesting and its items as ArrayFromNested. */
NestedSpec SpecOfNested(const MXNetArgValue& arg, ArrayUse use);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_ARGUMENT_NESTED_H_
