#include "device.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

#include "../sdk/host_memory.h"
#include "threads.h"

namespace onednn {
namespace {

std::string VersionText() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

std::string IsaText() {
  struct Known {
    dnnl::cpu_isa isa;
    const char* name;
  };
  static constexpr Known kKnown[] = {
      {dnnl::cpu_isa::sse41, "SSE41"},
      {dnnl::cpu_isa::avx, "AVX"},
      {dnnl::cpu_isa::avx2, "AVX2"},
      {dnnl::cpu_isa::avx2_vnni, "AVX2_VNNI"},
      {dnnl::cpu_isa::avx2_vnni_2, "AVX2_VNNI_2"},
      {dnnl::cpu_isa::avx512_core, "AVX512_CORE"},
      {dnnl::cpu_isa::avx512_core_vnni, "AVX512_CORE_VNNI"},
      {dnnl::cpu_isa::avx512_core_bf16, "AVX512_CORE_BF16"},
      {dnnl::cpu_isa::avx512_core_fp16, "AVX512_CORE_FP16"},
      {dnnl::cpu_isa::avx512_core_amx, "AVX512_CORE_AMX"},
      {dnnl::cpu_isa::avx512_core_amx_fp16, "AVX512_CORE_AMX_FP16"},
  };
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  for (const Known& known : kKnown) {
    if (known.isa == isa) return known.name;
  }
  return "ISA " + std::to_string(static_cast<int>(isa));
}

}  // namespace

Device::Device()
    : threads(FindThreads()),
      version(VersionText()),
      isa(IsaText()),
      driver("oneDNN " + version + ", " + isa) {}

void Device::SetModel(const std::vector<std::string>& primitives, uint64_t workspace_bytes) {
  workspace = workspace_bytes;
  std::string text;
  for (const std::string& name : primitives) text += (text.empty() ? "" : ",") + name;
  const std::lock_guard<std::mutex> lock(mutex_);
  primitives_ = std::move(text);
}

std::string Device::primitives() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return primitives_;
}

void* Device::Alloc(size_t size, size_t alignment) {
  void* data = mxacc::NewHostMemory(size, alignment);
  if (data == nullptr) {
    throw mxacc::Failure(kMXAccOutOfMemory,
                         "the host has no " + std::to_string(size) + " bytes more");
  }
  memory.Add(data, Buffer(data), size);
  return data;
}

}  // namespace onednn
