/*!
 * \file indexing.cc
 * \brief a[key], as a call and as what plans and infer know of it.
 */
#include <mxnet/op/operator.h>

#include <cstring>
#include <memory>

#include "api/argument/operand.h"
#include "api/call/anywhere.h"
#include "api/call/transfer.h"
#include "api/numpy/indexing_elsewhere.h"
#include "api/numpy/indexing_plain.h"
#include "op/kernels/index/take.h"
#include "op/kernels/select/nonzero.h"
#include "op/schema/describe.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

namespace {

/*! \brief A new array of the elements of a part of an array, on any device. */
NDArray CopyOf(const SubarrayLayout& subarray, const NDArray& array) {
  NDArray copy = NDArray::Empty(subarray.axes.shape.view(), array.dtype(), array.ctx());
  const DLTensor from = TensorOf(subarray, array.dtype(), array.ctx());
  CopyAnywhere({from, array}, {copy.tensor(), copy});
  return copy;
}

/*! \brief A new array of one element, as most that are read one by one are on the host. */
NDArray ElementAt(const SubarrayLayout& subarray, const NDArray& array) {
  if (!IsHost(array.ctx())) return CopyOf(subarray, array);
  NDArray element = NDArray::Empty(ShapeView(), array.dtype(), array.ctx());
  std::memcpy(element.data(), subarray.data, static_cast<size_t>(ItemSize(array.dtype())));
  return element;
}

NDArray GetBasic(const MXNetArgValue& arg, const IndexKey& key) {
  const NDArray array = ToArray(arg);
  SubarrayLayout subarray;
  key.ApplyBasic(array.tensor(), &subarray);
  if (key.is_element_of(array.ndim())) return ElementAt(subarray, array);
  if (key.has_scalar_array()) return CopyOf(subarray, array);
  return array.View(subarray.data, subarray.axes.shape.view(), subarray.axes.strides.view(),
                    array.dtype());
}

NDArray GetAdvanced(const MXNetArgValue& arg, const IndexKey& key) {
  const NDArray elsewhere = ArrayBehind(arg);
  if (elsewhere.get() != nullptr && !IsHost(elsewhere.ctx())) {
    return GatherElsewhere(elsewhere, key);
  }
  const Operand a(arg);
  const NDArray made = a.is_array() ? NDArray() : ToArray(arg);
  const DLTensor& tensor = a.is_array() ? a.tensor() : made.tensor();
  Selection selection(key, tensor);
  selection.ReadIndices();
  NDArray result = NDArray::Empty(selection.shape(), tensor.dtype, tensor.device);
  if (result.size() > 0) GatherBlocks(selection.blocks(), result.data());
  return result;
}

/*! \brief a[key] of one array of indices or a mask, where nothing has to be brought into shape. */
bool TryGetPlain(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* array = HostTensor(args, 0);
  const DLTensor* key = HostTensor(args, 1);
  NDArray copies[2];
  if (IsPlainIndex(array, key)) {
    const Indices indices = PlainIndices(*array, *key, &copies[0]);
    NDArray taken = NDArray::Empty(TensorShape(*key), array->dtype, array->device);
    const int64_t item = ItemSize(array->dtype);
    TakeElements(static_cast<const char*>(TensorData(*array)), array->strides[0] * item,
                 array->shape[0], item, indices, static_cast<char*>(taken.data()));
    *ret = std::move(taken);
    return true;
  }
  const bool is_mask = array != nullptr && key != nullptr && IsBoolDType(key->dtype) &&
                       key->ndim > 0 && TensorShape(*array) == TensorShape(*key);
  if (!is_mask) return false;
  key = RowMajor(key, &copies[0]);
  array = RowMajor(array, &copies[1]);
  const auto* mask = static_cast<const uint8_t*>(TensorData(*key));
  const int64_t size = TensorSize(*key);
  const int64_t count = CountNonzero(mask, size);
  NDArray chosen = NDArray::Empty(ShapeView(&count, 1), array->dtype, array->device);
  CompressElements(static_cast<const char*>(TensorData(*array)), ItemSize(array->dtype), mask, size,
                   count, static_cast<char*>(chosen.data()));
  *ret = std::move(chosen);
  return true;
}

/*! \brief Apart, for the room that a key takes, which TryGetPlain does without. */
[[gnu::noinline]] void GetAny(const MXNetArgs& args, MXNetRetValue* ret) {
  const IndexKey key(args[1]);
  if (key.is_basic()) {
    *ret = GetBasic(args[0], key);
  } else {
    *ret = GetAdvanced(args[0], key);
  }
}

void GetItem(const MXNetArgs& args, MXNetRetValue* ret) {
  if (!TryGetPlain(args, ret)) GetAny(args, ret);
}

struct GetAttributes {
  std::shared_ptr<const IndexKey> key;
};

void InferGet(const InferCall& call, const GetAttributes& attributes) {
  DimBuffer shape;
  InferSelection(*attributes.key, call.in[0], &shape);
  SetSpec(call.in[0].dtype, shape.view(), call.out);
}

/*! \brief None for what calls give views of, else one for each element that is copied. */
int64_t CountCopied(const InferCall& call, const GetAttributes& attributes) {
  if (attributes.key->is_basic()) return 0;
  DimBuffer shape;
  InferSelection(*attributes.key, call.in[0], &shape);
  return SizeOf(shape.view());
}

void RunGet(const RunCall& call, const GetAttributes& attributes) {
  const DLTensor& in = call.in[0];
  const IndexKey& key = *attributes.key;
  if (!key.is_basic()) {
    Selection selection(key, in);
    selection.ReadIndices();
    if (selection.size() > 0) GatherBlocks(selection.blocks(), TensorData(call.out[0]));
    return;
  }
  SubarrayLayout subarray;
  key.ApplyBasic(in, &subarray);
  CopyCast(TensorOf(subarray, in.dtype, in.device), call.out[0]);
}

MXNET_REGISTER_OPERATOR("_npi.getitem", GetAttributes)
    .describe(
        "The elements of an array that a key names, as a[key].\n\n"
        "Ints, slices, None and Ellipsis give a view; index arrays and masks a new array. An int "
        "for each axis gives a new array, too, of that element and without axes; with an Ellipsis "
        "beside them it is a view.")
    .input("a", kArrayDoc)
    .attribute("key", &GetAttributes::key, kKeyDoc)
    .flags(kMXNetFuncAnywhere)
    .infer(&InferGet)
    .operations(&CountCopied)
    .run(&RunGet)
    .body(&NewAnywhere<&GetItem>);

}  // namespace
}  // namespace op
}  // namespace mxnet
