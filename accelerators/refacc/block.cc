#include "block.h"

#include <mxnet_acc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sdk.h"

namespace refacc {
namespace {

/*! \brief NaN in every float type, so that what was never written shows in results. */
constexpr int kFreshPattern = 0xFF;
constexpr int kFreedPattern = 0xDD;
constexpr size_t kZoneSize = 64;

size_t RoundUp(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

[[noreturn]] void ThrowNoMemory(size_t size) {
  throw Failure(kMXAccOutOfMemory,
                "the host's memory does not have " + std::to_string(size) + " bytes");
}

Block NewZonedBlock(size_t size, size_t alignment, size_t zone) {
  const size_t unit = std::max(alignment, sizeof(void*));
  const size_t front = RoundUp(zone, unit);
  if (size > SIZE_MAX - front - zone) ThrowNoMemory(size);
  void* mapping = NewHostMemory(front + size + zone, unit);
  if (mapping == nullptr) ThrowNoMemory(size);
  char* begin = static_cast<char*>(mapping);
  return {begin + front, size, begin, begin + front + size + zone, mapping, 0};
}

/*! \brief The block ends where a page begins that cannot be touched, but for its alignment. */
Block NewPagedBlock(size_t size, size_t alignment) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (alignment > page) ThrowNoMemory(size);
  if (size > SIZE_MAX / 2) ThrowNoMemory(size);
  const size_t inner = RoundUp(size, page);
  const size_t whole = inner + 2 * page;
  void* mapping = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) ThrowNoMemory(size);
  char* begin = static_cast<char*>(mapping) + page;
  if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, whole);
    ThrowNoMemory(size);
  }
  return {
      begin + (inner - size) / alignment * alignment, size, begin, begin + inner, mapping, whole};
}

bool IsChanged(char byte) { return static_cast<unsigned char>(byte) != kZonePattern; }

}  // namespace

Block NewBlock(size_t size, size_t alignment, Guard guard, bool poison) {
  const Block block = guard == Guard::kPages
                          ? NewPagedBlock(size, alignment)
                          : NewZonedBlock(size, alignment, guard == Guard::kZones ? kZoneSize : 0);
  std::memset(block.begin, kZonePattern, static_cast<size_t>(block.data - block.begin));
  if (poison) std::memset(block.data, kFreshPattern, size);
  char* behind = block.data + size;
  std::memset(behind, kZonePattern, static_cast<size_t>(block.end - behind));
  return block;
}

void DeleteBlock(const Block& block, bool poison) {
  if (poison) std::memset(block.data, kFreedPattern, block.size);
  if (block.mapping_size != 0) {
    munmap(block.mapping, block.mapping_size);
  } else {
    std::free(block.mapping);
  }
}

ptrdiff_t DamageOf(const Block& block) {
  const char* behind = block.data + block.size;
  const char* found = std::find_if(behind, static_cast<const char*>(block.end), IsChanged);
  if (found != block.end) return found - behind + 1;
  const char* byte = block.data - 1;
  while (!IsChanged(*byte)) --byte;
  return byte - block.data;
}

}  // namespace refacc
