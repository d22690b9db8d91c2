/*!
 * \file np_sort_op.cc
 * \brief Elements in order: sort, argsort, unique.
 */
#include <algorithm>
#include <numeric>
#include <string_view>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/views.h"
#include "api/operator/numpy/np_order.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief NumPy's order for sorting: NaN last; of complex numbers those with a NaN part. */
template <typename T>
bool SortsBefore(T a, T b) {
  if constexpr (kIsComplexType<T>) {
    if (IsNan(a.real()) != IsNan(b.real())) return IsNan(b.real());
    if (IsNan(a.real()) || a.real() == b.real()) {
      if (IsNan(a.imag()) != IsNan(b.imag())) return IsNan(b.imag());
      return a.imag() < b.imag();
    }
    if (IsNan(a.imag()) != IsNan(b.imag())) return IsNan(b.imag());
    return a.real() < b.real();
  } else if constexpr (kIsFloatType<T>) {
    return a < b || (IsNan(b) && !IsNan(a));
  } else {
    return a < b;
  }
}

/*! \brief Calls f with the first element of each row of a row-major array along its last axis. */
template <typename F>
void ForEachRow(const NDArray& array, F&& f) {
  const int64_t extent = array->shape[array.ndim() - 1];
  for (int64_t start = 0; start < array.size(); start += extent) f(start, extent);
}

/*! \brief A row-major copy. A foreign array's bools may be bytes other than 0 and 1, its are not.
 */
NDArray OrderedCopy(const DLTensor& tensor) {
  NDArray copy = Contiguous(tensor);
  if (!IsBoolDType(copy.dtype())) return copy;
  auto* bytes = copy.data_as<uint8_t>();
  for (int64_t i = 0; i < copy.size(); ++i) bytes[i] = bytes[i] != 0;
  return copy;
}

/*! \brief A row-major copy of the array, with the axis at its end. */
NDArray WithAxisLast(const NDArray& array, int axis) {
  DimBuffer order;
  for (int d = 0; d < array.ndim(); ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  return OrderedCopy(PermuteAxes(array, order).tensor());
}

/*! \brief The reverse: the last axis back where it was. */
NDArray WithLastAxisAt(const NDArray& array, int axis) {
  DimBuffer order;
  for (int d = 0; d < array.ndim() - 1; ++d) order.push_back(d);
  std::copy_backward(order.data + axis, order.data + order.ndim, order.data + order.ndim + 1);
  order[axis] = array.ndim() - 1;
  ++order.ndim;
  return axis == array.ndim() - 1 ? array : Contiguous(PermuteAxes(array, order).tensor());
}

NDArray SortLast(const NDArray& rows) {
  DispatchDType(rows.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = rows.data_as<T>();
    ForEachRow(rows, [&](int64_t start, int64_t extent) {
      std::stable_sort(data + start, data + start + extent, SortsBefore<T>);
    });
  });
  return rows;
}

NDArray ArgSortLast(const NDArray& rows) {
  NDArray order = NDArray::Empty(rows.shape(), kInt64, rows.ctx());
  DispatchDType(rows.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachRow(rows, [&](int64_t start, int64_t extent) {
      const T* data = rows.data_as<T>() + start;
      int64_t* out = order.data_as<int64_t>() + start;
      std::iota(out, out + extent, int64_t{0});
      std::stable_sort(out, out + extent,
                       [&](int64_t a, int64_t b) { return SortsBefore<T>(data[a], data[b]); });
    });
  });
  return order;
}

/*! \brief Sorts or argsorts along the axis of an argument; None is the flattened array. */
template <typename F>
NDArray AlongAxis(NDArray array, const MXNetArgValue& axis_arg, DLDataType dtype, F&& sort_last) {
  int64_t given = -1;
  if (axis_arg.is_null()) {
    array = Flattened(array);
  } else {
    given = ToInt(axis_arg);
  }
  const int axis = NormalizeAxis(given, array.ndim());
  AnnounceResult(array.shape(), dtype, array.ctx());
  return WithLastAxisAt(sort_last(WithAxisLast(array, axis)), axis);
}

NDArray Unique(const NDArray& array) {
  const NDArray sorted = SortLast(OrderedCopy(Flattened(array).tensor()));
  int64_t count = 0;
  DispatchDType(sorted.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = sorted.data_as<T>();
    T* end = std::unique(data, data + sorted.size(),
                         [](T a, T b) { return a == b || (IsNan(a) && IsNan(b)); });
    count = end - data;
  });
  return Contiguous(RangeOfAxis(sorted, 0, 0, count).tensor());
}

constexpr char kKindDoc[] =
    "'quicksort', 'heapsort', 'mergesort' or 'stable'; whichever, the sort is stable.";

/*! \brief ValueError for an algorithm NumPy has not: they differ in stability, which is given. */
void CheckKind(const MXNetArgValue& arg) {
  if (arg.is_null()) return;
  const auto kind = arg.As<std::string_view>();
  for (const char* known : {"quicksort", "heapsort", "mergesort", "stable"}) {
    if (kind == known) return;
  }
  MXNET_THROW("ValueError") << arg.text()
                            << " expected 'quicksort', 'heapsort', 'mergesort' or 'stable', got '"
                            << kind << "'";
}

MXNET_REGISTER_OP("_npi.sort")
    .describe("A sorted copy of an array; the sort is stable, NaN comes last.")
    .add_argument("a", kArrayType, "Array of at least one axis.")
    .add_argument("axis", kOptionalAxisType, -1, "The axis; if None a is flattened first.")
    .add_argument("kind", "str | None", nullptr, kKindDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      CheckKind(args[2]);
      const NDArray array = ToArray(args[0]);
      *ret = AlongAxis(array, args[1], array.dtype(), SortLast);
    });

MXNET_REGISTER_OP("_npi.argsort")
    .describe("The indices that would sort an array; the sort is stable, NaN comes last.")
    .add_argument("a", kArrayType, "Array of at least one axis.")
    .add_argument("axis", kOptionalAxisType, -1, "The axis; if None a is flattened first.")
    .add_argument("kind", "str | None", nullptr, kKindDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      CheckKind(args[2]);
      const NDArray array = ToArray(args[0]);
      // As in NumPy, which otherwise wants an axis, a 0-d array counts as one of a single element.
      *ret = AlongAxis(array.ndim() == 0 ? Flattened(array) : array, args[1], kInt64, ArgSortLast);
    });

MXNET_REGISTER_ELEMENTS_OP("_npi.unique")
    .describe("The different elements of an array, sorted; all NaN count as one.")
    .add_argument("ar", kArrayType, kArrayDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = Unique(ToArray(args[0])); });

}  // namespace
}  // namespace op
}  // namespace mxnet
