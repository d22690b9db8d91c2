/*!
 * \file reduction.cc
 * \brief Quick ways of reductions, argmax and argmin among them.
 */
#include <optional>
#include <utility>

#include "api/quick/arguments.h"
#include "api/quick/attach.h"
#include "op/reduction/arg_extremum.h"
#include "op/reduction/extremum.h"
#include "op/reduction/reduce.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Where a reduction has its parameters; -1 for one that it has not. */
struct ReduceParams {
  int axis;
  int dtype;
  int out;
  int keepdims;
};

/*!
 * \brief A reduction of an array of the host over all axes or one, into a new array.
 *
 * False, and nothing done, for all other calls, and where no elements are reduced to one.
 */
bool QuickReduce(const ReduceTable& table, const ReduceParams& params, const MXNetArgs& args,
                 MXNetRetValue* ret) {
  const int axis_code = args.type_codes[params.axis];
  const bool is_plain = args.type_codes[0] == kMXNetNDArrayHandle &&
                        (axis_code == kMXNetNull || axis_code == kMXNetInt) &&
                        (params.dtype < 0 || args.type_codes[params.dtype] == kMXNetNull) &&
                        args.type_codes[params.out] == kMXNetNull &&
                        args.type_codes[params.keepdims] == kMXNetBool &&
                        args.values[params.keepdims].v_int64 == 0;
  if (!is_plain) return false;
  const DLTensor& a = static_cast<const MXNetNDArrayObject*>(args.values[0].v_handle)->tensor;
  const int index = IndexOfDType(a.dtype);
  if (a.device.device_type != kDLCPU || index < 0 || !IsAligned(a)) return false;
  const bool all = axis_code == kMXNetNull;
  std::optional<Axes> axes;
  DimBuffer shape;
  if (!all) {
    const int64_t given = args.values[params.axis].v_int64;
    const int64_t axis = given < 0 ? given + a.ndim : given;
    if (axis < 0 || axis >= a.ndim) return false;
    axes.emplace();
    axes->push_back(axis);
    for (int d = 0; d < a.ndim; ++d) {
      if (d != axis) shape.push_back(a.shape[d]);
    }
  }
  const Reduction r(a, axes);
  if (r.count() == 0) return false;
  NDArray result = NDArray::Empty(shape.view(), table.results[index], a.device);
  table.loops[index](r, result.data_as<char>());
  *ret = std::move(result);
  return true;
}

bool QuickTotal(const ReduceTable& table, const MXNetArgs& args, MXNetRetValue* ret) {
  return QuickReduce(table, {1, 2, 3, 4}, args, ret);
}

bool QuickExtremum(const Extremum& op, const MXNetArgs& args, MXNetRetValue* ret) {
  return QuickReduce(op.table, {1, -1, 2, 3}, args, ret);
}

/*! \brief Of an array of the host along one axis or all, into a new array without the axis. */
bool QuickFind(const Search& search, const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* a = HostArray(args, 0);
  const bool along_axis = args.type_codes[1] == kMXNetInt;
  const bool is_plain = a != nullptr && (along_axis || args.type_codes[1] == kMXNetNull) &&
                        args.type_codes[2] == kMXNetNull && args.type_codes[3] == kMXNetBool &&
                        args.values[3].v_int64 == 0;
  if (!is_plain) return false;
  std::optional<int64_t> axis;
  if (along_axis) axis = args.values[1].v_int64;
  *ret = Find(search, *a, axis);
  return true;
}

MXNET_QUICK_FOR_ALL(&QuickTotal);
MXNET_QUICK_FOR_ALL(&QuickExtremum);
MXNET_QUICK_FOR_ALL(&QuickFind);

}  // namespace
}  // namespace op
}  // namespace mxnet
