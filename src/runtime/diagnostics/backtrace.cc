/*!
 * \file backtrace.cc
 * \brief Notes the stack of a throw, and says where an address belongs.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mxnet/runtime/registry.h>
#include <unwind.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/error_state.h"
#include "runtime/core/fork_safe.h"
#include "runtime/core/pool.h"

namespace mxnet {
namespace runtime {
namespace {

enum Mode : int { kNever, kWithLines, kAlways };

Mode InitialMode() {
  const char* value = std::getenv("MXNET_BACKTRACE");
  if (value == nullptr || *value == '\0') return kWithLines;
  return std::strcmp(value, "0") == 0 ? kNever : kAlways;
}

std::atomic<int> mode{InitialMode()};

/*! \brief The library that an address lies in: its file and where it was loaded to. */
struct Library {
  std::string path;
  uintptr_t base;
};

std::optional<Library> LibraryOf(const void* address) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) {
    return std::nullopt;
  }
  const bool is_program = map == nullptr || map->l_name == nullptr || *map->l_name == '\0';
  return Library{is_program ? "/proc/self/exe" : map->l_name, map == nullptr ? 0 : map->l_addr};
}

template <typename T>
bool ReadAt(std::ifstream* file, uint64_t offset, T* out, size_t count) {
  file->seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(
      file->read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(count * sizeof(T))));
}

/*! \brief Whether a file has a table of line numbers, by the names of its sections. */
bool HasLineTable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header;
  if (!ReadAt(&file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_shentsize != sizeof(ElfW(Shdr)) || header.e_shstrndx >= header.e_shnum) {
    return false;
  }
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  if (!ReadAt(&file, header.e_shoff, sections.data(), sections.size())) return false;
  const ElfW(Shdr) & table = sections[header.e_shstrndx];
  if (table.sh_size > (size_t{16} << 20)) return false;
  std::vector<char> names(table.sh_size + 1);
  if (!ReadAt(&file, table.sh_offset, names.data(), table.sh_size)) return false;
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_name >= table.sh_size) continue;
    const char* name = names.data() + section.sh_name;
    if (std::strcmp(name, ".debug_line") == 0 || std::strcmp(name, ".zdebug_line") == 0) {
      return true;
    }
  }
  return false;
}

/*! \brief Whether the library that an address lies in has line numbers; looked up once for each. */
bool HasLines(const void* address) {
  static auto* mutex = new ForkSafeMutex();
  static auto* known = new std::unordered_map<const void*, bool>();
  {
    std::shared_lock<ForkSafeMutex> lock(*mutex);
    auto found = known->find(address);
    if (found != known->end()) return found->second;
  }
  const std::optional<Library> library = LibraryOf(address);
  const bool lines = library && HasLineTable(library->path);
  std::lock_guard<ForkSafeMutex> lock(*mutex);
  return known->emplace(address, lines).first->second;
}

/*! \brief Where the code of this library lies. */
struct CodeRange {
  uintptr_t begin{0};
  uintptr_t end{0};

  bool Has(uintptr_t address) const { return address >= begin && address < end; }
};

int FindOwnCode(dl_phdr_info* info, size_t, void* out) {
  const auto own = reinterpret_cast<uintptr_t>(&FindOwnCode);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = info->dlpi_phdr[i];
    const CodeRange range{info->dlpi_addr + part.p_vaddr,
                          info->dlpi_addr + part.p_vaddr + part.p_memsz};
    if (part.p_type != PT_LOAD || !range.Has(own)) continue;
    *static_cast<CodeRange*>(out) = range;
    return 1;
  }
  return 0;
}

const CodeRange& OwnCode() {
  static const CodeRange own = [] {
    CodeRange range;
    dl_iterate_phdr(&FindOwnCode, &range);
    return range;
  }();
  return own;
}

struct Walk {
  NotedThrow* noted;
  bool outside; /*!< whether it is past the frames of this library at the throw */
};

/*! \brief Notes a frame, from the throw out to this library, which called the function. */
_Unwind_Reason_Code TakeFrame(_Unwind_Context* context, void* data) {
  auto* walk = static_cast<Walk*>(data);
  const uintptr_t address = _Unwind_GetIP(context);
  if (OwnCode().Has(address)) return walk->outside ? _URC_END_OF_STACK : _URC_NO_REASON;
  walk->outside = true;
  NotedThrow* noted = walk->noted;
  if (noted->count == NotedThrow::kMaxAddresses) return _URC_END_OF_STACK;
  noted->addresses[noted->count++] = reinterpret_cast<const void*>(address);
  return _URC_NO_REASON;
}

/*! \brief Notes the stack, if the caller's library has line numbers or all stacks are wanted. */
[[gnu::noinline]] void Note() {
  const int wanted = mode.load(std::memory_order_relaxed);
  if (wanted == kNever) return;
  if (wanted == kWithLines && !HasLines(__builtin_return_address(0))) return;
  Walk walk{NotedThrow::ThreadLocal(), false};
  walk.noted->count = 0;
  _Unwind_Backtrace(&TakeFrame, &walk);
}

MXNET_REGISTER_API("ffi.backtrace.note")
    .describe("Address of the C function, without arguments, that notes the stack of a throw.")
    .returns("int")
    .set_body_typed([] { return reinterpret_cast<void*>(&Note); });

MXNET_REGISTER_API("ffi.backtrace.set_mode")
    .describe(
        "Whose exceptions have their stack noted: 0 nobody's, 1 those of functions in libraries "
        "with line numbers, 2 all. Returns the former choice.")
    .add_argument("mode", "int", "0, 1 or 2.")
    .returns("int")
    .set_body_typed([](int chosen) {
      if (chosen < kNever || chosen > kAlways)
        MXNET_THROW("ValueError") << "ffi.backtrace.set_mode: argument 0 ('mode') is " << chosen
                                  << ", expected 0, 1 or 2";
      return mode.exchange(chosen);
    });

MXNET_REGISTER_API("ffi.backtrace.library")
    .describe("File of the library that an address lies in, and the address within it; or None.")
    .add_argument("address", "int", "An address in memory.")
    .returns("tuple[str, int] | None")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto address = args[0].As<uint64_t>();
      const auto library = LibraryOf(reinterpret_cast<const void*>(address));
      if (!library) return;
      *ret = Tuple(
          std::vector<Any>{details::ToAny(library->path), details::ToAny(address - library->base)});
    });

}  // namespace

}  // namespace runtime
}  // namespace mxnet
