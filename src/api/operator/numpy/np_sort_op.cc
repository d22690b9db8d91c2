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
#include "op/kernels/sort/sort.h"

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

/*! \brief A row-major copy. A foreign array's bools may be bytes other than 0 and 1, its are not.
 */
NDArray OrderedCopy(const DLTensor& tensor) {
  NDArray copy = Contiguous(tensor);
  if (!IsBoolDType(copy.dtype())) return copy;
  auto* bytes = copy.data_as<uint8_t>();
  for (int64_t i = 0; i < copy.size(); ++i) bytes[i] = bytes[i] != 0;
  return copy;
}

/*! \brief The lines of a row-major array along an axis. */
SortedLines LinesOf(const NDArray& array, int axis) {
  SortedLines lines{1, array->shape[axis], 1};
  for (int d = 0; d < axis; ++d) lines.outer *= array->shape[d];
  for (int d = axis + 1; d < array.ndim(); ++d) lines.inner *= array->shape[d];
  return lines;
}

NDArray Workspace(int64_t bytes) { return NDArray::Empty(ShapeView(&bytes, 1), kUInt8); }

/*! \brief Whether the kernels sort T: complex numbers have no key, and positions 32 bits. */
template <typename T>
bool HasKernel(const SortedLines& lines) {
  return !kIsComplexType<T> && lines.extent <= INT32_MAX;
}

/*! \brief Calls f with the positions of the elements of each line. */
template <typename F>
void ForEachLine(const SortedLines& lines, F&& f) {
  std::vector<int64_t> places(static_cast<size_t>(lines.extent));
  for (int64_t line = 0; line < lines.count(); ++line) {
    for (int64_t e = 0; e < lines.extent; ++e) {
      places[static_cast<size_t>(e)] = lines.start(line) + e * lines.inner;
    }
    f(places);
  }
}

/*! \brief Sorts a row-major array in place. */
NDArray SortAxis(const NDArray& array, int axis) {
  if (array.size() == 0) return array;
  const SortedLines lines = LinesOf(array, axis);
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = array.data_as<T>();
    if constexpr (!kIsComplexType<T>) {
      if (HasKernel<T>(lines)) {
        return SortLines(data, lines, Workspace(SortWorkspace<T>(lines)).data());
      }
    }
    std::vector<T> line(static_cast<size_t>(lines.extent));
    ForEachLine(lines, [&](const std::vector<int64_t>& places) {
      for (size_t e = 0; e < line.size(); ++e) line[e] = data[places[e]];
      std::stable_sort(line.begin(), line.end(), SortsBefore<T>);
      for (size_t e = 0; e < line.size(); ++e) data[places[e]] = line[e];
    });
  });
  return array;
}

NDArray ArgSortAxis(const NDArray& array, int axis) {
  NDArray order = NDArray::Empty(array.shape(), kInt64, array.ctx());
  if (array.size() == 0) return order;
  const SortedLines lines = LinesOf(array, axis);
  int64_t* out = order.data_as<int64_t>();
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = array.data_as<T>();
    if constexpr (!kIsComplexType<T>) {
      if (HasKernel<T>(lines)) {
        return ArgSortLines(data, lines, out, Workspace(ArgSortWorkspace<T>(lines)).data());
      }
    }
    ForEachLine(lines, [&](const std::vector<int64_t>& places) {
      std::vector<int64_t> positions(places.size());
      std::iota(positions.begin(), positions.end(), int64_t{0});
      std::stable_sort(positions.begin(), positions.end(), [&](int64_t a, int64_t b) {
        return SortsBefore<T>(data[places[static_cast<size_t>(a)]],
                              data[places[static_cast<size_t>(b)]]);
      });
      for (size_t e = 0; e < places.size(); ++e) out[places[e]] = positions[e];
    });
  });
  return order;
}

/*! \brief Sorts or argsorts along the axis of an argument; None is the flattened array. */
template <typename F>
NDArray AlongAxis(NDArray array, const MXNetArgValue& axis_arg, DLDataType dtype, F&& sort_axis) {
  int64_t given = -1;
  if (axis_arg.is_null()) {
    array = Flattened(array);
  } else {
    given = ToInt(axis_arg);
  }
  const int axis = NormalizeAxis(given, array.ndim());
  AnnounceResult(array.shape(), dtype, array.ctx());
  return sort_axis(array, axis);
}

NDArray Unique(const NDArray& array) {
  const NDArray sorted = SortAxis(OrderedCopy(Flattened(array).tensor()), 0);
  int64_t count = 0;
  DispatchDType(sorted.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = sorted.data_as<T>();
    if constexpr (kIsComplexType<T>) {
      T* end = std::unique(data, data + sorted.size(),
                           [](T a, T b) { return a == b || (IsNan(a) && IsNan(b)); });
      count = end - data;
    } else {
      count = UniqueOfSorted(data, sorted.size());
    }
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
      *ret = AlongAxis(array, args[1], array.dtype(), [](const NDArray& a, int axis) {
        return SortAxis(OrderedCopy(a.tensor()), axis);
      });
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
      *ret = AlongAxis(array.ndim() == 0 ? Flattened(array) : array, args[1], kInt64,
                       [](const NDArray& a, int axis) {
                         const bool is_ready = IsContiguous(a.tensor()) && IsAligned(a.tensor());
                         return ArgSortAxis(is_ready ? a : Contiguous(a.tensor()), axis);
                       });
    });

MXNET_REGISTER_ELEMENTS_OP("_npi.unique")
    .describe("The different elements of an array, sorted; all NaN count as one.")
    .add_argument("ar", kArrayType, kArrayDoc)
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = Unique(ToArray(args[0])); });

}  // namespace
}  // namespace op
}  // namespace mxnet
