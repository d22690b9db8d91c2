/*!
 * \file np_manipulation_join_op.cc
 * \brief Several arrays as one: concatenate, stack, hstack, vstack.
 */
#include <mxnet/runtime/extents.h>
#include <mxnet/runtime/signals.h>

#include <algorithm>
#include <deque>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/operand.h"
#include "api/common/views.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Items of an array along its first axis, as views. */
std::vector<NDArray> RowsOf(const NDArray& array) {
  if (array.ndim() == 0) MXNET_THROW("TypeError") << "iteration over a 0-d array";
  std::vector<NDArray> items;
  for (int64_t i = 0; i < array->shape[0]; ++i) {
    if (i % kSignalInterval == 0) CheckSignals();
    char* data = array.data_as<char>() + i * array->strides[0] * ItemSize(array.dtype());
    const size_t ndim = static_cast<size_t>(array.ndim() - 1);
    items.push_back(array.View(data, ShapeView(array->shape + 1, ndim),
                               ShapeView(array->strides + 1, ndim), array.dtype()));
  }
  return items;
}

/*! \brief The type of the items together; as for operands, numbers do not widen arrays. */
DLDataType CommonDType(const std::deque<Operand>& items) {
  CommonType arrays;
  DLDataType numbers{};
  WeakKind kind = WeakKind::kNone;
  for (const Operand& item : items) {
    const WeakKind own = item.is_array() ? item.kind_of_numbers() : item.kind();
    if (own == WeakKind::kNone) {
      arrays.Add(item.dtype());
    } else {
      numbers = kind == WeakKind::kNone ? item.dtype() : PromoteTypes(numbers, item.dtype());
      kind = std::max(kind, own);
    }
  }
  if (arrays.is_empty()) return numbers;
  return kind == WeakKind::kNone ? arrays.dtype() : PromoteNumbers(arrays.dtype(), numbers, kind);
}

/*! \brief The items of a run as arrays; numbers are read as the type of the items together. */
std::vector<NDArray> ArraysOfRun(const MXNetAnyArray& run, MXNetFunctionHandle func, int index) {
  std::deque<Operand> operands;
  for (size_t i = 0; i < run.size; ++i) {
    operands.emplace_back(MXNetArgValue(run.data[i].value, run.data[i].type_code, func, index));
  }
  const DLDataType dtype = CommonDType(operands);
  std::vector<NDArray> arrays;
  for (size_t i = 0; i < run.size; ++i) {
    if (run.data[i].type_code == kMXNetNDArrayHandle) {
      arrays.push_back(NDArray(ObjectRef::Borrow(run.data[i].value.v_handle)));
      continue;
    }
    if (!operands[i].is_array() || operands[i].kind_of_numbers() != WeakKind::kNone) {
      operands[i].TensorAs(dtype);
    }
    arrays.push_back(operands[i].TakeArray());
  }
  return arrays;
}

/*! \brief A sequence of anything array-like as arrays. */
std::vector<NDArray> ArraysOf(const MXNetArgs& args, int index) {
  const MXNetArgValue arg = args[index];
  MXNetAnyArray run{nullptr, 0};
  if (!ItemsOf(arg.value(), arg.type_code(), &run)) return RowsOf(ToArray(arg));
  return ArraysOfRun(run, args.func, index);
}

DLDataType CommonDType(const std::vector<NDArray>& arrays) {
  CommonType common;
  for (const NDArray& array : arrays) common.Add(array.dtype());
  return common.dtype();
}

void CheckJoins(const NDArray& first, const NDArray& other, size_t index, int axis) {
  if (other.ndim() != first.ndim()) {
    MXNET_THROW("ValueError") << "all the input arrays must have same number of dimensions, but "
                              << "the array at index 0 has " << first.ndim()
                              << " dimension(s) and the array at index " << index << " has "
                              << other.ndim() << " dimension(s)";
  }
  for (int d = 0; d < first.ndim(); ++d) {
    if (d == axis || other->shape[d] == first->shape[d]) continue;
    MXNET_THROW("ValueError") << "all the input array dimensions except for the concatenation axis "
                              << "must match exactly, but along dimension " << d
                              << ", the array at index 0 has size " << first->shape[d]
                              << " and the array at index " << index << " has size "
                              << other->shape[d];
  }
}

