/*!
 * \file mapped_array.cc
 * \brief Arrays with pages of their own.
 */
#include "graph/mapped_array.h"

#include <mxnet/runtime/extents.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace mxnet {
namespace graph {
namespace {

using runtime::NDArray;
using runtime::ObjectRef;
using runtime::ShapeView;

/*! \brief From so many bytes on an array has pages of its own. */
constexpr size_t kSmallest = size_t{1} << 20;
constexpr size_t kHugePage = size_t{1} << 21;

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  return bytes;
}

/*! \brief Memory there is at all: for more than that NDArray::Empty has the error. */
size_t PhysicalBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * PageBytes();
  return bytes;
}

/*! \brief Pages of one array. */
class Pages {
 public:
  Pages(void* data, size_t bytes) : data_(data), bytes_(bytes) {}
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void* data() const { return data_; }

 private:
  void* data_;
  size_t bytes_;
};

/*! \brief Pages for so many bytes; NULL where the system has none. */
std::unique_ptr<Pages> Map(size_t bytes) {
  const size_t page = PageBytes();
  const size_t size = (bytes + page - 1) / page * page;
  const size_t unit = size >= kHugePage ? kHugePage : page;
  const size_t asked = size + unit - page;
  void* const found =
      mmap(nullptr, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<char*>(found);
  const auto address = reinterpret_cast<uintptr_t>(found);
  char* const data = begin + ((address + unit - 1) / unit * unit - address);
  if (data != begin) munmap(begin, static_cast<size_t>(data - begin));
  char* const end = data + size;
  if (end != begin + asked) munmap(end, static_cast<size_t>(begin + asked - end));
#ifdef MADV_HUGEPAGE
  // Only advice: where the system ignores it, the pages have the usual size.
  if (unit == kHugePage) (void)madvise(data, size, MADV_HUGEPAGE);
#endif
  return std::make_unique<Pages>(data, size);
}

void Keep(void*) {}  // the array has the only reference

void Release(void* pages) { delete static_cast<Pages*>(pages); }

}  // namespace

NDArray MappedArray(ShapeView shape, DLDataType dtype) {
  static const MXNetOwnerFunctions functions{&Keep, &Release};
  const size_t bytes = runtime::CheckedBytes(shape, dtype);
  std::unique_ptr<Pages> pages;
  if (bytes >= kSmallest && bytes <= PhysicalBytes()) pages = Map(bytes);
  if (pages == nullptr) return NDArray::Empty(shape, dtype);
  MXNetBorrowedTensor tensor{};
  tensor.tensor = DLTensor{pages->data(),
                           DLDevice{kDLCPU, 0},
                           shape.ndim(),
                           dtype,
                           const_cast<int64_t*>(shape.data()),
                           nullptr,
                           0};
  tensor.owner = pages.get();
  tensor.owner_functions = &functions;
  MXNetNDArrayHandle handle;
  MXNET_CHECK_CALL(MXNetNDArrayFromBorrowed(&tensor, &handle));
  (void)pages.release();
  return NDArray(ObjectRef::Steal(handle));
}

}  // namespace graph
}  // namespace mxnet
