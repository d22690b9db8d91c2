/*!
 * \file tensor.h
 * \brief What tensors reach and how they are laid out, and copies between strided ones.
 */
#ifndef MXACC_SDK_TENSOR_H_
#define MXACC_SDK_TENSOR_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mxacc {

/*! \brief The bytes that a tensor reaches, counted from its data: from first on, before last. */
struct Span {
  int64_t first;
  int64_t last;

  bool empty() const { return first == last; }
  /*! \brief Further on by byte_offset; Failure where that is no int64. */
  Span from(uint64_t byte_offset) const;
  bool lies_in(size_t size) const { return first >= 0 && static_cast<uint64_t>(last) <= size; }
};

/*! \brief Failure where this cannot be a tensor. */
Span SpanOf(const MXAccDLTensor& tensor);

inline int64_t ItemSize(MXAccDataType dtype) { return dtype.bits / 8; }

/*! \brief "float32 (2, 3)". */
std::string SpecText(const MXAccDLTensor& tensor);

inline bool SameType(const MXAccDataType& a, const MXAccDataType& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
/*! \brief Whether two tensors have the same type and shape. */
bool SameSpec(const MXAccDLTensor& a, const MXAccDLTensor& b);
/*! \brief Whether the elements lie one behind the other in row-major order. */
bool IsRowMajor(const MXAccDLTensor& tensor);

/*! \brief Axes by which tensors of one shape are walked: those of extent 1 left out, those that are
 * one for all tensors joined, and ordered so that the strides of the first tensor fall. */
struct JoinedAxes {
  static constexpr int kMaxTensors = 4;

  int ndim = 0;
  int64_t shape[MXACC_MAX_DIMS];
  int64_t strides[kMaxTensors][MXACC_MAX_DIMS]; /*!< of the tensors, in elements */
};

/*! \brief For count tensors, of at most kMaxTensors, by their strides. */
JoinedAxes JoinAxes(int32_t ndim, const int64_t* shape, const int64_t* const* strides, int count);

/*! \brief Copies elements between tensors of one spec, of any strides. */
void CopyElements(const MXAccDLTensor& target, char* to, const MXAccDLTensor& source,
                  const char* from);

/*! \brief A row-major tensor of the shape of another; its strides are beside it. */
struct RowMajor {
  explicit RowMajor(const MXAccDLTensor& like);
  RowMajor(const RowMajor&) = delete;

  std::vector<int64_t> strides;
  MXAccDLTensor tensor;
  size_t size; /*!< in bytes */
};

/*! \brief For run of an executor: Failure unless it is given the workspace that it asked for. */
void CheckWorkspace(const MXTensor* workspace, uint64_t bytes);

/*! \brief Tensors whose shapes and strides outlive the call that they came with; names are left
 * out. */
class TensorCopies {
 public:
  TensorCopies(const MXTensor* tensors, int32_t count);
  TensorCopies(TensorCopies&&) = default;

  MXTensor* data() { return tensors_.data(); }
  const MXTensor* data() const { return tensors_.data(); }
  int32_t size() const { return static_cast<int32_t>(tensors_.size()); }

 private:
  std::vector<MXTensor> tensors_;
  std::vector<int64_t> extents_;
};

}  // namespace mxacc

#endif  // MXACC_SDK_TENSOR_H_
