/*!
 * \file transfer.cc
 * \brief Finds the one copy that is needed, and has it made by those who know the devices.
 */
#include "api/call/transfer.h"

#include "op/tensor/cast.h"
#include "op/tensor/views.h"
#include "runtime/core/devices.h"

namespace mxnet {
namespace op {
namespace {

constexpr Context kHost{kDLCPU, 0};

const runtime::DeviceTransfers& Transfers() {
  const runtime::DeviceTransfers* transfers = MXNetDeviceGetTransfers();
  if (transfers == nullptr) {
    MXNET_THROW("RuntimeError") << "nothing that drives devices is loaded";
  }
  return *transfers;
}

/*! \brief Elements of one type and shape, the source's borrowed. */
void Assign(const NDArray& target, const DLTensor& source) {
  DLTensor on_host = source;
  on_host.device = kHost;  // pinned memory is the host's, too
  MXNET_CHECK_CALL(Transfers().assign_borrowed(target.get(), &on_host));
}

bool Fits(const DLTensor& source, const DLTensor& target) {
  return source.dtype == target.dtype && TensorShape(source) == TensorShape(target);
}

/*! \brief The tensor as an array, by way of the one whose memory it shows. */
NDArray ViewOf(const Elements& elements) {
  const DLTensor& tensor = elements.tensor;
  if (elements.array.get() == nullptr) CheckHost(tensor);
  const ShapeView strides(tensor.strides, static_cast<size_t>(tensor.ndim));
  return elements.array.View(TensorData(tensor), TensorShape(tensor), strides, tensor.dtype);
}

NDArray Converted(const NDArray& array, DLDataType dtype) {
  static const PackedFunc astype = PackedFunc::GetGlobal("_npi.astype");
  return array.dtype() == dtype ? array : NDArray(astype(array, dtype));
}

}  // namespace

NDArray ArrayBehind(const MXNetArgValue& arg) {
  return arg.type_code() == kMXNetNDArrayHandle ? arg.As<NDArray>() : NDArray();
}

void Assign(const NDArray& target, const NDArray& source) {
  MXNET_CHECK_CALL(Transfers().assign(target.get(), source.get()));
}

NDArray BringTo(const NDArray& array, Context ctx) {
  if (IsHost(ctx) ? IsHost(array.ctx()) : array.ctx() == ctx) return array;
  NDArray copy = NDArray::Empty(array.shape(), array.dtype(), ctx);
  Assign(copy, array);
  return copy;
}

NDArray OnHost(const NDArray& array) { return BringTo(array, kHost); }

bool TryAssignWithin(const NDArray& target, const NDArray& source) {
  int done = 0;
  MXNET_CHECK_CALL(Transfers().assign_within(target.get(), source.get(), &done));
  return done != 0;
}

NDArray TryOnDevice(Context ctx, const PackedFunc& op, const std::vector<Any>& args) {
  if (!Transfers().may_ask_for_operators()) return NDArray();
  std::vector<MXNetValue> values;
  std::vector<int> type_codes;
  for (const Any& arg : args) {
    values.push_back(arg.value());
    type_codes.push_back(arg.type_code());
  }
  int done = 0;
  MXNetRetValue result;
  const int status = result.Receive([&](MXNetValue* ret, int* ret_type_code) {
    return Transfers().call_operator(op.get(), values.data(), type_codes.data(),
                                     static_cast<int>(args.size()), ctx, ret, ret_type_code, &done);
  });
  if (status != 0) {
    const Error error = Error::FromLast();
    if (error.kind() != "NotImplementedError") throw error;
    return NDArray();
  }
  return done != 0 ? result.As<NDArray>() : NDArray();
}

void CopyAnywhere(const Elements& source, const Elements& target) {
  const bool from_host = IsHost(source.tensor.device);
  const bool to_host = IsHost(target.tensor.device);
  if (from_host && to_host) return CopyCast(source.tensor, target.tensor);
  if (from_host) {
    const NDArray view = ViewOf(target);
    if (Fits(source.tensor, target.tensor)) return Assign(view, source.tensor);
    const NDArray packed = NDArray::Empty(view.shape(), view.dtype());
    CopyCast(source.tensor, packed.tensor());
    return Assign(view, packed);
  }
  const NDArray array = ViewOf(source);
  if (to_host) {
    const bool direct = Fits(source.tensor, target.tensor) && target.array.get() != nullptr;
    if (direct) return Assign(ViewOf(target), array);
    return CopyCast(OnHost(array).tensor(), target.tensor);
  }
  const NDArray view = ViewOf(target);
  const NDArray converted = Converted(array, view.dtype());
  const bool same_shape = converted.shape() == view.shape();
  Assign(view, same_shape ? converted : RepeatTo(converted, view.shape()));
}

}  // namespace op
}  // namespace mxnet
