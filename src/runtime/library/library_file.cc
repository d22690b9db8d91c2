/*!
 * \file library_file.cc
 * \brief Reads the head of a library's file, and the loader's messages.
 */
#include "runtime/library/library_file.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <mxnet/runtime/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/library/dynamic_library.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief What all ELF files have in common, whatever their class and byte order. */
struct Head {
  unsigned char ident[EI_NIDENT];
  unsigned char type[2];
  unsigned char machine[2];
};

constexpr char kWhat[] = "cannot load ";

[[noreturn]] void ThrowOpenError(const std::string& path, int code) {
  if (code == ENOENT || code == ENOTDIR) {
    MXNET_THROW("FileNotFoundError") << kWhat << path << ": there is no such file";
  }
  const char* kind = code == EACCES ? "PermissionError" : "OSError";
  MXNET_THROW(kind) << kWhat << path << ": " << std::strerror(code);
}

/*! \brief The first bytes of a file; fewer than a Head has where the file is shorter. */
std::string ReadHead(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) ThrowOpenError(path, errno);
  struct stat status{};
  const bool is_folder = fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
  const bool is_file = S_ISREG(status.st_mode);
  char bytes[sizeof(Head)];
  const ssize_t size = is_file ? read(file, bytes, sizeof(bytes)) : 0;
  close(file);
  if (is_folder) {
    MXNET_THROW("IsADirectoryError") << kWhat << path << ": it is a folder";
  }
  if (!is_file) MXNET_THROW("ImportError") << kWhat << path << ": it is not a regular file";
  return std::string(bytes, size < 0 ? 0 : static_cast<size_t>(size));
}

unsigned Number(const unsigned char (&bytes)[2], bool little) {
  return little ? bytes[0] | bytes[1] << 8 : bytes[1] | bytes[0] << 8;
}

std::string MachineName(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "ARM";
    case EM_AARCH64:
      return "AArch64";
    case EM_PPC64:
      return "PowerPC64";
    case EM_S390:
      return "s390";
    case EM_RISCV:
      return "RISC-V";
    default:
      return "ELF machine " + std::to_string(machine);
  }
}

std::string Architecture(const Head& head) {
  const bool little = head.ident[EI_DATA] == ELFDATA2LSB;
  const char* bits = head.ident[EI_CLASS] == ELFCLASS64 ? " (64 bits, " : " (32 bits, ";
  return MachineName(Number(head.machine, little)) + bits +
         (little ? "little endian)" : "big endian)");
}

/*! \brief The head of this very library, as the loader has put it into memory. */
const Head& OwnHead() {
  return *static_cast<const Head*>(
      dynamic_library::BaseOf(reinterpret_cast<const void*>(&CheckLibraryFile)));
}

/*! \brief Why the bytes are no ELF shared library; "" where they may be one. */
std::string WrongKind(const std::string& bytes) {
  if (bytes.empty()) return "the file is empty";
  if (bytes.compare(0, 8, "!<arch>\n") == 0) return "it is a static archive";
  if (bytes.compare(0, SELFMAG, ELFMAG) != 0 || bytes.size() < sizeof(Head)) return "it is no ELF";
  const Head& head = *reinterpret_cast<const Head*>(bytes.data());
  switch (Number(head.type, head.ident[EI_DATA] == ELFDATA2LSB)) {
    case ET_REL:
      return "it is an object file that was not linked";
    case ET_CORE:
      return "it is a core dump";
    case ET_EXEC:
      return "it is a program";
    default:
      return "";
  }
}

/*!
 * \brief Whether the file holds all that the loader maps of it; it would fault on what is missing.
 *
 * Only for a file of this process's own class and byte order.
 */
bool IsWhole(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) ThrowOpenError(path, errno);
  const std::unique_ptr<const int, void (*)(const int*)> closer(&file,
                                                                [](const int* f) { close(*f); });
  struct stat status{};
  ElfW(Ehdr) head{};
  if (fstat(file, &status) != 0 || pread(file, &head, sizeof(head), 0) != sizeof(head))
    return false;
  const auto size = static_cast<uint64_t>(status.st_size);
  for (uint64_t i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) part{};
    const auto at = static_cast<off_t>(head.e_phoff + i * sizeof(part));
    if (head.e_phentsize != sizeof(part) || at < 0 ||
        pread(file, &part, sizeof(part), at) != sizeof(part)) {
      return false;
    }
    const bool is_mapped = part.p_type == PT_LOAD || part.p_type == PT_DYNAMIC;
    if (is_mapped && (part.p_filesz > size || part.p_offset > size - part.p_filesz)) return false;
  }
  return head.e_phnum > 0;
}

std::string Demangled(const std::string& symbol) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : "";
}

std::string ExplainUndefined(const std::string& symbol) {
  const std::string readable = Demangled(symbol);
  std::string text = "undefined symbol '" + (readable.empty() ? symbol : readable) + "'";
  if (!readable.empty()) text += " (" + symbol + ")";
  if (symbol.compare(0, 5, "MXNet") == 0) {
    return text +
           ": either the library is not linked with libmxnet_runtime.so (`python -m ffi "
           "--ldflags`), or it was built with the headers of a newer release";
  }
  return text + ": neither it nor a library that it is linked with defines it";
}

}  // namespace

void CheckLibraryFile(const std::string& path) {
  const std::string bytes = ReadHead(path);
  const std::string wrong = WrongKind(bytes);
  if (!wrong.empty()) {
    MXNET_THROW("ImportError") << kWhat << path << ": it is not a shared library: " << wrong;
  }
  const std::string theirs = Architecture(*reinterpret_cast<const Head*>(bytes.data()));
  const std::string ours = Architecture(OwnHead());
  if (theirs != ours) {
    MXNET_THROW("ImportError") << kWhat << path << ": it was built for " << theirs
                               << ", this process runs on " << ours;
  }
  if (!IsWhole(path)) {
    MXNET_THROW("ImportError") << kWhat << path << ": the file ends before the library does";
  }
}

std::string ExplainLoaderMessage(const std::string& message, const std::string& path) {
  // glibc: "PATH: undefined symbol: NAME" and "NAME: cannot open shared object file: REASON"
  constexpr char kUndefined[] = ": undefined symbol: ";
  const size_t undefined = message.find(kUndefined);
  if (undefined != std::string::npos) {
    const size_t start = undefined + sizeof(kUndefined) - 1;
    return ExplainUndefined(message.substr(start, message.find(',', start) - start));
  }
  const size_t missing = message.find(": cannot open shared object file");
  if (missing != std::string::npos && message.compare(0, missing, path) != 0) {
    return "it needs " + message.substr(0, missing) +
           ", which is not found beside it by its RUNPATH, nor in LD_LIBRARY_PATH or the system's "
           "folders";
  }
  return message.compare(0, path.size() + 2, path + ": ") == 0 ? message.substr(path.size() + 2)
                                                               : message;
}

}  // namespace runtime
}  // namespace mxnet
