/*!
 * \file layout.h
 * \brief The layout that a tensor was asked for with.
 */
#ifndef REFACC_LAYOUT_H_
#define REFACC_LAYOUT_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sdk.h"

namespace refacc {

/*! \brief A layout, prepared for comparisons. What it was made of has to outlive it. */
class Layout {
 public:
  explicit Layout(const MXAccDLTensor& dl_tensor)
      : ndim_(dl_tensor.ndim),
        dtype_(WordOf(dl_tensor.dtype)),
        shape_(dl_tensor.shape),
        strides_(dl_tensor.strides),
        span_(SpanOf(dl_tensor)) {
    if (IsRowMajor(dl_tensor)) dense_bytes_ = static_cast<size_t>(span_.last - span_.first);
  }

  /*! \brief Of MXAccDLTensor and of DLTensor, which have members of the same names. */
  template <typename Tensor>
  bool IsThatOf(const Tensor& tensor) const {
    if (tensor.ndim != ndim_ || WordOf(tensor.dtype) != dtype_) return false;
    // All axes are looked at, as they are few and differ only where somebody is wrong.
    int64_t differences = 0;
    for (int32_t i = 0; i < ndim_; ++i) {
      differences |= (tensor.shape[i] ^ shape_[i]) | (tensor.strides[i] ^ strides_[i]);
    }
    return differences == 0;
  }

  /*! \brief From a byte_offset of 0. */
  Span span() const { return span_; }
  /*! \brief Of all elements where they are row-major; 0 where they are not. */
  size_t dense_bytes() const { return dense_bytes_; }

 private:
  /*! \brief A type, of whichever of the two structs, to compare it at once. */
  template <typename DataType>
  static uint32_t WordOf(const DataType& dtype) {
    uint32_t word;
    static_assert(sizeof(word) == sizeof(dtype), "all of it is one word");
    std::memcpy(&word, &dtype, sizeof(word));
    return word;
  }

  int32_t ndim_;
  uint32_t dtype_;
  const int64_t* shape_;
  const int64_t* strides_;
  Span span_;
  size_t dense_bytes_{0};
};

}  // namespace refacc

#endif  // REFACC_LAYOUT_H_
