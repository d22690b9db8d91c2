/*!
 * \file sort.cc
 * \brief mx.sort_in_place, the method sort of arrays.
 */
#include "op/sort/sort.h"

#include <mxnet/runtime/registry.h>

#include "api/quick/arguments.h"
#include "op/schema/describe.h"

namespace mxnet {
namespace op {
namespace {

MXNET_REGISTER_API("mx.sort_in_place")
    .describe(
        "Sorts an array of the host along an axis, as sort does, where it is.\n\n"
        "False, and nothing done, for arrays elsewhere, those that are read-only, and a wrong "
        "axis.")
    .add_argument("a", "ndarray", "The array that is changed.")
    .mutated()
    .add_argument("axis", "int", "The axis.")
    .returns("bool")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = false;
      const DLTensor* array = HostArray(args, 0);
      if (array == nullptr || args[0].As<NDArray>().read_only()) return;
      const int64_t given = args[1].As<int64_t>();
      const int64_t axis = given < 0 ? given + array->ndim : given;
      if (axis < 0 || axis >= array->ndim) return;
      SortWhereItIs(*array, static_cast<int>(axis));
      *ret = true;
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
