/*!
 * \file cpu.h
 * \brief Loops compiled for several levels of the processor, of which the machine's is chosen.
 *
 * The library runs on every machine of its architecture, so instructions beyond the architecture's
 * baseline are used in functions of their own and only where the processor has them.
 */
#ifndef MXNET_SRC_OP_KERNELS_CPU_H_
#define MXNET_SRC_OP_KERNELS_CPU_H_

#if defined(__x86_64__) && defined(__GNUC__)
#define MXNET_CPU_LEVELS 1
// Without FMA: a product and a sum keep their two roundings, so that every level gives the same.
#define MXNET_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
// What may differ between levels by the rounding of a sum: products of matrices, functions.
#define MXNET_TARGET_AVX2_FMA __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#define MXNET_TARGET_AVX512 \
  __attribute__((           \
      target("avx2,fma,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")))
#else
#define MXNET_CPU_LEVELS 0
#endif

#define MXNET_ALWAYS_INLINE inline __attribute__((always_inline))

namespace mxnet {
namespace op {

enum class CpuLevel : int { kBaseline, kAvx2, kAvx512 };

/*!
 * \brief What the processor and the operating system offer.
 *
 * The environment variable MXNET_CPU_LEVEL, one of baseline, avx2 and avx512, lowers it.
 */
CpuLevel HostCpuLevel() noexcept;

namespace internal {

template <typename Body, typename Signature>
struct Compiled;

template <typename Body, typename R, typename... Args>
struct Compiled<Body, R (*)(Args...)> {
  static R Baseline(Args... args) { return Body::Run(args...); }
#if MXNET_CPU_LEVELS
  MXNET_TARGET_AVX2 static R Avx2(Args... args) { return Body::Run(args...); }
  MXNET_TARGET_AVX512 static R Avx512(Args... args) { return Body::Run(args...); }
#endif
};

}  // namespace internal

/*!
 * \brief The function Body::Run, compiled for the processor.
 *
 * Run has to be MXNET_ALWAYS_INLINE, as has all it calls that is to be compiled so.
 */
template <typename Body>
auto ForCpu() noexcept -> decltype(&Body::Run) {
  using Functions = internal::Compiled<Body, decltype(&Body::Run)>;
#if MXNET_CPU_LEVELS
  if (HostCpuLevel() >= CpuLevel::kAvx2) return &Functions::Avx2;
#endif
  return &Functions::Baseline;
}

/*! \brief The same for bodies that gain from the instructions of AVX-512. */
template <typename Body>
auto ForWideCpu() noexcept -> decltype(&Body::Run) {
#if MXNET_CPU_LEVELS
  using Functions = internal::Compiled<Body, decltype(&Body::Run)>;
  if (HostCpuLevel() >= CpuLevel::kAvx512) return &Functions::Avx512;
#endif
  return ForCpu<Body>();
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_CPU_H_
