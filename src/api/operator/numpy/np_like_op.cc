/*!
 * \file np_like_op.cc
 * \brief New arrays of the shape and type of a given one.
 */
#include "api/common/arguments.h"
#include "api/common/describe.h"
#include "api/common/operand.h"
#include "api/operator/numpy/np_init_op.h"

namespace mxnet {
namespace op {
namespace {

constexpr char kPrototypeDoc[] = "The array whose shape and type are taken.";

/*! \brief What a `*_like` operator allocates, from its arguments; reads no element of an array. */
class Like {
 public:
  Like(const MXNetArgs& args, int dtype_index) {
    const DLTensor* tensor = nullptr;
    if (args[0].TryAs(&tensor) == Match::kOk) {
      Read(TensorShape(*tensor), tensor->dtype, tensor->device);
    } else {
      const Operand prototype(args[0]);
      Read(prototype.shape(), prototype.dtype(), prototype.ctx());
    }
    dtype = DTypeOr(args[dtype_index], dtype);
    CheckedIndexOfDType(dtype);
    if (!args[dtype_index + 1].is_null()) ctx = args[dtype_index + 1].As<Context>();
  }

  ShapeView shape() const noexcept { return shape_.view(); }

  DLDataType dtype;
  Context ctx;

 private:
  void Read(ShapeView shape, DLDataType own_dtype, Context own_ctx) {
    for (int64_t extent : shape) shape_.push_back(extent);
    dtype = own_dtype;
    ctx = own_ctx;
  }

  DimBuffer shape_;
};

MXNET_REGISTER_OP("_npi.zeros_like")
    .flags(kMXNetFuncFollowsInput | kMXNetFuncView)
    .describe("Return an array of zeros with the shape and type of a given array.")
    .add_argument("a", kArrayType, kPrototypeDoc)
    .add_argument("dtype", kDTypeType, nullptr, kLikeDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kLikeContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const Like like(args, 1);
      *ret = NDArray::Zeros(like.shape(), like.dtype, like.ctx);
    });

MXNET_REGISTER_OP("_npi.ones_like")
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an array of ones with the shape and type of a given array.")
    .add_argument("a", kArrayType, kPrototypeDoc)
    .add_argument("dtype", kDTypeType, nullptr, kLikeDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kLikeContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const Like like(args, 1);
      *ret = Ones(like.shape(), like.dtype, like.ctx);
    });

MXNET_REGISTER_OP("_npi.empty_like")
    .flags(kMXNetFuncFollowsInput | kMXNetFuncView)
    .describe("Return an uninitialized array with the shape and type of a given array.")
    .add_argument("prototype", kArrayType, kPrototypeDoc)
    .add_argument("dtype", kDTypeType, nullptr, kLikeDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kLikeContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const Like like(args, 1);
      *ret = NDArray::Empty(like.shape(), like.dtype, like.ctx);
    });

MXNET_REGISTER_OP("_npi.full_like")
    .flags(kMXNetFuncFollowsInput)
    .describe("Return an array filled with fill_value, with the shape and type of a given array.")
    .add_argument("a", kArrayType, kPrototypeDoc)
    .add_argument("fill_value", kArrayType, "A number, or an array that broadcasts to the shape.")
    .add_argument("dtype", kDTypeType, nullptr, kLikeDTypeDoc)
    .add_frontend_argument("order", "str", "C", kOrderDoc)
    .add_argument("ctx", kContextType, nullptr, kLikeContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const Like like(args, 2);
      *ret = Full(like.shape(), args[1], like.dtype, like.ctx);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
