/*!
 * \file block_reader.h
 * \brief Elements that are made while a reduction reads them, and never lie in an array.
 */
#ifndef MXNET_SRC_OP_REDUCTION_BLOCK_READER_H_
#define MXNET_SRC_OP_REDUCTION_BLOCK_READER_H_

#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

/*! \brief Elements that a BlockReader makes at a time, at most. */
constexpr int64_t kReadBlock = 256;

/*!
 * \brief Makes the elements that are reduced out of those in memory, a block at a time: so the sum
 * of converted elements, or of their squares, needs no array of them.
 */
class BlockReader {
 public:
  /*!
   * \brief Writes n elements, made of those `stride` bytes apart from x on.
   *
   * The one at out[i] is reduced into the result number result + i * step.
   */
  virtual void Read(const char* x, int64_t stride, int64_t n, int64_t result, int64_t step,
                    char* out) const = 0;

 protected:
  ~BlockReader() = default;
};

/*! \brief Room for the elements that a reader makes. */
template <typename T>
struct ReadBuffer {
  alignas(64) char bytes[kReadBlock * sizeof(T)];
};

/*!
 * \brief The elements of a tensor converted to a type, and from that to another, in blocks as they
 * are read.
 */
class ConvertedElements final : public BlockReader {
 public:
  ConvertedElements(const DLTensor& tensor, DLDataType dtype, DLDataType compute);
  ConvertedElements(const DLTensor& tensor, DLDataType dtype)
      : ConvertedElements(tensor, dtype, dtype) {}

  /*! \brief NULL where the tensor is of the type already. */
  const BlockReader* reader() const noexcept { return first_ == nullptr ? nullptr : this; }

  void Read(const char* x, int64_t stride, int64_t n, int64_t result, int64_t step,
            char* out) const override;

 private:
  InnerLoop first_{nullptr};
  InnerLoop second_{nullptr};
  int64_t first_item_;
  int64_t second_item_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_REDUCTION_BLOCK_READER_H_
