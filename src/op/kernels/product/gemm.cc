/*!
 * \file gemm.cc
 * \brief Which loops multiply matrices: own ones where they are small or no BLAS knows the type.
 */
#include "op/kernels/product/gemm.h"

#include <algorithm>

#include "op/kernels/product/blas_gemm.h"
#include "op/kernels/product/plain_gemm.h"
#include "op/kernels/product/thin.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Up to so many multiplications the plain loops take less time than a call of BLAS... */
constexpr double kSmallWork = 64;
/*! \brief ... and up to so many than a conversion to float32 and back around it. */
constexpr double kSmallHalfWork = 1024;

using namespace product;  // NOLINT(build/namespaces)

#if MXNET_CPU_LEVELS
/*! \brief Writes the elements of a product. */
struct Written {
  float* c;
  int64_t n;

  MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE void Take(int64_t row, int64_t column, __m512 sums,
                                                    __mmask16 mask) const {
    _mm512_mask_storeu_ps(c + row * n + column, mask, sums);
  }
  MXNET_ALWAYS_INLINE void Prefetch(int64_t, int64_t) const {}
  MXNET_ALWAYS_INLINE void End() const {}
};

/*! \brief The same past the caches, without reading what is overwritten: for a result that they
 * would not keep until it is read, and whose rows are whole lines of them. */
struct Streamed : Written {
  static bool Suits(const float* c, int64_t m, int64_t n) {
    return n % thin::kLanes == 0 && reinterpret_cast<uintptr_t>(c) % kLine == 0 && m * n >= kLeast;
  }

  MXNET_TARGET_AVX512 MXNET_ALWAYS_INLINE void Take(int64_t row, int64_t column, __m512 sums,
                                                    __mmask16 mask) const {
    if (mask != 0) _mm512_stream_ps(c + row * n + column, sums);
  }
  /*! \brief Such stores have no order of their own among those that others see. */
  MXNET_ALWAYS_INLINE void End() const { _mm_sfence(); }

 private:
  static constexpr size_t kLine = 64;
  static constexpr int64_t kLeast = int64_t{1} << 20;
};
#endif

/*! \brief Whether it is a product of few terms, which it computes then. */
bool ThinGemm([[maybe_unused]] const Operands<float>& p, [[maybe_unused]] float* c) {
#if MXNET_CPU_LEVELS
  if (p.b_column == 1 && thin::Suits(p.m, p.n, p.k)) {
    const thin::Operands operands{p.m, p.n, p.k, p.a, p.a_row, p.a_column, p.b, p.b_row};
    if (Streamed::Suits(c, p.m, p.n)) {
      thin::Product(operands, Streamed{{c, p.n}});
    } else {
      thin::Product(operands, Written{c, p.n});
    }
    return true;
  }
#endif
  return false;
}

/*! \brief In float32, because a sum of many 2-byte numbers would lose nearly all its digits. */
template <typename T>
void HalfGemm(const Operands<T>& p, T* c) {
  const auto a = Pack<float>(p.a, p.m, p.k, p.a_row, p.a_column);
  const auto b = Pack<float>(p.b, p.k, p.n, p.b_row, p.b_column);
  const auto sums = Room<float>(p.m, p.n);
  BlasGemm(Operands<float>{p.m, p.n, p.k, a.get(), p.k, 1, b.get(), p.n, 1}, sums.get());
  for (int64_t i = 0; i < p.m * p.n; ++i) c[i] = T(sums[static_cast<size_t>(i)]);
}

template <typename T>
void TypedGemm(const Operands<T>& p, T* c) {
  constexpr bool kByBlas = blas::kSupports<T> || kIsHalfType<T>;
  const double work = static_cast<double>(p.m * p.n) * static_cast<double>(p.k);
  if (work <= (kIsHalfType<T> ? kSmallHalfWork : kSmallWork)) {
    if (!kIsHalfType<T> && p.n >= 4 && p.b_column == 1) return SumRows(p, c);
    return SumElements(p, c);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (ThinGemm(p, c)) return;
  }
  // The interface of BLAS counts in 32 bits.
  if (kByBlas && std::max({p.m, p.n, p.k}) <= INT32_MAX) {
    if constexpr (blas::kSupports<T>) return BlasGemm(p, c);
    if constexpr (kIsHalfType<T>) return HalfGemm(p, c);
  }
  if constexpr (kIsIntType<T>) {
    if (p.n == 1) return SumColumn(p, c);
  }
  if (kIsHalfType<T> || p.n == 1) return SumElements(p, c);
  PlainGemm(p, c);
}

}  // namespace

void Gemm(DLDataType dtype, int64_t m, int64_t n, int64_t k, const Matrix& a, const Matrix& b,
          void* c) {
  DispatchDType(dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    using T = std::conditional_t<std::is_same_v<Element, bool>, Flag, Element>;
    const Operands<T> operands{m,
                               n,
                               k,
                               static_cast<const T*>(a.data),
                               a.row_stride,
                               a.column_stride,
                               static_cast<const T*>(b.data),
                               b.row_stride,
                               b.column_stride};
    TypedGemm(operands, static_cast<T*>(c));
  });
}

}  // namespace op
}  // namespace mxnet
