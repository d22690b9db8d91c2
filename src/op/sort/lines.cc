/*!
 * \file lines.cc
 * \brief Sorts lines by the kernels, and what has none, complex numbers, one by one.
 */
#include "op/sort/lines.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "op/semantics/dispatch.h"
#include "op/semantics/order.h"

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

/*! \brief Whether the kernels sort T: complex numbers have no key, and positions 32 bits. */
template <typename T>
bool HasKernel(const SortedLines& lines) {
  return !kIsComplexType<T> && lines.extent <= INT32_MAX;
}

/*! \brief Calls f with the positions of the elements of each line. */
template <typename F>
void ForEachLine(const SortedLines& lines, F&& f) {
  std::vector<int64_t> offsets(static_cast<size_t>(lines.extent));
  for (int64_t line = 0; line < lines.count(); ++line) {
    for (int64_t e = 0; e < lines.extent; ++e) {
      offsets[static_cast<size_t>(e)] = lines.start(line) + e * lines.inner;
    }
    f(offsets);
  }
}

}  // namespace

void NormalizeBools(const DLTensor& copy) {
  if (!IsBoolDType(copy.dtype)) return;
  auto* bytes = static_cast<uint8_t*>(TensorData(copy));
  for (int64_t i = 0, n = TensorSize(copy); i < n; ++i) bytes[i] = bytes[i] != 0;
}

SortedLines LinesOf(ShapeView shape, int axis) {
  SortedLines lines{1, 1, 1};
  for (int d = 0; d < shape.ndim(); ++d) {
    int64_t& factor = d < axis ? lines.outer : d == axis ? lines.extent : lines.inner;
    factor *= shape[static_cast<size_t>(d)];
  }
  return lines;
}

template <bool kPositions>
int64_t ScratchBytes(DLDataType dtype, const SortedLines& lines) {
  return DispatchDType(dtype, [&](auto tag) -> int64_t {
    using T = typename decltype(tag)::type;
    if constexpr (!kIsComplexType<T>) {
      if (lines.count() == 0 || lines.extent == 0 || !HasKernel<T>(lines)) return 0;
      return kPositions ? ArgSortWorkspace<T>(lines) : SortWorkspace<T>(lines);
    }
    return 0;
  });
}

template int64_t ScratchBytes<false>(DLDataType dtype, const SortedLines& lines);
template int64_t ScratchBytes<true>(DLDataType dtype, const SortedLines& lines);

void SortInPlace(const DLTensor& array, const SortedLines& lines, void* scratch) {
  if (TensorSize(array) == 0) return;
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* data = static_cast<T*>(TensorData(array));
    if constexpr (!kIsComplexType<T>) {
      if (HasKernel<T>(lines)) return SortLines(data, lines, scratch);
    }
    std::vector<T> line(static_cast<size_t>(lines.extent));
    ForEachLine(lines, [&](const std::vector<int64_t>& offsets) {
      for (size_t e = 0; e < line.size(); ++e) line[e] = data[offsets[e]];
      std::stable_sort(line.begin(), line.end(), SortsBefore<T>);
      for (size_t e = 0; e < line.size(); ++e) data[offsets[e]] = line[e];
    });
  });
}

void SortPositions(const DLTensor& array, const SortedLines& lines, int64_t* out, void* scratch) {
  if (TensorSize(array) == 0) return;
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = static_cast<const T*>(TensorData(array));
    if constexpr (!kIsComplexType<T>) {
      if (HasKernel<T>(lines)) return ArgSortLines(data, lines, out, scratch);
    }
    ForEachLine(lines, [&](const std::vector<int64_t>& offsets) {
      std::vector<int64_t> positions(offsets.size());
      std::iota(positions.begin(), positions.end(), int64_t{0});
      std::stable_sort(positions.begin(), positions.end(), [&](int64_t a, int64_t b) {
        return SortsBefore<T>(data[offsets[static_cast<size_t>(a)]],
                              data[offsets[static_cast<size_t>(b)]]);
      });
      for (size_t e = 0; e < offsets.size(); ++e) out[offsets[e]] = positions[e];
    });
  });
}

}  // namespace op
}  // namespace mxnet
