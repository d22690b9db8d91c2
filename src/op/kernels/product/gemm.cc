/*!
 * \file gemm.cc
 * \brief Matrix products: own loops where the matrices are small or no BLAS knows the type.
 */
#include "op/kernels/product/gemm.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/gather.h"
#include "op/kernels/product/blas.h"
#include "op/kernels/product/thin.h"
#include "op/parallel/parallel.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Up to so many multiplications the plain loops take less time than a call of BLAS... */
constexpr double kSmallWork = 64;
/*! \brief ... and up to so many than a conversion to float32 and back around it. */
constexpr double kSmallHalfWork = 1024;
/*! \brief Rows of b that stay in the first cache while all rows of a go over them. */
constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlockColumns = 1024;

/*! \brief How products of T are summed: the type of the sum, and one step. */
template <typename T, typename = void>
struct Sum {
  using Type = T;
  static Type Step(Type sum, T a, T b) noexcept { return sum + a * b; }
};
/*! \brief A bool as its byte, which in a foreign array may be other than 0 and 1. */
struct Flag {
  uint8_t byte;
};
template <>
struct Sum<Flag> {
  using Type = Flag;
  static Flag Step(Flag sum, Flag a, Flag b) noexcept {
    return Flag{static_cast<uint8_t>(sum.byte | ((a.byte != 0) & (b.byte != 0)))};
  }
};
template <typename T>
struct Sum<T, std::enable_if_t<kIsHalfType<T>>> {
  using Type = float;
  static float Step(float sum, float a, float b) noexcept { return sum + a * b; }
};
template <typename T>
struct Sum<T, std::enable_if_t<kIsIntType<T>>> {
  using Type = T;
  // Unsigned, and no narrower than int, so that wrapping is defined.
  using Wide = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;
  static MXNET_ALWAYS_INLINE T Step(T sum, T a, T b) noexcept {
    return static_cast<T>(static_cast<Wide>(sum) + static_cast<Wide>(a) * static_cast<Wide>(b));
  }
};
template <typename T>
struct Sum<T, std::enable_if_t<kIsComplexType<T>>> {
  using Type = T;
  // The operator of std::complex looks for infinities behind every NaN, which BLAS does not.
  static T Step(T sum, T a, T b) noexcept {
    return T(sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
             sum.imag() + (a.real() * b.imag() + a.imag() * b.real()));
  }
};

template <typename T>
struct Operands {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row, b_column;
};

/*! \brief One sum an element of c; for few columns. */
template <typename T>
void SumElements(const Operands<T>& p, T* c) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      const T* a = p.a + i * p.a_row;
      const T* b = p.b + j * p.b_column;
      typename Sum<T>::Type sum{};
      for (int64_t l = 0; l < p.k; ++l) {
        sum = Sum<T>::Step(sum, *a, *b);
        a += p.a_column;
        b += p.b_row;
      }
      c[i * p.n + j] = T(sum);
    }
  }
}

/*! \brief Adds rows of b, each times a factor, to a part of a row of c. */
template <typename T>
struct AddRows {
  static MXNET_ALWAYS_INLINE void Run(const T* factors, int64_t factor_step, const T* rows,
                                      int64_t row_step, int64_t count, int64_t n, T* out) {
    int64_t l = 0;
    if constexpr (kIsIntType<T>) {
      // Several at a time, of which the order does not matter.
      for (; l + 4 <= count; l += 4) {
        const T* row[4];
        T factor[4];
        for (int i = 0; i < 4; ++i) {
          row[i] = rows + (l + i) * row_step;
          factor[i] = factors[(l + i) * factor_step];
        }
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) {
          T sum = out[j];
          for (int i = 0; i < 4; ++i) sum = Sum<T>::Step(sum, factor[i], row[i][j]);
          out[j] = sum;
        }
      }
    }
    for (; l < count; ++l) {
      const T factor = factors[l * factor_step];
      const T* row = rows + l * row_step;
      for (int64_t j = 0; j < n; ++j) out[j] = T(Sum<T>::Step(out[j], factor, row[j]));
    }
  }
};

/*! \brief One row of c at a time from rows of b, which must be dense; the inner loop is a vector
 * operation. */