NDArray Concatenate(const std::vector<NDArray>& arrays, int64_t given_axis) {
  if (arrays.empty()) MXNET_THROW("ValueError") << "need at least one array to concatenate";
  const NDArray& first = arrays[0];
  if (first.ndim() == 0) {
    MXNET_THROW("ValueError") << "zero-dimensional arrays cannot be concatenated";
  }
  const int axis = NormalizeAxis(given_axis, first.ndim());
  DimBuffer shape(first.shape());
  for (size_t i = 1; i < arrays.size(); ++i) {
    CheckJoins(first, arrays[i], i, axis);
    shape[axis] = AddExtents(shape[axis], arrays[i]->shape[axis]);
  }
  NDArray joined = NDArray::Empty(shape.view(), CommonDType(arrays), first.ctx());
  int64_t start = 0;
  for (const NDArray& array : arrays) {
    CopyCast(array.tensor(), RangeOfAxis(joined, axis, start, array->shape[axis]).tensor());
    start += array->shape[axis];
  }
  return joined;
}

/*! \brief The array with a new axis of one element. */
NDArray WithAxis(const NDArray& array, int axis) {
  DimBuffer shape;
  for (int d = 0; d <= array.ndim(); ++d) {
    if (d == axis) shape.push_back(1);
    if (d < array.ndim()) shape.push_back(array->shape[d]);
  }
  return ReshapeTo(array, shape);
}

NDArray Stack(const std::vector<NDArray>& arrays, int64_t given_axis) {
  if (arrays.empty()) MXNET_THROW("ValueError") << "need at least one array to stack";
  const int ndim = arrays[0].ndim() + 1;
  if (ndim > kMaxNdim) {
    MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got " << ndim;
  }
  std::vector<NDArray> items;
  for (const NDArray& array : arrays) {
    if (array.shape() != arrays[0].shape()) {
      MXNET_THROW("ValueError") << "all input arrays must have the same shape, got "
                                << CompactShape(arrays[0].shape()) << " and "
                                << CompactShape(array.shape());
    }
    items.push_back(WithAxis(array, NormalizeAxis(given_axis, ndim)));
  }
  return Concatenate(items, given_axis);
}

/*! \brief The array with at least so many axes; new ones come first. */
NDArray AtLeast(const NDArray& array, int ndim) {
  NDArray result = array;
  while (result.ndim() < ndim) result = WithAxis(result, 0);
  return result;
}

std::vector<NDArray> AllAtLeast(std::vector<NDArray> arrays, int ndim) {
  for (NDArray& array : arrays) array = AtLeast(array, ndim);
  return arrays;
}

MXNET_REGISTER_OP("_npi.concatenate")
    .describe("Join arrays along an axis they have.")
    .add_argument("seq", kArraysType, "Arrays of one shape, but for the extent of that axis.")
    .add_argument("axis", kOptionalAxisType, 0, "The axis; if None the arrays are flattened first.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      std::vector<NDArray> arrays = ArraysOf(args, 0);
      if (args[1].is_null()) {
        for (NDArray& array : arrays) array = Flattened(array);
      }
      *ret = Concatenate(arrays, ToIntOr(args[1], 0));
    });

MXNET_REGISTER_OP("_npi.stack")
    .describe("Join arrays along a new axis.")
    .add_argument("arrays", kArraysType, "Arrays of one shape.")
    .add_argument("axis", kAxisType, 0, "Where the new axis is in the result.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Stack(ArraysOf(args, 0), ToInt(args[1]));
    });

MXNET_REGISTER_OP("_npi.hstack")
    .describe("Join arrays along their second axis, or along the first where they have but one.")
    .add_argument("tup", kArraysType, "Arrays of one shape, but for the extent of that axis.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const std::vector<NDArray> arrays = AllAtLeast(ArraysOf(args, 0), 1);
      *ret = Concatenate(arrays, !arrays.empty() && arrays[0].ndim() == 1 ? 0 : 1);
    });

MXNET_REGISTER_OP("_npi.vstack")
    .describe("Join arrays along their first axis; an array of one axis is a row.")
    .add_argument("tup", kArraysType, "Arrays of one shape, but for the extent of that axis.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      *ret = Concatenate(AllAtLeast(ArraysOf(args, 0), 2), 0);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
