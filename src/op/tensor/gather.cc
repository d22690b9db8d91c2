/*!
 * \file gather.cc
 * \brief Gather and scatter, by the size of an element.
 */
#include "op/tensor/gather.h"

#include <mxnet/op/extent.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "op/kernels/cpu.h"
#include "op/kernels/elementwise/gather.h"
#include "op/parallel/parallel.h"

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

/*! \brief Walks blocks of merged axes with a pointer that runs along the dense side. */
template <typename T, Move kMove>
class Walk {
 public:
  Walk(const ScatteredBlocks& blocks, T* dense)
      : prefix_(blocks.prefix), suffix_(blocks.suffix), blocks_(blocks), dense_(dense) {}

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

  const StridedAxes& prefix_;
  const StridedAxes& suffix_;
  const ScatteredBlocks& blocks_;
  T* dense_;
};

/*! \brief Elements from the first to the last that some axes reach, in steps of one. */
int64_t ReachOf(const StridedAxes& axes, int first) {
  int64_t reach = 0;
  for (int d = first; d < axes.shape.ndim; ++d) {
    reach += (axes.shape[d] - 1) * std::abs(axes.strides[d]);
  }
  return reach;
}

/*! \brief Whether the rows along the first prefix axis lie apart from one another. */
bool RowsLieApart(const ScatteredBlocks& blocks) {
  const auto [least, most] = std::minmax_element(blocks.offsets, blocks.offsets + blocks.count);
  return *most - *least + ReachOf(blocks.prefix, 1) + ReachOf(blocks.suffix, 0) <
         std::abs(blocks.prefix.strides[0]);
}

/*!
 * \brief Moves all blocks, many on several threads: those of some rows along the first prefix axis,
 * or else, where they are only read, those of some of the offsets.
 *
 * Rows that share elements are written by one thread, in their order, as are offsets, of which two
 * may be the same.
 */
template <typename T, Move kMove>
void MoveAll(const ScatteredBlocks& given, T* dense) {
  ScatteredBlocks blocks = given;
  blocks.prefix = Merged(given.prefix);
  blocks.suffix = Merged(given.suffix);
  const int64_t block = SizeOf(blocks.suffix.shape.view());
  const int64_t size = SizeOf(blocks.prefix.shape.view()) * blocks.count * block;
  const bool has_rows = blocks.prefix.shape.ndim != 0;
  if (size < kFewForThreads || (kMove != Move::kGather && !(has_rows && RowsLieApart(blocks)))) {
    return Walk<T, kMove>(blocks, dense).Run();
  }
  const int64_t count = has_rows ? blocks.prefix.shape[0] : blocks.count;
  const int64_t each = size / count;
  InParallel(count, std::max<int64_t>(1, kElementsTimed / each), [&](int64_t begin, int64_t end) {
    ScatteredBlocks some = blocks;
    if (has_rows) {
      some.prefix.shape[0] = end - begin;
      some.data += begin * blocks.prefix.strides[0] * static_cast<int64_t>(sizeof(T));
    } else {
      some.offsets += begin;
      some.count = end - begin;
    }
    Walk<T, kMove>(some, kMove == Move::kFill ? dense : dense + begin * each).Run();
  });
}

template <Move kMove>
void MoveBlocks(const ScatteredBlocks& blocks, void* dense) {
  switch (ItemSize(blocks.dtype)) {
    case 1:
      return MoveAll<uint8_t, kMove>(blocks, static_cast<uint8_t*>(dense));
    case 2:
      return MoveAll<uint16_t, kMove>(blocks, static_cast<uint16_t*>(dense));
    case 4:
      return MoveAll<uint32_t, kMove>(blocks, static_cast<uint32_t*>(dense));
    case 8:
      return MoveAll<uint64_t, kMove>(blocks, static_cast<uint64_t*>(dense));
    case 16:
      return MoveAll<Wide, kMove>(blocks, static_cast<Wide*>(dense));
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