template <typename T>
void SumRows(const Operands<T>& p, T* c) {
  auto add = &AddRows<T>::Run;
  // Of floats AVX-512 would round products and sums once.
  if constexpr (kIsIntType<T>) {
    static const auto wide = ForWideCpu<AddRows<T>>();
    add = wide;
  }
  std::fill_n(c, p.m * p.n, T{});
  for (int64_t first = 0; first < p.n; first += kBlockColumns) {
    const int64_t columns = std::min(kBlockColumns, p.n - first);
    for (int64_t l0 = 0; l0 < p.k; l0 += kBlockRows) {
      const int64_t l1 = std::min(p.k, l0 + kBlockRows);
      for (int64_t i = 0; i < p.m; ++i) {
        add(p.a + i * p.a_row + l0 * p.a_column, p.a_column, p.b + l0 * p.b_row + first, p.b_row,
            l1 - l0, columns, c + i * p.n + first);
      }
    }
  }
}

/*! \brief Uninitialized room for so many elements. */
template <typename T>
std::unique_ptr<T[]> Room(int64_t rows, int64_t columns) {
  return std::unique_ptr<T[]>(new T[static_cast<size_t>(rows * columns)]);
}

/*! \brief A dense row-major copy of a matrix, as elements of another type or the same. */
template <typename To, typename From>
std::unique_ptr<To[]> Pack(const From* data, int64_t rows, int64_t columns, int64_t row_stride,
                           int64_t column_stride) {
  auto packed = Room<To>(rows, columns);
  // In tiles, so that a transposing copy does not touch a new cache line with every element.
  constexpr int64_t kTile = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
      for (int64_t i = i0; i < std::min(rows, i0 + kTile); ++i) {
        for (int64_t j = j0; j < std::min(columns, j0 + kTile); ++j) {
          packed[static_cast<size_t>(i * columns + j)] =
              static_cast<To>(data[i * row_stride + j * column_stride]);
        }
      }
    }
  }
  return packed;
}

template <typename T>
void PlainGemm(Operands<T> p, T* c) {
  std::unique_ptr<T[]> packed;
  if (p.b_column != 1) {
    packed = Pack<T>(p.b, p.k, p.n, p.b_row, p.b_column);
    p.b = packed.get();
    p.b_row = p.n;
    p.b_column = 1;
  }
  SumRows(p, c);
}

/*! \brief A matrix as BLAS takes it, packed where its strides do not allow that. */
template <typename T>
struct BlasMatrix {
  BlasMatrix(const T* from, int64_t rows, int64_t columns, int64_t row_stride,
             int64_t column_stride) {
    data = from;
    if (column_stride == 1 && Fits(row_stride, columns)) {
      ld = static_cast<blasint>(row_stride);
    } else if (row_stride == 1 && Fits(column_stride, rows)) {
      trans = CblasTrans;
      ld = static_cast<blasint>(column_stride);
    } else {
      packed = Pack<T>(from, rows, columns, row_stride, column_stride);
      data = packed.get();
      ld = static_cast<blasint>(columns);
    }
  }

  static bool Fits(int64_t stride, int64_t extent) {
    return stride >= std::max<int64_t>(1, extent) && stride <= INT32_MAX;
  }

  const T* data;
  CBLAS_TRANSPOSE trans{CblasNoTrans};
  blasint ld;
  std::unique_ptr<T[]> packed;
};

/*! \brief A vector as BLAS takes it; BLAS reads negative strides from the other end. */
template <typename T>
struct BlasVector {
  BlasVector(const T* from, int64_t size, int64_t stride) : data(from) {
    if (stride > 0 && stride <= INT32_MAX) {
      increment = static_cast<blasint>(stride);
    } else {
      packed = Pack<T>(from, size, 1, stride, 0);
      data = packed.get();
      increment = 1;
    }
  }

  const T* data;
  blasint increment;
  std::unique_ptr<T[]> packed;
};

/*! \brief y = a x for a matrix of rows x columns elements. */
template <typename T>
void MatrixVector(const T* a, int64_t rows, int64_t columns, int64_t row_stride,
                  int64_t column_stride, const T* x, int64_t x_stride, T* y) {
  const BlasMatrix<T> matrix(a, rows, columns, row_stride, column_stride);
  const BlasVector<T> vector(x, columns, x_stride);
  const bool flipped = matrix.trans == CblasTrans;
  blas::Gemv(matrix.trans, static_cast<blasint>(flipped ? columns : rows),
             static_cast<blasint>(flipped ? rows : columns), matrix.data, matrix.ld, vector.data,
             vector.increment, y);
}

