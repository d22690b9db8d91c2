/*!
 * \file reduction.h
 * \brief Which axes a reduction reduces, and in which order elements are visited.
 */
#ifndef MXNET_SRC_OP_REDUCTION_REDUCTION_H_
#define MXNET_SRC_OP_REDUCTION_REDUCTION_H_

#include <mxnet/op/operator.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "op/parallel/parallel.h"
#include "op/reduction/block_reader.h"

namespace mxnet {
namespace op {

/*!
 * \brief A tensor's axes split into those kept and those reduced.
 *
 * Neighbouring axes are merged where memory allows. Strides are in bytes. The kept axes stay in
 * their order, so that results are written row-major; the reduced ones are sorted, the smallest
 * stride last.
 */
class Reduction {
 public:
  /*! \brief AxisError or ValueError where an axis is wrong; no axes are all. */
  Reduction(const DLTensor& a, const std::optional<Axes>& axes);

  /*!
   * \brief Has a reader, which outlives the reduction, make the elements; NULL takes them as they
   * are.
   *
   * Only reducers that are kReads ask it.
   */
  void set_reader(const BlockReader* reader) noexcept { reader_ = reader; }
  const BlockReader* reader() const noexcept { return reader_; }

  /*! \brief Number of elements that are reduced to one. */
  int64_t count() const noexcept { return count_; }
  int64_t out_size() const noexcept { return out_size_; }

  const char* data() const noexcept { return data_; }
  const DimBuffer& kept() const noexcept { return kept_; }
  const DimBuffer& kept_strides() const noexcept { return kept_strides_; }
  const DimBuffer& reduced() const noexcept { return reduced_; }
  const DimBuffer& reduced_strides() const noexcept { return reduced_strides_; }

  /*! \brief Whether elements of one result lie further apart than those of neighbouring results. */
  bool reduces_rows() const noexcept;

 private:
  void Split(const DLTensor& a);

  const char* data_;
  const BlockReader* reader_{nullptr};
  bool is_reduced_[kMaxNdim];
  int64_t count_{1};
  int64_t out_size_{1};
  DimBuffer kept_;
  DimBuffer kept_strides_;
  DimBuffer reduced_;
  DimBuffer reduced_strides_;
};

/*!
 * \brief Calls visit(address) for indices of the first ndim axes in row-major order: `count` of
 * them from number `begin` on, as many as there are.
 */
template <typename Visit>
void ForEachOffset(const char* data, const DimBuffer& shape, const DimBuffer& strides, int ndim,
                   Visit&& visit, int64_t begin = 0,
                   int64_t count = std::numeric_limits<int64_t>::max()) {
  int64_t index[kMaxNdim];
  for (int d = ndim - 1; d >= 0; --d) {
    index[d] = 0;
    if (begin == 0) continue;
    index[d] = begin % shape[d];
    data += index[d] * strides[d];
    begin /= shape[d];
  }
  while (true) {
    visit(data);
    if (--count == 0) return;
    int d = ndim - 1;
    for (; d >= 0; --d) {
      data += strides[d];
      if (++index[d] < shape[d]) break;
      data -= strides[d] * shape[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

/*!
 * \brief Calls visit(address, number, n) for runs of n neighbours among the results from `begin`
 * on, before `end`: no more than `most`, and with even steps between their first elements.
 */
template <typename Visit>
void ForEachRun(const Reduction& r, int64_t begin, int64_t end, int64_t most, Visit&& visit) {
  const int inner = r.kept().ndim - 1;
  const int64_t width = r.kept()[inner];
  const int64_t stride = r.kept_strides()[inner];
  const int64_t first_row = begin / width;
  int64_t column = begin - first_row * width;
  const auto visit_row = [&](const char* row) {
    const int64_t last = std::min(width, column + end - begin);
    for (int64_t n; column < last; column += n, begin += n) {
      n = std::min(most, last - column);
      visit(row + column * stride, begin, n);
    }
    column = 0;
  };
  const int64_t rows = (end - 1) / width + 1 - first_row;
  ForEachOffset(r.data(), r.kept(), r.kept_strides(), inner, visit_row, first_row, rows);
}

/*!
 * \brief Results side by side whose elements make a piece, where rows are reduced: as many as lie
 * in a page, as memory is read faster where little of it is skipped, but so few that each thread
 * has some, and of which vectors are full.
 */
int64_t ResultsAbreast(const Reduction& r) noexcept;

/*!
 * \brief Calls body(begin, end) for all results, by their numbers: on several threads where there
 * are many elements. Pieces are of some times `unit` results.
 */
template <typename Body>
void ForResults(const Reduction& r, int64_t unit, const Body& body) {
  const int64_t size = r.out_size();
  if (size == 1 || size * r.count() < kFewForThreads) return body(0, size);
  InParallel((size + unit - 1) / unit, kElementsTimed / r.count() / unit + 1,
             [&](int64_t begin, int64_t end) { body(begin * unit, std::min(end * unit, size)); });
}

/*! \brief The attributes of a reduction. */
struct ReduceAttributes {
  std::optional<Axes> axis;
  bool keepdims{false};
};

/*! \brief Writes the shape of a result: with extents of 1 for reduced axes where they are kept. */
void SetReduced(DLDataType dtype, ShapeView shape, const ReduceAttributes& attributes,
                MXNetTensorSpec* out);

/*! \brief How many elements are reduced to one; symbolic where that is. */
int64_t ReducedCount(ShapeView shape, const std::optional<Axes>& axes);

#define MXNET_AXIS_DOC                                                                        \
  "Axis or axes that are reduced; negative ones count from the back, None means all. Raises " \
  "AxisError for an axis the array has not, ValueError for one given twice."
#define MXNET_KEEPDIMS_DOC "Whether the reduced axes stay, with extent 1."

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_REDUCTION_H_
