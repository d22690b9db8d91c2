/*!
 * \file sort.cc
 * \brief Quick ways of sort, argsort and unique.
 */
#include "op/sort/sort.h"

#include "api/quick/arguments.h"
#include "api/quick/attach.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Of a row-major array along its last axis. */
template <bool kPositions>
bool QuickSort(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostArray(args, 0);
  const bool is_plain = array != nullptr && args.type_codes[1] == kMXNetInt &&
                        args.values[1].v_int64 == -1 && args.type_codes[2] == kMXNetNull;
  if (!is_plain || array->ndim == 0 || IsBoolDType(array->dtype)) return false;
  if (!IsContiguous(*array)) return false;
  *ret = SortedLastAxis<kPositions>(*array);
  return true;
}

bool QuickUnique(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostArray(args, 0);
  if (array == nullptr) return false;
  *ret = Unique(*array);
  return true;
}

MXNET_QUICK("_npi.sort", &QuickSort<false>);
MXNET_QUICK("_npi.argsort", &QuickSort<true>);
MXNET_QUICK("_npi.unique", &QuickUnique);

}  // namespace
}  // namespace op
}  // namespace mxnet
