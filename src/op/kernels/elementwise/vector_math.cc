/*!
 * \file vector_math.cc
 * \brief Finds the vector functions of libmvec and calls them.
 */
#include "op/kernels/elementwise/vector_math.h"

#include "op/kernels/cpu.h"

#if MXNET_CPU_LEVELS && defined(__linux__)
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "op/kernels/elementwise/vector_cbrt.h"
#include "op/kernels/elementwise/vector_erf.h"
#include "op/kernels/elementwise/vector_exp.h"
#include "op/kernels/elementwise/vector_log.h"
#include "op/kernels/elementwise/vector_log_float.h"
#include "op/kernels/elementwise/vector_tanh.h"
#include "op/kernels/lanes/intrinsics.h"

namespace mxnet {
namespace op {
namespace {

using Function = void (*)();

/*! \brief Registers of one width: how to fill one from memory and how to write one. */
template <typename T, CpuLevel level>
struct Registers;

#define MXNET_REAL float
#define MXNET_LEVEL kAvx2
#define MXNET_VECTOR __m256
#define MXNET_TARGET MXNET_TARGET_AVX2_FMA
#define MXNET_OP(name) _mm256_##name##_ps
#define MXNET_ANY(mask) (_mm256_movemask_ps(reinterpret_cast<__m256>(mask)) != 0)
#include "op/kernels/elementwise/vector_registers.inc"

#define MXNET_REAL double
#define MXNET_LEVEL kAvx2
#define MXNET_VECTOR __m256d
#define MXNET_TARGET MXNET_TARGET_AVX2_FMA
#define MXNET_OP(name) _mm256_##name##_pd
#define MXNET_ANY(mask) (_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)) != 0)
#include "op/kernels/elementwise/vector_registers.inc"

#define MXNET_REAL float
#define MXNET_LEVEL kAvx512
#define MXNET_VECTOR __m512
#define MXNET_TARGET MXNET_TARGET_AVX512
#define MXNET_OP(name) _mm512_##name##_ps
#define MXNET_ANY(mask) (_mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)) != 0)
#include "op/kernels/elementwise/vector_registers.inc"

#define MXNET_REAL double
#define MXNET_LEVEL kAvx512
#define MXNET_VECTOR __m512d
#define MXNET_TARGET MXNET_TARGET_AVX512
#define MXNET_OP(name) _mm512_##name##_pd
#define MXNET_ANY(mask) (_mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)) != 0)
#include "op/kernels/elementwise/vector_registers.inc"

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

/*! \brief The loop that calls a function found for registers, with what makes it more exact. */
template <typename Lanes, typename T>
auto UnaryLoop(const char* name) {
  if (std::strcmp(name, "cbrt") == 0) return &Lanes::template RunUnary<typename Lanes::CubeRoot>;
  if (std::strcmp(name, "log10") == 0) return &Lanes::template RunUnary<typename Lanes::Log10>;
  return &Lanes::template RunUnary<typename Lanes::Direct>;
}

}  // namespace

template <typename T>
VectorUnary<T> FindVectorUnary(const char* name) noexcept {
  using Wide = Registers<T, CpuLevel::kAvx512>;
  using Narrow = Registers<T, CpuLevel::kAvx2>;
  if constexpr (std::is_same_v<T, float>) {
    if (std::strcmp(name, "erf") == 0) {
      if (const Function f = FindAt<double, CpuLevel::kAvx512>("v", name)) {
        return {f, &Wide::template RunUnary<avx512::ErfFloat>};
      }
      if (const Function f = FindAt<double, CpuLevel::kAvx2>("v", name)) {
        return {f, &Narrow::template RunUnary<avx2::ErfFloat>};
      }
    }
  }
  const bool is_sigmoid = std::strcmp(name, "sigmoid") == 0;
  if (is_sigmoid) name = "exp";
  if (const Function f = FindAt<T, CpuLevel::kAvx512>("v", name)) {
    using ExpOf =
        std::conditional_t<std::is_same_v<T, float>, avx512::ExpFloat, typename Wide::Direct>;
    if (is_sigmoid) return {f, &Wide::template RunUnary<typename Wide::template Sigmoid<ExpOf>>};
    if constexpr (std::is_same_v<T, double>) {
      if (std::strcmp(name, "cbrt") == 0) return {f, &Wide::template RunUnary<avx512::CbrtDouble>};
      if (std::strcmp(name, "log") == 0) return {f, &Wide::template RunUnary<avx512::LogDouble>};
    } else {
      if (std::strcmp(name, "cbrt") == 0) return {f, &Wide::template RunUnary<avx512::CbrtFloat>};
      if (std::strcmp(name, "exp") == 0) return {f, &Wide::template RunUnary<avx512::ExpFloat>};
      if (std::strcmp(name, "log10") == 0) {
        return {f, &Wide::template RunUnary<avx512::Log10Float>};
      }
      if (std::strcmp(name, "tanh") == 0) return {f, &Wide::template RunUnary<avx512::TanhFloat>};
    }
    return {f, UnaryLoop<Wide, T>(name)};
  }
  if (const Function f = FindAt<T, CpuLevel::kAvx2>("v", name)) {
    using ExpOf =
        std::conditional_t<std::is_same_v<T, float>, avx2::ExpFloat, typename Narrow::Direct>;
    if (is_sigmoid) {
      return {f, &Narrow::template RunUnary<typename Narrow::template Sigmoid<ExpOf>>};
    }
    if constexpr (std::is_same_v<T, float>) {
      if (std::strcmp(name, "exp") == 0) return {f, &Narrow::template RunUnary<avx2::ExpFloat>};
      if (std::strcmp(name, "tanh") == 0) return {f, &Narrow::template RunUnary<avx2::TanhFloat>};
    }
    return {f, UnaryLoop<Narrow, T>(name)};
  }
  return {};
}

template <typename T>
VectorBinary<T> FindVectorBinary(const char* name) noexcept {
  using Wide = Registers<T, CpuLevel::kAvx512>;
  using Narrow = Registers<T, CpuLevel::kAvx2>;
  const bool is_power = std::strcmp(name, "pow") == 0;
  if (const Function f = FindAt<T, CpuLevel::kAvx512>("vv", name)) {
    if (is_power) {
      using Pow = std::conditional_t<std::is_same_v<T, float>, avx512::PowFloat, avx512::PowDouble>;
      return {f, &Wide::template RunBinary<Pow>};
    }
    return {f, &Wide::template RunBinary<typename Wide::Direct>};
  }
  if (const Function f = FindAt<T, CpuLevel::kAvx2>("vv", name)) {
    if (is_power) {
      return {f, &Narrow::template RunBinary<typename Narrow::Power>};
    }
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