/*! \brief Whether b is the transpose of a, in which case only half of c need be computed. */
template <typename T>
bool IsProductWithTranspose(const Operands<T>& p) {
  return p.a == p.b && p.m == p.n && p.a_row == p.b_column && p.a_column == p.b_row;
}

template <typename T>
void SymmetricGemm(const Operands<T>& p, T* c) {
  const BlasMatrix<T> a(p.a, p.m, p.k, p.a_row, p.a_column);
  blas::Syrk(a.trans, static_cast<blasint>(p.n), static_cast<blasint>(p.k), a.data, a.ld, c);
  for (int64_t i = 1; i < p.n; ++i) {
    for (int64_t j = 0; j < i; ++j) c[i * p.n + j] = c[j * p.n + i];
  }
}

/*! \brief A sum of products; of vectors that are not dense some are brought together at a time. */
template <typename T>
T DotOf(const BlasVector<T>& a, const BlasVector<T>& b, int64_t begin, int64_t end) {
  const auto dot = [](int64_t n, const T* x, blasint x_step, const T* y, blasint y_step) {
    T sum;
    blas::Dot(static_cast<blasint>(n), x, x_step, y, y_step, &sum);
    return sum;
  };
  const T* x = a.data + begin * a.increment;
  const T* y = b.data + begin * b.increment;
  if (a.increment == 1 && b.increment == 1) return dot(end - begin, x, 1, y, 1);
  constexpr int64_t kChunk = 512;
  T dense[2][kChunk];
  const auto gathered = [](const T* from, blasint step, int64_t n, T* to) -> const T* {
    if (step == 1) return from;
    constexpr auto kItem = static_cast<int64_t>(sizeof(T));
    GatherStrided(reinterpret_cast<const char*>(from), step * kItem, kItem, n,
                  reinterpret_cast<char*>(to));
    return to;
  };
  T sum(0);
  for (; begin < end; begin += kChunk, x += kChunk * a.increment, y += kChunk * b.increment) {
    const int64_t n = std::min(kChunk, end - begin);
    sum +=
        dot(n, gathered(x, a.increment, n, dense[0]), 1, gathered(y, b.increment, n, dense[1]), 1);
  }
  return sum;
}

/*!
 * \brief A sum of products in blocks, so short that OpenBLAS computes each on the calling thread:
 * its own threads spin while they wait, which takes a thousand times as long where a processor is
 * busy.
 */
template <typename T>
T DotInBlocks(const BlasVector<T>& a, const BlasVector<T>& b, int64_t n) {
  constexpr int64_t kBlock = 8192;
  if (n <= kBlock) return DotOf(a, b, 0, n);
  std::vector<T> sums(static_cast<size_t>((n + kBlock - 1) / kBlock));
  InParallel(static_cast<int64_t>(sums.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sums[static_cast<size_t>(i)] = DotOf(a, b, i * kBlock, std::min(n, (i + 1) * kBlock));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), T(0));
}

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
};
#endif

/*! \brief Whether it is a product of few terms, which it computes then. */
bool ThinGemm([[maybe_unused]] const Operands<float>& p, [[maybe_unused]] float* c) {
#if MXNET_CPU_LEVELS
  if (p.b_column == 1 && thin::Suits(p.m, p.n, p.k)) {
    thin::Product({p.m, p.n, p.k, p.a, p.a_row, p.a_column, p.b, p.b_row}, Written{c, p.n});
    return true;
  }
#endif
  return false;
}

template <typename T>
void BlasGemm(const Operands<T>& p, T* c) {
  if (p.m == 1 && p.n == 1) {
    const BlasVector<T> a(p.a, p.k, p.a_column);
    const BlasVector<T> b(p.b, p.k, p.b_row);
    *c = DotInBlocks(a, b, p.k);
  } else if (p.n == 1) {
    MatrixVector(p.a, p.m, p.k, p.a_row, p.a_column, p.b, p.b_row, c);
  } else if (p.m == 1) {
    MatrixVector(p.b, p.n, p.k, p.b_column, p.b_row, p.a, p.a_column, c);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (IsProductWithTranspose(p)) return SymmetricGemm(p, c);
    }
    const BlasMatrix<T> a(p.a, p.m, p.k, p.a_row, p.a_column);
    const BlasMatrix<T> b(p.b, p.k, p.n, p.b_row, p.b_column);
    blas::Gemm(a.trans, b.trans, static_cast<blasint>(p.m), static_cast<blasint>(p.n),
               static_cast<blasint>(p.k), a.data, a.ld, b.data, b.ld, c);
  }
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
