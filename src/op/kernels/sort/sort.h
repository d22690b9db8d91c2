/*!
 * \file sort.h
 * \brief Lines of an array in order, and the positions that put them in order. NaN come last.
 */
#ifndef MXNET_SRC_OP_KERNELS_SORT_SORT_H_
#define MXNET_SRC_OP_KERNELS_SORT_SORT_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*!
 * \brief The lines of a row-major array along one axis: `outer` extents come before it, `inner`
 * after it. Element e of a line is `inner` elements after element e - 1.
 */
struct SortedLines {
  int64_t outer;
  int64_t extent;
  int64_t inner;
  int64_t count() const noexcept { return outer * inner; }
  /*! \brief Where a line begins. */
  int64_t start(int64_t line) const noexcept {
    return inner == 1 ? line * extent : line / inner * extent * inner + line % inner;
  }
};

/*! \brief Bytes of scratch memory that sorting lines of T, or their positions, needs. */
template <typename T>
int64_t SortWorkspace(const SortedLines& lines);
template <typename T>
int64_t ArgSortWorkspace(const SortedLines& lines);

/*! \brief Sorts lines of integers, bools or floats in place. Equal elements keep their order. */
template <typename T>
void SortLines(T* data, const SortedLines& lines, void* workspace);

/*! \brief out[i] is the position of the element that comes i-th; it is laid out as data. */
template <typename T>
void ArgSortLines(const T* data, const SortedLines& lines, int64_t* out, void* workspace);

/*! \brief Moves the first of each run of equal elements of a sorted line to the front; how many.
 * All NaN are equal. */
template <typename T>
int64_t UniqueOfSorted(T* data, int64_t n);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_SORT_SORT_H_
