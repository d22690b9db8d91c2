/*!
 * \file strided.h
 * \brief Broadcasting, and walking several strided operands together.
 */
#ifndef MXNET_SRC_OP_TENSOR_STRIDED_H_
#define MXNET_SRC_OP_TENSOR_STRIDED_H_

#include <mxnet/op/dims.h>
#include <mxnet/runtime/extents.h>
#include <mxnet/runtime/ndarray.h>

#include <algorithm>
#include <utility>

#include "op/parallel/parallel.h"
#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief The common shape; ValueError where the shapes do not broadcast together. */
void BroadcastShapes(const ShapeView* shapes, int count, DimBuffer* out);

/*! \brief Strides in elements of a tensor, row-major where it has none. */
void StridesOf(const DLTensor& tensor, int64_t* out) noexcept;

/*! \brief The lowest address a tensor reaches and one past the highest; equal where it is empty. */
struct MemoryBounds {
  const char* begin;
  const char* end;

  explicit MemoryBounds(const DLTensor& tensor) noexcept;
  bool Overlap(const MemoryBounds& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
};

/*! \brief Whether two tensors may share an element. Never false where they do. */
bool MayOverlap(const DLTensor& a, const DLTensor& b) noexcept;

/*! \brief Whether two tensors have the same elements at the same indices. */
bool SameElements(const DLTensor& a, const DLTensor& b) noexcept;

/*! \brief Whether the data address suits the element type; a foreign array's may not. */
inline bool IsAligned(const DLTensor& tensor) noexcept {
  const uintptr_t item = static_cast<uintptr_t>(ItemSize(tensor.dtype));
  const uintptr_t unit = tensor.dtype.code == kDLComplex ? item / 2 : item;
  return (reinterpret_cast<uintptr_t>(TensorData(tensor)) & (unit - 1)) == 0;
}

/*! \brief Whether it is memory of the host, which operators of the host read and write. */
inline bool IsHost(Context ctx) noexcept {
  const int device = static_cast<int>(ctx.device_type);
  return device == kDLCPU || device == kDLCUDAHost || device == kDLROCMHost;
}

/*! \brief A ValueError: elements are needed that are on a device. Nothing has been done yet. */
class ElementsElsewhere : public Error {
 public:
  explicit ElementsElsewhere(std::string message) : Error("ValueError", std::move(message)) {}
};

/*! \brief ElementsElsewhere unless the tensor lies in host memory. */
void CheckHost(const DLTensor& tensor);
/*! \brief The same for where an array is to be made and filled. */
void CheckHost(Context ctx);

/*! \brief Some of the elements that operands are walked over, of all of them together. */
struct Block {
  ShapeView shape;
  char* const* data;             /*!< of each operand */
  const int64_t* const* strides; /*!< of each operand, in bytes */
};

/*!
 * \brief N operands of one shape, walked by an inner loop over spans of elements.
 *
 * Operand 0 decides the order of the walk, which otherwise does not matter to the result of an
 * elementwise operator. Strides are in bytes and may be 0 or negative.
 */
template <int N>
class StridedLoop {
 public:
  explicit StridedLoop(ShapeView shape) noexcept : shape_(shape) {}

  /*! \brief Operand i is a tensor whose shape broadcasts to the loop's. */
  void Set(int i, const DLTensor& tensor) {
    const int64_t item = ItemSize(tensor.dtype);
    const int offset = shape_.ndim - tensor.ndim;
    data_[i] = static_cast<char*>(TensorData(tensor));
    for (int d = 0; d < offset; ++d) strides_[i][d] = 0;
    int64_t expected = item;
    for (int d = tensor.ndim - 1; d >= 0; --d) {
      const int64_t stride = tensor.strides == nullptr ? expected : tensor.strides[d] * item;
      strides_[i][d + offset] = tensor.shape[d] == 1 ? 0 : stride;
      expected *= tensor.shape[d];
    }
  }

