/*!
 * \file indexing_elsewhere.h
 * \brief a[key] and a[key] = value with index arrays, for arrays on an accelerator.
 */
#ifndef MXNET_SRC_API_NUMPY_INDEXING_ELSEWHERE_H_
#define MXNET_SRC_API_NUMPY_INDEXING_ELSEWHERE_H_

#include "api/call/transfer.h"
#include "api/numpy/indexing_selection.h"

namespace mxnet {
namespace op {

/*!
 * \brief The elements that an advanced key names, as a new array beside the array.
 *
 * They are taken by the accelerator's own `take`, or by copies within it where few suffice. Throws
 * ElementsElsewhere where neither does.
 */
NDArray GatherElsewhere(const NDArray& array, const IndexKey& key);

/*!
 * \brief Assigns a value, of the selection's type and broadcast to its shape, by copies.
 *
 * Fails with the kind ElementsElsewhere where too many are needed, or its library does not copy so,
 * before anything is changed.
 */
void ScatterElsewhere(const NDArray& array, const Selection& selection, const Elements& value);

/*!
 * \brief Assigns one value where a mask of the array's shape holds, by the accelerator's own
 * `where`; false where it has none.
 */
bool TryFillMaskElsewhere(const NDArray& array, const NDArray& mask, const NDArray& value);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_NUMPY_INDEXING_ELSEWHERE_H_
