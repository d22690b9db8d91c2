/*!
 * \file vector_math.cc
 * \brief Finds the vector functions of libmvec and calls them.
 */
#include "api/common/vector_math.h"

#include "api/common/cpu.h"

#if MXNET_CPU_LEVELS && defined(__linux__)
#if !defined(__clang__)
// GCC 12 warns of the undefined registers that its own intrinsics start from.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <dlfcn.h>
#include <immintrin.h>

#include <cstdio>
#include <cstring>
#include <type_traits>

#include "api/common/vector_log.h"

namespace mxnet {
namespace op {
namespace {

using Function = void (*)();

/*! \brief Registers of one width: how to fill one from memory and how to write one. */
template <typename T, CpuLevel level>
struct Registers;

#define MXNET_REGISTERS(T, Level, Target, Vector, Count, LoadVector, StoreVector)                  \
  template <>                                                                                      \
  struct Registers<T, CpuLevel::Level> {                                                           \
    static constexpr int64_t kCount = Count;                                                       \
                                                                                                   \
    /*! \brief The kernel that is nothing but the function found. */                               \
    struct Direct {                                                                                \
      static Target MXNET_ALWAYS_INLINE Vector Apply(Function function, Vector x) {                \
        return reinterpret_cast<Vector (*)(Vector)>(function)(x);                                  \
      }                                                                                            \
      static Target MXNET_ALWAYS_INLINE Vector Apply(Function function, Vector a, Vector b) {      \
        return reinterpret_cast<Vector (*)(Vector, Vector)>(function)(a, b);                       \
      }                                                                                            \
    };                                                                                             \
                                                                                                   \
    template <typename Kernel>                                                                     \
    Target static void RunUnary(Function function, const T* x, T* out, int64_t n) {                \
      int64_t i = 0;                                                                               \
      for (; i + kCount <= n; i += kCount) {                                                       \
        StoreVector(out + i, Kernel::Apply(function, LoadVector(x + i)));                          \
      }                                                                                            \
      if (i == n) return;                                                                          \
      T part[kCount];                                                                              \
      Fill(part, x + i, n - i);                                                                    \
      StoreVector(part, Kernel::Apply(function, LoadVector(part)));                                \
      for (int64_t j = 0; i + j < n; ++j) out[i + j] = part[j];                                    \
    }                                                                                              \
                                                                                                   \
    template <typename Kernel>                                                                     \
    Target static void RunBinary(Function function, const T* a, const T* b, T* out, int64_t n) {   \
      int64_t i = 0;                                                                               \
      for (; i + kCount <= n; i += kCount) {                                                       \
        StoreVector(out + i, Kernel::Apply(function, LoadVector(a + i), LoadVector(b + i)));       \
      }                                                                                            \
      if (i == n) return;                                                                          \
      T parts[2][kCount];                                                                          \
      Fill(parts[0], a + i, n - i);                                                                \
      Fill(parts[1], b + i, n - i);                                                                \
      StoreVector(parts[0], Kernel::Apply(function, LoadVector(parts[0]), LoadVector(parts[1])));  \
      for (int64_t j = 0; i + j < n; ++j) out[i + j] = parts[0][j];                                \
    }                                                                                              \
                                                                                                   \
   private:                                                                                        \
    /*! \brief The first n of a register's numbers, and the first of them again for the others. */ \
    static MXNET_ALWAYS_INLINE void Fill(T* part, const T* x, int64_t n) {                         \
      for (int64_t j = 0; j < kCount; ++j) part[j] = x[j < n ? j : 0];                             \
    }                                                                                              \
  };

MXNET_REGISTERS(float, kAvx2, MXNET_TARGET_AVX2, __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps)
MXNET_REGISTERS(double, kAvx2, MXNET_TARGET_AVX2, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd)
MXNET_REGISTERS(float, kAvx512, MXNET_TARGET_AVX512, __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps)
MXNET_REGISTERS(double, kAvx512, MXNET_TARGET_AVX512, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd)

/*! \brief The function for `count` numbers at a time; NULL where there is none. */
Function Find(char isa, int64_t count, const char* inputs, const char* name, const char* suffix) {
  // Never closed: the functions are kept.
  static void* const library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  char symbol[64];
  std::snprintf(symbol, sizeof(symbol), "_ZGV%cN%d%s_%s%s", isa, static_cast<int>(count), inputs,
                name, suffix);
  return reinterpret_cast<Function>(dlsym(library, symbol));
}

template <typename T>
constexpr const char* kSuffix = sizeof(T) == sizeof(float) ? "f" : "";

template <typename T, CpuLevel level>
Function FindAt(const char* inputs, const char* name) {
  if (HostCpuLevel() < level) return nullptr;
  constexpr char kIsa = level == CpuLevel::kAvx512 ? 'e' : 'd';
  return Find(kIsa, Registers<T, level>::kCount, inputs, name, kSuffix<T>);
}

}  // namespace

template <typename T>
VectorUnary<T> FindVectorUnary(const char* name) noexcept {
  using Wide = Registers<T, CpuLevel::kAvx512>;
  using Narrow = Registers<T, CpuLevel::kAvx2>;
  if (const Function f = FindAt<T, CpuLevel::kAvx512>("v", name)) {
    if constexpr (std::is_same_v<T, double>) {
      if (std::strcmp(name, "log") == 0) {
        return {f, &Wide::template RunUnary<avx512::LogDouble>};
      }
    }
    return {f, &Wide::template RunUnary<typename Wide::Direct>};
  }
  if (const Function f = FindAt<T, CpuLevel::kAvx2>("v", name)) {
    return {f, &Narrow::template RunUnary<typename Narrow::Direct>};
  }
  return {};
}

template <typename T>
VectorBinary<T> FindVectorBinary(const char* name) noexcept {
  using Wide = Registers<T, CpuLevel::kAvx512>;
  using Narrow = Registers<T, CpuLevel::kAvx2>;
  if (const Function f = FindAt<T, CpuLevel::kAvx512>("vv", name)) {
    if (std::strcmp(name, "pow") == 0) {
      using Pow = std::conditional_t<std::is_same_v<T, float>, avx512::PowFloat, avx512::PowDouble>;
      return {f, &Wide::template RunBinary<Pow>};
    }
    return {f, &Wide::template RunBinary<typename Wide::Direct>};
  }
  if (const Function f = FindAt<T, CpuLevel::kAvx2>("vv", name)) {
    return {f, &Narrow::template RunBinary<typename Narrow::Direct>};
  }
  return {};
}

}  // namespace op
}  // namespace mxnet

#else

namespace mxnet {
namespace op {

template <typename T>
VectorUnary<T> FindVectorUnary(const char*) noexcept {
  return {};
}

template <typename T>
VectorBinary<T> FindVectorBinary(const char*) noexcept {
  return {};
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_CPU_LEVELS && defined(__linux__)

namespace mxnet {
namespace op {

template VectorUnary<float> FindVectorUnary(const char* name) noexcept;
template VectorUnary<double> FindVectorUnary(const char* name) noexcept;
template VectorBinary<float> FindVectorBinary(const char* name) noexcept;
template VectorBinary<double> FindVectorBinary(const char* name) noexcept;

}  // namespace op
}  // namespace mxnet