  /*! \brief Operand i is one value, which outlives the loop. */
  void SetScalar(int i, const void* value) noexcept {
    data_[i] = static_cast<char*>(const_cast<void*>(value));
    for (int d = 0; d < shape_.ndim; ++d) strides_[i][d] = 0;
  }

  /*! \brief Calls inner(char* const* data, const int64_t* byte_strides, int64_t n) for each run. */
  template <typename Inner>
  void Run(Inner&& inner) {
    if (IsEmpty()) return;
    Simplify();
    RunSimplified(inner);
  }

  /*!
   * \brief Run, on several threads where it is long.
   *
   * The inner loop may be called by several threads at once, may not throw, and its outcome may not
   * depend on how elements come together in runs. Fewer elements than `few` are not worth asking
   * the time for.
   */
  template <typename Inner>
  void RunParallel(const Inner& inner, int64_t few = kFewForThreads) {
    if (IsEmpty()) return;
    Simplify();
    int64_t size = 1;
    int axis = 0;
    for (int d = 0; d < shape_.ndim; ++d) {
      size *= shape_[d];
      if (shape_[axis] < kManyRows && shape_[d] > shape_[axis]) axis = d;
    }
    if (size < few || !WritesApart()) return RunSimplified(inner);
    const int64_t rows = shape_[axis];
    const int64_t of_row = size / rows;
    InParallel(rows, of_row >= kElementsTimed ? 1 : kElementsTimed / of_row,
               [&](int64_t begin, int64_t end) {
                 StridedLoop part(*this);
                 part.shape_[axis] = end - begin;
                 for (int i = 0; i < N; ++i) part.data_[i] += begin * strides_[i][axis];
                 part.RunSimplified(inner);
               });
  }

