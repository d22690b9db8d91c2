/*!
 * \file gather.cc
 * \brief Gather and scatter, by the size of an element.
 */
#include "op/tensor/gather.h"

#include <cstring>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/gather.h"

namespace mxnet {
namespace op {
namespace {

struct Wide {
  uint64_t parts[2];
};

enum class Move { kGather, kScatter, kFill };

/*! \brief Neighbours that step evenly become one axis. */
StridedAxes Merged(const StridedAxes& axes) {
  StridedAxes merged;
  for (int d = 0; d < axes.shape.ndim; ++d) {
    const int last = merged.shape.ndim - 1;
    if (axes.shape[d] == 1) continue;
    if (last >= 0 && merged.strides[last] == axes.strides[d] * axes.shape[d]) {
      merged.shape[last] *= axes.shape[d];
      merged.strides[last] = axes.strides[d];
    } else {
      merged.push_back(axes.shape[d], axes.strides[d]);
    }
  }
  return merged;
}

/*! \brief Walks the blocks with a pointer that runs along the dense side. */
template <typename T, Move kMove>
class Walk {
 public:
  Walk(const ScatteredBlocks& blocks, T* dense)
      : prefix_(Merged(blocks.prefix)),
        suffix_(Merged(blocks.suffix)),
        blocks_(blocks),
        dense_(dense) {}

  void Run() { Prefix(reinterpret_cast<T*>(blocks_.data), 0); }

 private:
  void Prefix(T* data, int axis) {
    if (axis == prefix_.shape.ndim) return Offsets(data);
    for (int64_t i = 0; i < prefix_.shape[axis]; ++i) {
      Prefix(data + i * prefix_.strides[axis], axis + 1);
    }
  }

  void Offsets(T* data) {
    const int64_t* const offsets = blocks_.offsets;
    const int64_t count = blocks_.count;
    if (suffix_.shape.ndim == 0) {
      // A copy of the pointer, because elements of a byte might be that of the class.
      T* dense = dense_;
#pragma GCC unroll 4
      for (int64_t i = 0; i < count; ++i) dense = One(data + offsets[i], dense);
      dense_ = dense;
    } else {
      for (int64_t i = 0; i < count; ++i) Suffix(data + offsets[i], 0);
    }
  }

  void Suffix(T* data, int axis) {
    const int64_t extent = suffix_.shape[axis];
    const int64_t stride = suffix_.strides[axis];
    const size_t bytes = static_cast<size_t>(extent) * sizeof(T);
    if (axis < suffix_.shape.ndim - 1) {
      for (int64_t i = 0; i < extent; ++i) Suffix(data + i * stride, axis + 1);
    } else if (stride == 1 && kMove != Move::kFill) {
      std::memcpy(kMove == Move::kGather ? dense_ : data, kMove == Move::kGather ? data : dense_,
                  bytes);
      dense_ += extent;
    } else if (kMove == Move::kGather) {
      constexpr auto kItem = static_cast<int64_t>(sizeof(T));
      GatherStrided(reinterpret_cast<const char*>(data), stride * kItem, kItem, extent,
                    reinterpret_cast<char*>(dense_));
      dense_ += extent;
    } else {
      T* dense = dense_;
      for (int64_t i = 0; i < extent; ++i) dense = One(data + i * stride, dense);
      dense_ = dense;
    }
  }

  /*! \brief Moves an element; where the next one is on the dense side. */
  static MXNET_ALWAYS_INLINE T* One(T* data, T* dense) {
    if constexpr (kMove == Move::kGather) {
      *dense++ = *data;
    } else if constexpr (kMove == Move::kScatter) {
      *data = *dense++;
    } else {
      *data = *dense;
    }
    return dense;
  }

  const StridedAxes prefix_;
  const StridedAxes suffix_;
  const ScatteredBlocks& blocks_;
  T* dense_;
};

template <Move kMove>
void MoveBlocks(const ScatteredBlocks& blocks, void* dense) {
  switch (ItemSize(blocks.dtype)) {
    case 1:
      return Walk<uint8_t, kMove>(blocks, static_cast<uint8_t*>(dense)).Run();
    case 2:
      return Walk<uint16_t, kMove>(blocks, static_cast<uint16_t*>(dense)).Run();
    case 4:
      return Walk<uint32_t, kMove>(blocks, static_cast<uint32_t*>(dense)).Run();
    case 8:
      return Walk<uint64_t, kMove>(blocks, static_cast<uint64_t*>(dense)).Run();
    case 16:
      return Walk<Wide, kMove>(blocks, static_cast<Wide*>(dense)).Run();
    default:
      ThrowUnsupportedDType(blocks.dtype);
  }
}

}  // namespace

void GatherBlocks(const ScatteredBlocks& blocks, void* dense) {
  MoveBlocks<Move::kGather>(blocks, dense);
}

void ScatterBlocks(const ScatteredBlocks& blocks, const void* dense) {
  MoveBlocks<Move::kScatter>(blocks, const_cast<void*>(dense));
}

void FillBlocks(const ScatteredBlocks& blocks, const void* element) {
  MoveBlocks<Move::kFill>(blocks, const_cast<void*>(element));
}

}  // namespace op
}  // namespace mxnet
