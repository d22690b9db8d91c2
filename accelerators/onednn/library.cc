#include "library.h"

#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>

#include "../common/one_library.h"
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

void* Memory::Alloc(size_t size, size_t alignment) {
  void* data = nullptr;
  if (posix_memalign(&data, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) != 0) {
    throw mxacc::Failure(kMXAccOutOfMemory,
                         "the host has no " + std::to_string(size) + " bytes more");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  sizes_.emplace(data, size);
  bytes_ += size;
  return data;
}

void Memory::Free(void* data) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sizes_.find(data);
    if (found == sizes_.end()) return;
    bytes_ -= found->second;
    sizes_.erase(found);
  }
  std::free(data);
}

size_t Memory::ReleaseAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t live = sizes_.size();
  for (const auto& block : sizes_) std::free(block.first);
  sizes_.clear();
  bytes_ = 0;
  return live;
}

size_t Memory::live() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sizes_.size();
}

size_t Memory::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

Library::Library()
    : version(VersionText()), isa(IsaText()), driver("oneDNN " + version + ", " + isa) {}

Library& TheLibrary() { return mxacc::OneLibrary<Library>::Get(); }

void MakeLibrary() {
  mxacc::OneLibrary<Library>::Make([] {
    FindThreads();
    return new Library();
  });
}

void DropLibrary() { mxacc::OneLibrary<Library>::Drop(); }

void CheckDevice(int32_t dev_id) {
  if (dev_id != 0) {
    throw mxacc::Failure(kMXAccNoDevice,
                         "there is no device " + std::to_string(dev_id) + ", only 0");
  }
}

}  // namespace onednn
