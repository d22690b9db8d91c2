/*!
 * \file outputs.h
 * \brief Where the outputs of a call are written.
 */
#ifndef MXNET_SRC_API_CALL_OUTPUTS_H_
#define MXNET_SRC_API_CALL_OUTPUTS_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/op/dims.h>
#include <mxnet/runtime/packed_func.h>

#include <vector>

#include "api/argument/out.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*! \brief The specs of a call's outputs, with room for their extents. */
class OutputSpecs {
 public:
  OutputSpecs(const MXNetOperator& op, int count, const MXNetTensorSpec* inputs, int num_in);

  MXNetTensorSpec* data() { return count_ == 1 ? &one_ : many_.data(); }
  int size() const noexcept { return count_; }
  const MXNetTensorSpec& operator[](int i) const {
    return count_ == 1 ? one_ : many_[static_cast<size_t>(i)];
  }

 private:
  int count_;
  MXNetTensorSpec one_;
  DimBuffer one_shape_;
  std::vector<MXNetTensorSpec> many_;
  std::vector<int64_t> extents_;
};

/*! \brief MemoryError at once for so many outputs that the system would end the process for them.
 */
void CheckRoomFor(int outputs, int64_t bytes_of_each);

/*! \brief Whether an operator can write to out at once, and no input changes under it. */
bool CanWriteTo(const DLTensor& out, DLDataType dtype, const MXNetOperator& op,
                const DLTensor* inputs, int num_in);

/*! \brief What `out` is; throws where it does not fit the spec of an output. */
NDArray TargetOf(const MXNetTensorSpec& spec, const MXNetArgValue& out, const MXNetOperator& op);

/*! \brief One output: a new array, or the one that `out` is, or a new one that is copied there. */
class Output {
 public:
  /*! \brief A new array of a spec. */
  Output(const MXNetTensorSpec& spec, Context ctx, bool zeros);
  /*! \brief What `out` is; throws where it does not fit. */
  Output(const MXNetTensorSpec& spec, Context ctx, const MXNetArgValue& out,
         const MXNetOperator& op, const DLTensor* inputs, int num_in);

  const DLTensor& tensor() const { return written_.tensor(); }
  /*! \brief The result, once it has been written. */
  NDArray Finish();

 private:
  NDArray written_;
  NDArray target_;
};

/*!
 * \brief Makes the spec of the one output that of `out`, which it is written to: an array, or the
 * TensorSpec of one. Throws what a call throws where that does not fit.
 */
void InferOut(const MXNetArgValue& out, const MXNetOperator& op, MXNetTensorSpec* spec);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_OUTPUTS_H_
