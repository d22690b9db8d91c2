/*!
 * \file library.h
 * \brief What exists from initialize to finalize: the one device, which is the CPU.
 */
#ifndef ONEDNN_LIBRARY_H_
#define ONEDNN_LIBRARY_H_

#include <mxnet_acc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace onednn {

/*! \brief Memory of the host. Any thread may call. */
class Memory {
 public:
  Memory() = default;
  ~Memory() { ReleaseAll(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* Alloc(size_t size, size_t alignment);
  void Free(void* data);
  /*! \brief Frees all; how many there were. */
  size_t ReleaseAll();

  size_t live() const;
  size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<void*, size_t> sizes_;
  size_t bytes_{0};
};

struct Library {
  Library();

  Memory memory;
  std::atomic<uint64_t> runs{0};
  std::atomic<int> verbose{0};
  const std::string version; /*!< of oneDNN, which is found at run time: "3.2.0" */
  const std::string isa;     /*!< that oneDNN takes the processor for: "AVX512_CORE" */
  const std::string driver;
};

/*! \brief Failure before initialize and after finalize. */
Library& TheLibrary();
void MakeLibrary();
void DropLibrary();

/*! \brief Failure for any other number than 0. */
void CheckDevice(int32_t dev_id);

/*! \brief The functions that go into the table, by file. */
void SetMemoryFunctions(MXAccApi* api);
void SetOperatorFunctions(MXAccApi* api);

}  // namespace onednn

#endif  // ONEDNN_LIBRARY_H_
