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

#include "api/common/strided.h"

namespace mxnet {
namespace op {

/*! \brief The array a result goes to by `out`; ValueError or TypeError where it does not fit. */
NDArray CheckedOut(const MXNetArgValue& out, ShapeView shape, DLDataType dtype);

/*! \brief The specs of a call's outputs, with room for their extents. */
class OutputSpecs {
 public:
  explicit OutputSpecs(int count);

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
  std::vector<DimBuffer> shapes_;
};

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

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_OUTPUTS_H_
