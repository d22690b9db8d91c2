/*!
 * \file fill.cc
 * \brief Fills memory by the widest registers.
 */
#include "op/kernels/elementwise/fill.h"

#include <cstring>

#include "op/kernels/cpu.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief An element's bytes, for which no address is too odd. */
template <typename T>
struct FillBody {
  struct __attribute__((packed, may_alias)) Stored {
    T value;
  };

  static MXNET_ALWAYS_INLINE void Run(void* to, int64_t n, T value) {
    auto* out = static_cast<Stored*>(to);
    for (int64_t i = 0; i < n; ++i) out[i].value = value;
  }
};

template <typename T>
void Fill(const void* element, int64_t n, void* to) {
  static const auto run = ForCpu<FillBody<T>>();
  T value;
  std::memcpy(&value, element, sizeof(value));
  run(to, n, value);
}

}  // namespace

void FillDense(const void* element, int64_t item, int64_t n, void* to) {
  switch (item) {
    case 1:
      std::memset(to, *static_cast<const unsigned char*>(element), static_cast<size_t>(n));
      return;
    case 2:
      return Fill<uint16_t>(element, n, to);
    case 4:
      return Fill<uint32_t>(element, n, to);
    case 8:
      return Fill<uint64_t>(element, n, to);
    default:
      return Fill<unsigned __int128>(element, n, to);
  }
}

}  // namespace op
}  // namespace mxnet
