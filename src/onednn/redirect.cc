/*!
 * \file redirect.cc
 * \brief Writes the addresses of functions where the dynamic linker has, for oneDNN alone.
 *
 * What else the process has of OpenMP, torch's for example, stays as it is: libraries that are
 * linked with libgomp.so.1 share it, and defining its functions anew would change all of them.
 */
#include "onednn/redirect.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mxnet/runtime/error.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "onednn/openmp.h"
#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace onednn {
namespace {

struct Slots {
  const void* base; /*!< of oneDNN in memory */
  void** of[kNumOpenMPFunctions];
  const void* expected; /*!< in the first slot: it is not written where another one is there */
  void* former[kNumOpenMPFunctions];
  bool is_written;
};

/*! \brief What this library has written. */
struct Redirection {
  std::mutex mutex;
  std::optional<Slots> slots;
  bool is_shared{false};
};

/*! \brief Never destroyed, as threads may compute when the process ends. */
Redirection& OfThisLibrary() {
  static auto* redirection = new Redirection;
  return *redirection;
}

/*! \brief An address of a dynamic section, which some dynamic linkers have made absolute. */
uintptr_t Absolute(uintptr_t base, uintptr_t value) { return value < base ? base + value : value; }

void FindSlots(const dl_phdr_info& info, const ElfW(Dyn) * dynamic, Slots* slots) {
  const uintptr_t base = info.dlpi_addr;
  const char* strings = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  struct {
    const ElfW(Rela) * entries;
    size_t bytes;
  } tables[2] = {};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const uintptr_t address = Absolute(base, dynamic->d_un.d_ptr);
    const size_t size = dynamic->d_un.d_val;
    switch (dynamic->d_tag) {
      case DT_STRTAB:
        strings = reinterpret_cast<const char*>(address);
        break;
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_JMPREL:
        tables[0].entries = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        tables[0].bytes = size;
        break;
      case DT_RELA:
        tables[1].entries = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        tables[1].bytes = size;
        break;
      default:
        break;
    }
  }
  for (const auto& table : tables) {
    for (size_t i = 0; i < table.bytes / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela) & entry = table.entries[i];
      const auto type = ELF64_R_TYPE(entry.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const char* name = strings + symbols[ELF64_R_SYM(entry.r_info)].st_name;
      for (size_t f = 0; f < kNumOpenMPFunctions; ++f) {
        if (std::strcmp(name, kOpenMPFunctions[f].name) != 0) continue;
        slots->of[f] = reinterpret_cast<void**>(base + entry.r_offset);
      }
    }
  }
}

bool Protect(const dl_phdr_info& info, const ElfW(Phdr) & segment, int protection) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (info.dlpi_addr + segment.p_vaddr) & ~(page - 1);
  const uintptr_t end = (info.dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
  return end <= begin || mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

/*! \brief Calls visit(info) for oneDNN, while no other thread may do so. */
template <typename Visit>
void VisitOneDNN(const Slots& slots, Visit visit) {
  struct Call {
    const void* base;
    Visit visit;
  } call{slots.base, visit};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* of = static_cast<Call*>(data);
        if (reinterpret_cast<const void*>(info->dlpi_addr) != of->base) return 0;
        of->visit(*info);
        return 1;
      },
      &call);
}

void Find(const dl_phdr_info& info, Slots* slots) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    FindSlots(info, reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr),
              slots);
  }
}

/*! \brief Writes addresses where the first one is as expected; keeps the former ones. */
void Write(const dl_phdr_info& info, void* const* addresses, Slots* slots) {
  if (*slots->of[0] != slots->expected) return;
  // Read only since it was linked.
  const ElfW(Phdr)* guarded = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_GNU_RELRO) guarded = &info.dlpi_phdr[i];
  }
  if (guarded != nullptr && !Protect(info, *guarded, PROT_READ | PROT_WRITE)) return;
  for (size_t f = 0; f < kNumOpenMPFunctions; ++f) {
    slots->former[f] = std::exchange(*slots->of[f], addresses[f]);
  }
  if (guarded != nullptr) Protect(info, *guarded, PROT_READ);
  slots->is_written = true;
}

/*! \brief What mxnet_onednn_share_threads of the library with the address gives; nullptr where it
 * has no such function. */
SetThreads SharedBy(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return nullptr;
  void* library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* share = dlsym(library, "mxnet_onednn_share_threads");
  const SetThreads set =
      share == nullptr ? nullptr : reinterpret_cast<decltype(&mxnet_onednn_share_threads)>(share)();
  // Not closed where oneDNN calls it from now on for this library, too.
  if (set == nullptr) dlclose(library);
  return set;
}

bool Set(int threads) {
  SetRegionThreads(threads);
  // Who is missing in a region would be waited for without end.
  return threads <= 1 || Pool()->Reserve(threads - 1);
}

}  // namespace

SetThreads RedirectOpenMP() {
  Slots slots{};
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&dnnl_primitive_execute), &info) == 0) {
    MXNET_THROW("ImportError") << "oneDNN is in no library of this process";
  }
  slots.base = info.dli_fbase;
  VisitOneDNN(slots, [&](const dl_phdr_info& found) { Find(found, &slots); });
  void* own[kNumOpenMPFunctions];
  for (size_t f = 0; f < kNumOpenMPFunctions; ++f) {
    own[f] = kOpenMPFunctions[f].address;
    if (slots.of[f] != nullptr) continue;
    MXNET_THROW("ImportError") << "oneDNN: " << info.dli_fname << " does not call "
                               << kOpenMPFunctions[f].name << " of GNU's OpenMP";
  }
  Redirection& redirection = OfThisLibrary();
  const std::lock_guard<std::mutex> lock(redirection.mutex);
  if (redirection.slots) return &Set;
  while (!slots.is_written) {
    slots.expected = *slots.of[0];
    if (const SetThreads others = SharedBy(slots.expected)) return others;
    VisitOneDNN(slots, [&](const dl_phdr_info& found) { Write(found, own, &slots); });
    if (!slots.is_written && *slots.of[0] == slots.expected) {
      MXNET_THROW("ImportError") << "oneDNN: the addresses of " << info.dli_fname
                                 << " cannot be written: " << std::strerror(errno);
    }
  }
  redirection.slots = slots;
  return &Set;
}

bool RestoreOpenMP() {
  Redirection& redirection = OfThisLibrary();
  const std::lock_guard<std::mutex> lock(redirection.mutex);
  if (!redirection.slots) return true;
  if (redirection.is_shared) return false;
  Slots& slots = *redirection.slots;
  slots.is_written = false;
  slots.expected = *slots.of[0];
  void* former[kNumOpenMPFunctions];
  std::copy(std::begin(slots.former), std::end(slots.former), former);
  VisitOneDNN(slots, [&](const dl_phdr_info& found) { Write(found, former, &slots); });
  if (!slots.is_written) return false;
  redirection.slots.reset();
  return true;
}

}  // namespace onednn
}  // namespace mxnet

mxnet::onednn::SetThreads mxnet_onednn_share_threads() {
  using mxnet::onednn::OfThisLibrary;
  const std::lock_guard<std::mutex> lock(OfThisLibrary().mutex);
  if (!OfThisLibrary().slots) return nullptr;
  OfThisLibrary().is_shared = true;
  return &mxnet::onednn::Set;
}
