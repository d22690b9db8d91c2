/*!
 * \file block_reader.cc
 * \brief Conversion of elements, a block at a time.
 */
#include "op/reduction/block_reader.h"

namespace mxnet {
namespace op {

ConvertedElements::ConvertedElements(const DLTensor& tensor, DLDataType dtype, DLDataType compute)
    : first_item_(ItemSize(dtype)), second_item_(ItemSize(compute)) {
  if (tensor.dtype != dtype) {
    first_ = CastLoop(CheckedIndexOfDType(tensor.dtype), CheckedIndexOfDType(dtype));
  }
  if (dtype == compute) return;
  const InnerLoop last = CastLoop(CheckedIndexOfDType(dtype), CheckedIndexOfDType(compute));
  (first_ == nullptr ? first_ : second_) = last;
  if (first_ == last) first_item_ = second_item_;
}

void ConvertedElements::Read(const char* x, int64_t stride, int64_t n, int64_t, int64_t,
                             char* out) const {
  ReadBuffer<Complex128> buffer;
  char* to = second_ == nullptr ? out : buffer.bytes;
  char* const data[2] = {to, const_cast<char*>(x)};
  const int64_t strides[2] = {first_item_, stride};
  first_(data, strides, n);
  if (second_ == nullptr) return;
  char* const rest[2] = {out, buffer.bytes};
  const int64_t steps[2] = {second_item_, first_item_};
  second_(rest, steps, n);
}

}  // namespace op
}  // namespace mxnet
