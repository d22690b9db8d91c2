/*!
 * \file rows_ahead.h
 * \brief Rows of memory that are asked for some time before they are read.
 */
#ifndef MXNET_SRC_OP_REDUCTION_ROWS_AHEAD_H_
#define MXNET_SRC_OP_REDUCTION_ROWS_AHEAD_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace mxnet {
namespace op {

/*!
 * \brief Has the processor read ahead where a loop goes down some neighbouring columns.
 *
 * By itself it does so along a row; where a loop leaves each after a page or less, it would wait
 * for memory at the beginning of each.
 */
class RowsAhead {
 public:
  /*! \brief Of `columns` elements `stride` bytes apart in each of some rows, `step` bytes apart. */
  RowsAhead(int64_t stride, int64_t columns, int64_t step, int64_t rows)
      : step_(step),
        begin_(std::min<int64_t>(stride * (columns - 1), 0)),
        line_(std::max<int64_t>(std::abs(stride), kCacheLine)),
        bytes_(std::abs(stride) * columns),
        rows_(rows) {
    const bool is_short = 0 < bytes_ && bytes_ <= kShort;
    if (is_short && std::abs(step) * rows > kInCaches) ahead_ = std::min(kMost, kOnWay / bytes_);
  }

  /*! \brief To be called before each row is read, with its address; after the last comes the first
   * of as many others. */
  void Next(const char* row) {
    if (ahead_ == 0) return;
    if (at_ + ahead_ < rows_) {
      const char* const part = row + ahead_ * step_ + begin_;
      for (int64_t i = 0; i < bytes_; i += line_) __builtin_prefetch(part + i);
    }
    if (++at_ == rows_) at_ = 0;
  }

 private:
  static constexpr int64_t kCacheLine = 64;
  /*! \brief Of less memory asking takes longer than waiting. */
  static constexpr int64_t kInCaches = int64_t{2} << 20;
  /*! \brief Bytes that are on their way at a time, at most: the nearest cache has room for more. */
  static constexpr int64_t kOnWay = 16384;
  static constexpr int64_t kShort = 4096;
  /*! \brief Rows ahead, at most. */
  static constexpr int64_t kMost = 8;

  int64_t step_;
  int64_t begin_;
  int64_t line_;
  int64_t bytes_;
  int64_t rows_;
  int64_t ahead_{0};
  int64_t at_{0};
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_ROWS_AHEAD_H_
