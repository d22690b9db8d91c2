/*!
 * \file generation.cc
 * \brief Quick ways of evenly spaced numbers, and of matrices with something on a diagonal.
 */
#include <utility>
#include <vector>

#include "api/argument/arguments.h"
#include "api/quick/arguments.h"
#include "api/quick/attach.h"
#include "op/creation/matrices.h"
#include "op/creation/range.h"

namespace mxnet {
namespace op {
namespace {

using DType = std::optional<DLDataType>;

bool QuickRange(const MXNetArgs& args, MXNetRetValue* ret) {
  const RangeAttributes attributes{
      ReadAttribute<Number>(args, 0), ReadAttribute<std::optional<Number>>(args, 1),
      ReadAttribute<std::optional<Number>>(args, 2), ReadAttribute<DType>(args, 3)};
  *ret = MakeRange(attributes, ContextOrCurrent(args[4]));
  return true;
}

/*! \brief All calls: Python has the distance, which is an output of its own, as a float. */
bool QuickSpaced(const MXNetArgs& args, MXNetRetValue* ret) {
  const SpacingAttributes attributes{
      ReadAttribute<double>(args, 0),  ReadAttribute<double>(args, 1),
      ReadAttribute<int64_t>(args, 2), ReadAttribute<bool>(args, 3),
      ReadAttribute<bool>(args, 4),    ReadAttribute<DType>(args, 5)};
  double distance;
  NDArray array = MakeSpaced(attributes, ContextOrCurrent(args[6]), &distance);
  if (attributes.retstep) {
    *ret =
        Tuple(std::vector<Any>{runtime::details::ToAny(array), runtime::details::ToAny(distance)});
  } else {
    *ret = std::move(array);
  }
  return true;
}

/*! \brief Arguments N, M, k, dtype and ctx of eye and tri. */
template <auto kMake>
bool QuickEye(const MXNetArgs& args, MXNetRetValue* ret) {
  const EyeAttributes attributes{ReadAttribute<int64_t>(args, 0),
                                 ReadAttribute<std::optional<int64_t>>(args, 1),
                                 ReadAttribute<int64_t>(args, 2), ReadAttribute<DType>(args, 3)};
  *ret = kMake(attributes, ContextOrCurrent(args[4]));
  return true;
}

/*! \brief Arguments n, dtype and ctx of identity. */
bool QuickIdentity(const MXNetArgs& args, MXNetRetValue* ret) {
  const EyeAttributes attributes{ReadAttribute<int64_t>(args, 0), std::nullopt, 0,
                                 ReadAttribute<DType>(args, 1)};
  *ret = MakeEye(attributes, ContextOrCurrent(args[2]));
  return true;
}

bool QuickDiag(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostArray(args, 0);
  if (array == nullptr) return false;
  *ret = MakeDiag(*array, ReadAttribute<int64_t>(args, 1));
  return true;
}

template <bool kLower>
bool QuickTriangle(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostArray(args, 0);
  if (array == nullptr) return false;
  *ret = MakeTriangle(*array, ReadAttribute<int64_t>(args, 1), kLower);
  return true;
}

MXNET_QUICK("_npi.arange", &QuickRange);
MXNET_QUICK("_npi.linspace", &QuickSpaced);
MXNET_QUICK("_npi.eye", &QuickEye<&MakeEye>);
MXNET_QUICK("_npi.tri", &QuickEye<&MakeTri>);
MXNET_QUICK("_npi.identity", &QuickIdentity);
MXNET_QUICK("_npi.diag", &QuickDiag);
MXNET_QUICK("_npi.tril", &QuickTriangle<true>);
MXNET_QUICK("_npi.triu", &QuickTriangle<false>);

}  // namespace
}  // namespace op
}  // namespace mxnet
