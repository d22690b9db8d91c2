/*!
 * \file nested.h
 * \brief Arrays of nested Python sequences.
 */
#ifndef MXNET_SRC_API_COMMON_NESTED_H_
#define MXNET_SRC_API_COMMON_NESTED_H_

#include <mxnet/runtime/packed_func.h>

#include <optional>

#include "api/common/dispatch.h"
#include "api/common/promotion.h"

namespace mxnet {
namespace op {

/*! \brief What may be an index, for messages. */
constexpr char kValidIndices[] =
    "only integers, slices (`:`), ellipsis (`...`), mx.np.newaxis (`None`) and integer or boolean "
    "arrays are valid indices";

/*! \brief What Python numbers become where no dtype is asked for. */
enum class NumberDefault {
  kFloat32, /*!< as MXNet: ints and floats float32, complex numbers complex64 */
  kNumPy,   /*!< as NumPy: int64 (uint64 for larger ones), float64, complex128 */
  kIndex    /*!< the same, but nothing at all is int64 */
};

/*!
 * \brief A new array of a tuple or list, of dtype or of the type its elements ask for.
 *
 * Scalars and arrays, at the top or as items, are accepted too; the types of arrays are promoted
 * together, Python numbers beside arrays of floats are weak. ValueError for ragged nesting,
 * TypeError for elements that are neither numbers nor arrays (ValueError for text, IndexError for
 * anything in an index), OverflowError for an int that dtype cannot hold.
 */
NDArray ArrayFromNested(MXNetArgValue arg, std::optional<DLDataType> dtype,
                        Context ctx = Context{kDLCPU, 0},
                        NumberDefault numbers = NumberDefault::kFloat32);

/*!
 * \brief The kind of the numbers in a tuple or list that holds nothing else.
 *
 * kNone where an array is among its items, kFloat without any item; errors as ArrayFromNested.
 */
WeakKind KindOfNumbers(const MXNetArgValue& arg);

/*! \brief Whether a value is a Python number, bools included. */
inline bool IsNumber(int type_code) noexcept {
  return type_code == kMXNetInt || type_code == kMXNetUInt || type_code == kMXNetFloat ||
         type_code == kMXNetBool || type_code == kMXNetComplex;
}

/*!
 * \brief Writes a Python number as one element of dtype, as NumPy's assignment does.
 *
 * OverflowError for an int that does not fit, ValueError for NaN to an integer type, TypeError for
 * a complex number to a real type and for what is no number.
 */
void StoreNumber(const MXNetValue& value, int type_code, DLDataType dtype, void* out);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_NESTED_H_