  /*!
   * \brief Calls inner(const Block&) for blocks of at most `most` elements, on several threads
   * where those are many. Blocks are about even, so that none is of one element where there are
   * more.
   *
   * What RunParallel says of its inner loop holds.
   */
  template <typename Inner>
  void RunBlocks(int64_t most, const Inner& inner) {
    if (IsEmpty()) return;
    Simplify();
    if (shape_.ndim == 0) AddUnitAxis();
    // The axis that is cut; those further in are whole in each block.
    int axis = shape_.ndim - 1;
    int64_t within = 1;
    while (axis > 0 && within * shape_[axis] <= most) within *= shape_[axis--];
    const int64_t slices = std::max<int64_t>(most / within, 1);
    const int64_t parts = (shape_[axis] + slices - 1) / slices;
    int64_t blocks = parts;
    for (int d = 0; d < axis; ++d) blocks *= shape_[d];
    const auto run = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) RunBlock(i, axis, parts, inner);
    };
    if (shape_.product() < kFewForThreads || !WritesApart()) return run(0, blocks);
    InParallel(blocks, 1, run);
  }

 private:
  /*! \brief So many rows are shared evenly enough. */
  static constexpr int64_t kManyRows = 64;

  bool IsEmpty() const noexcept {
    for (int d = 0; d < shape_.ndim; ++d) {
      if (shape_[d] == 0) return true;
    }
    return false;
  }

  /*! \brief Whether each element of operand 0 is written once: threads would race for one that is
   * not.
   */
  bool WritesApart() const noexcept {
    int64_t reach = 0;  // of the axes further in, which are sorted by their steps
    for (int d = shape_.ndim - 1; d >= 0; --d) {
      const int64_t step = strides_[0][d] < 0 ? -strides_[0][d] : strides_[0][d];
      if (step <= reach) return false;
      reach += step * (shape_[d] - 1);
    }
    return true;
  }

  template <typename Inner>
  void RunSimplified(Inner&& inner) const {
    const int outer = shape_.ndim - 1;
    int64_t inner_strides[N];
    for (int i = 0; i < N; ++i) inner_strides[i] = outer < 0 ? 0 : strides_[i][outer];
    const int64_t n = outer < 0 ? 1 : shape_[outer];
    int64_t index[kMaxNdim];
    for (int d = 0; d < outer; ++d) index[d] = 0;
    char* data[N];
    for (int i = 0; i < N; ++i) data[i] = data_[i];
    while (true) {
      inner(static_cast<char* const*>(data), static_cast<const int64_t*>(inner_strides), n);
      int d = outer - 1;
      for (; d >= 0; --d) {
        if (++index[d] < shape_[d]) break;
        index[d] = 0;
        for (int i = 0; i < N; ++i) data[i] -= strides_[i][d] * (shape_[d] - 1);
      }
      if (d < 0) return;
      for (int i = 0; i < N; ++i) data[i] += strides_[i][d];
    }
  }

  /*! \brief The block of that number, of as many as parts of the axis and the axes further out
   * make. */
  template <typename Inner>
  void RunBlock(int64_t number, int axis, int64_t parts, const Inner& inner) const {
    const int64_t part = number % parts;
    const int64_t each = shape_[axis] / parts;
    const int64_t larger = shape_[axis] % parts;
    const int64_t begin = part * each + std::min(part, larger);
    DimBuffer shape;
    shape.push_back(part < larger ? each + 1 : each);
    for (int d = axis + 1; d < shape_.ndim; ++d) shape.push_back(shape_[d]);
    char* data[N];
    const int64_t* strides[N];
    for (int i = 0; i < N; ++i) {
      data[i] = data_[i] + begin * strides_[i][axis];
      strides[i] = strides_[i] + axis;
    }
    int64_t rest = number / parts;
    for (int d = axis - 1; d >= 0; --d) {
      for (int i = 0; i < N; ++i) data[i] += rest % shape_[d] * strides_[i][d];
      rest /= shape_[d];
    }
    inner(Block{shape.view(), data, strides});
  }

  void AddUnitAxis() noexcept {
    shape_.push_back(1);
    for (int i = 0; i < N; ++i) strides_[i][0] = 0;
  }

  /*! \brief Drops axes of one element, sorts the others by stride and merges neighbours. */
  void Simplify() noexcept {
    int kept = 0;
    for (int d = 0; d < shape_.ndim; ++d) {
      if (shape_[d] != 1) Move(d, kept++);
    }
    shape_.ndim = kept;
    SortAxes();
    int last = 0;
    for (int d = 1; d < shape_.ndim; ++d) {
      if (Merges(last, d)) {
        shape_[last] *= shape_[d];
        for (int i = 0; i < N; ++i) strides_[i][last] = strides_[i][d];
      } else {
        Move(d, ++last);
      }
    }
    if (shape_.ndim > 0) shape_.ndim = last + 1;
  }

  void Move(int from, int to) noexcept {
    shape_[to] = shape_[from];
    for (int i = 0; i < N; ++i) strides_[i][to] = strides_[i][from];
  }

  bool Merges(int outer, int inner) const noexcept {
    for (int i = 0; i < N; ++i) {
      if (strides_[i][outer] != strides_[i][inner] * shape_[inner]) return false;
    }
    return true;
  }

  /*! \brief Insertion sort, larger steps of operand 0 outwards; equal ones by the others. */
  void SortAxes() noexcept {
    for (int d = 1; d < shape_.ndim; ++d) {
      for (int e = d; e > 0 && StepsLess(e - 1, e); --e) {
        std::swap(shape_[e - 1], shape_[e]);
        for (int i = 0; i < N; ++i) std::swap(strides_[i][e - 1], strides_[i][e]);
      }
    }
  }

  bool StepsLess(int a, int b) const noexcept {
    for (int i = 0; i < N; ++i) {
      const int64_t step_a = strides_[i][a] < 0 ? -strides_[i][a] : strides_[i][a];
      const int64_t step_b = strides_[i][b] < 0 ? -strides_[i][b] : strides_[i][b];
      if (step_a != step_b) return step_a < step_b;
    }
    return false;
  }

  DimBuffer shape_;
  char* data_[N];
  int64_t strides_[N][kMaxNdim];
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_TENSOR_STRIDED_H_
