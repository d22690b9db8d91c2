/*!
 * \file cpu.cc
 * \brief What the processor offers.
 */
#include "api/common/cpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mxnet {
namespace op {
namespace {

CpuLevel OfProcessor() noexcept {
#if MXNET_CPU_LEVELS
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
    return CpuLevel::kBaseline;
  }
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return wide ? CpuLevel::kAvx512 : CpuLevel::kAvx2;
#else
  return CpuLevel::kBaseline;
#endif
}

CpuLevel Limit() noexcept {
  const char* text = std::getenv("MXNET_CPU_LEVEL");
  if (text == nullptr || *text == '\0' || std::strcmp(text, "avx512") == 0) {
    return CpuLevel::kAvx512;
  }
  if (std::strcmp(text, "avx2") == 0) return CpuLevel::kAvx2;
  if (std::strcmp(text, "baseline") != 0) {
    // Asked while the library is loaded, when there is nobody to throw to.
    std::fprintf(stderr, "MXNET_CPU_LEVEL has to be baseline, avx2 or avx512; '%s' is ignored\n",
                 text);
    return CpuLevel::kAvx512;
  }
  return CpuLevel::kBaseline;
}

}  // namespace

CpuLevel HostCpuLevel() noexcept {
  static const CpuLevel level = std::min(OfProcessor(), Limit());
  return level;
}

}  // namespace op
}  // namespace mxnet
