/*!
 * \file cpu.cc
 * \brief What the processor offers.
 */
#include "op/kernels/cpu.h"

#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

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

/*! \brief In the order of CpuLevel. */
constexpr const char* kNames[] = {"baseline", "avx2", "avx512"};

CpuLevel Limit() noexcept {
  const char* text = std::getenv("MXNET_CPU_LEVEL");
  if (text == nullptr || *text == '\0') return CpuLevel::kAvx512;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (std::strcmp(text, kNames[i]) == 0) return static_cast<CpuLevel>(i);
  }
  // Asked while the library is loaded, when there is nobody to throw to. Python has looked before.
  std::fprintf(stderr, "MXNET_CPU_LEVEL has to be baseline, avx2 or avx512; '%s' is ignored\n",
               text);
  return CpuLevel::kAvx512;
}

MXNET_REGISTER_API("mx.cpu_level")
    .describe(
        "Returns for which processors the loops in use are compiled: 'baseline', 'avx2' or "
        "'avx512', the highest that the processor has and MXNET_CPU_LEVEL allows.")
    .returns("str")
    .set_body_typed([]() { return std::string(kNames[static_cast<int>(HostCpuLevel())]); });

}  // namespace

CpuLevel HostCpuLevel() noexcept {
  static const CpuLevel level = std::min(OfProcessor(), Limit());
  return level;
}

}  // namespace op
}  // namespace mxnet
