/*!
 * \file vector_sort.cc
 * \brief The sort for the registers that the processor has.
 */
#include "op/kernels/sort/vector_sort.h"

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS
#include <algorithm>
#include <cstring>
#include <limits>

#include "op/kernels/lanes/avx2.h"
#include "op/kernels/lanes/avx512.h"

namespace mxnet {
namespace op {

#define MXNET_LEVEL avx2
#define MXNET_TARGET MXNET_TARGET_AVX2
#define MXNET_REGISTERS 8
#include "op/kernels/sort/vector_sort.inc"

#define MXNET_LEVEL avx512
#define MXNET_TARGET MXNET_TARGET_AVX512
#define MXNET_REGISTERS 16
#include "op/kernels/sort/vector_sort.inc"

}  // namespace op
}  // namespace mxnet
#endif  // MXNET_CPU_LEVELS

namespace mxnet {
namespace op {

template <typename T>
VectorSort<T> FindVectorSort() noexcept {
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx512) {
    using Sorter = avx512::Sorter<T>;
    return {&Sorter::IsSorted, &Sorter::Sort, &Sorter::Unique};
  }
  if (HostCpuLevel() >= CpuLevel::kAvx2) {
    using Sorter = avx2::Sorter<T>;
    return {&Sorter::IsSorted, &Sorter::Sort, &Sorter::Unique};
  }
#endif
  return {};
}

template VectorSort<int32_t> FindVectorSort() noexcept;
template VectorSort<int64_t> FindVectorSort() noexcept;
template VectorSort<float> FindVectorSort() noexcept;
template VectorSort<double> FindVectorSort() noexcept;

}  // namespace op
}  // namespace mxnet
