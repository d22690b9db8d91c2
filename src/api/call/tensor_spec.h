/*!
 * \file tensor_spec.h
 * \brief A tensor without its elements, as Python has it.
 */
#ifndef MXNET_SRC_API_CALL_TENSOR_SPEC_H_
#define MXNET_SRC_API_CALL_TENSOR_SPEC_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/data_type.h>
#include <mxnet/runtime/packed_func.h>
#include <mxnet/runtime/stl.h>

#include <string>
#include <variant>
#include <vector>

namespace mxnet {
namespace op {

/*! \brief An element type and a shape, of which extents may be symbolic. */
class TensorSpec {
 public:
  /*! \brief An extent: a number, or the name of a symbol. */
  using Extent = std::variant<int64_t, std::string>;

  TensorSpec(const std::vector<Extent>& shape, DLDataType dtype);
  explicit TensorSpec(const MXNetTensorSpec& spec)
      : dtype_(spec.dtype), shape_(spec.shape, spec.shape + spec.ndim) {}

  DLDataType dtype() const { return dtype_; }
  std::vector<Extent> shape() const;
  /*! \brief Of equal shape and type, by arithmetic: "n + m" is "m + n". */
  bool operator==(const TensorSpec& other) const {
    using runtime::operator==;
    return dtype_ == other.dtype_ && shape_ == other.shape_;
  }
  int64_t hash() const;
  /*! \brief An extent as Python has it: a number, or the text of a symbolic one. */
  static Extent Written(int64_t extent);
  /*! \brief The extents as infer has them. */
  const std::vector<int64_t>& extents() const { return shape_; }

 private:
  DLDataType dtype_;
  std::vector<int64_t> shape_;
};

/*!
 * \brief The specs of what an operator, the first argument, gives for the others. Throws what the
 * call would throw.
 */
std::vector<TensorSpec> InferSpecs(const runtime::MXNetArgs& args);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_TENSOR_SPEC_H_
