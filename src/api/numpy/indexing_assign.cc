/*!
 * \file indexing_assign.cc
 * \brief a[key] = value, as a call and as what plans and infer know of it.
 */
#include <mxnet/op/extent.h>
#include <mxnet/op/operator.h>

#include <memory>
#include <string_view>

#include "api/argument/arguments.h"
#include "api/argument/nested.h"
#include "api/argument/out.h"
#include "api/call/anywhere.h"
#include "api/call/tensor_spec.h"
#include "api/call/transfer.h"
#include "api/numpy/indexing_elsewhere.h"
#include "api/numpy/indexing_plain.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"

namespace mxnet {
namespace op {

/*! \brief Whether a value is an array, which NumPy lets have more axes than a sequence. */
struct IsArray {
  bool value{false};
};

template <>
struct AttributeTraits<IsArray> {
  static IsArray Read(const MXNetArgValue& arg, MXNetFunctionHandle, int) {
    const DLTensor* tensor = nullptr;
    Ref<TensorSpec> spec;
    return {arg.TryAs(&tensor) == Match::kOk || arg.TryAs(&spec) == Match::kOk};
  }
};

namespace {

/*! \brief A shape without the leading axes of one element that its target does not have. */
ShapeView WithoutLeading(ShapeView value, int ndim) noexcept {
  while (value.ndim() > ndim && value[0] == 1) {
    value = ShapeView(value.data() + 1, value.size() - 1);
  }
  return value;
}

/*!
 * \brief What is assigned, as a tensor, wherever it is: a number as one of no axes, converted
 * already.
 */
class AssignedValue {
 public:
  AssignedValue(const MXNetArgValue& arg, DLDataType dtype) {
    const DLTensor* tensor = nullptr;
    if (IsNumber(arg.type_code())) {
      StoreNumber(arg.value(), arg.type_code(), dtype, &number_);
      tensor_ = DLTensor{&number_, Context{kDLCPU, 0}, 0, dtype, nullptr, nullptr, 0};
    } else if (arg.TryAs(&tensor) == Match::kOk) {
      tensor_ = *tensor;
      is_foreign_ = true;
    } else {
      owned_ = ArrayFromNested(arg, dtype);
      tensor_ = owned_.tensor();
    }
  }
  explicit AssignedValue(const DLTensor& tensor) : tensor_(tensor), is_foreign_(true) {}
  AssignedValue(const AssignedValue&) = delete;
  AssignedValue& operator=(const AssignedValue&) = delete;

  const DLTensor& tensor() const noexcept { return tensor_; }
  ShapeView shape() const noexcept { return TensorShape(tensor_); }
  /*! \brief Whether it was an array before, not a number or a sequence. */
  bool is_foreign() const noexcept { return is_foreign_; }

  void BringToHost(const MXNetArgValue& arg) {
    if (IsHost(tensor_.device)) return;
    owned_ = OnHost(ArrayBehind(arg));
    tensor_ = owned_.tensor();
  }

  /*! \brief Leading axes of one element that the target does not have are dropped. */
  void DropLeadingAxes(int ndim) noexcept {
    if (tensor_.ndim <= ndim) return;
    const int dropped = tensor_.ndim - WithoutLeading(shape(), ndim).ndim();
    tensor_.ndim -= dropped;
    tensor_.shape += dropped;
    if (tensor_.strides != nullptr) tensor_.strides += dropped;
  }

 private:
  ElementBuffer number_;
  NDArray owned_;
  DLTensor tensor_;
  bool is_foreign_{false};
};

/*! \brief ValueError where a value has more axes than NumPy lets an element or a target have. */
void CheckSequence(ShapeView value, bool is_array, bool is_element, int ndim) {
  constexpr char kSequence[] = "argument 2 ('value'): setting an array element with a sequence.";
  if (is_element && value.ndim() > 0) MXNET_THROW("ValueError") << kSequence;
  if (!is_array && value.ndim() > ndim) {
    MXNET_THROW("ValueError") << kSequence << " The requested array would exceed the maximum "
                              << "number of dimension of " << ndim << ".";
  }
}

/*! \brief ValueError or TypeError unless the value fits the elements that one mask selects. */
void CheckMaskValue(ShapeView value, int64_t count) {
  if (value.ndim() > 1) {
    MXNET_THROW("TypeError") << "NumPy boolean array indexing assignment requires a 0 or "
                             << "1-dimensional input, input has " << value.ndim() << " dimensions";
  }
  if (value.ndim() == 1 && value[0] != 1 && AreDifferent(value[0], count)) {
    MXNET_THROW("ValueError") << "NumPy boolean array indexing assignment cannot assign "
                              << ExtentText(value[0]) << " input values to the " << count
                              << " output values where the mask is true";
  }
}

void CheckSelectionValue(ShapeView value, ShapeView shape) {
  bool fits = value.size() <= shape.size();
  for (size_t i = 1; fits && i <= value.size(); ++i) {
    const int64_t extent = value[value.size() - i];
    fits = extent == 1 || !AreDifferent(extent, shape[shape.size() - i]);
  }
  if (!fits) {
    MXNET_THROW("ValueError") << "shape mismatch: value array of shape " << CompactShape(value)
                              << " could not be broadcast to indexing result of shape "
                              << CompactShape(shape);
  }
}

/*! \brief Throws where a value does not fit what a key with index arrays selects of an array. */
void CheckAdvancedValue(const IndexKey& key, int ndim, ShapeView value, ShapeView selected) {
  if (key.is_mask_of(ndim)) return CheckMaskValue(value, SizeOf(selected));
  CheckSelectionValue(WithoutLeading(value, selected.ndim()), selected);
}

void SetBasic(const MXNetArgValue& target, const DLTensor& tensor, const IndexKey& key,
              const MXNetArgValue& arg) {
  SubarrayLayout subarray;
  key.ApplyBasic(tensor, &subarray);
  AssignedValue value(arg, tensor.dtype);
  const int ndim = subarray.axes.shape.ndim;
  CheckSequence(value.shape(), value.is_foreign(), key.is_element_of(tensor.ndim), ndim);
  value.DropLeadingAxes(ndim);
  CheckBroadcastInto(value.shape(), subarray.axes.shape.view());
  const DLTensor to = TensorOf(subarray, tensor.dtype, tensor.device);
  if (IsHost(to.device) && IsHost(value.tensor().device)) return CopyCast(value.tensor(), to);
  CopyAnywhere({value.tensor(), ArrayBehind(arg)}, {to, ArrayBehind(target)});
}

/*! \brief Whether one value goes where a mask of all elements holds. */
bool FillsMask(const DLTensor& tensor, const IndexKey& key, const AssignedValue& value) {
  return key.is_mask_of(tensor.ndim) && TensorSize(value.tensor()) == 1 &&
         value.shape().ndim() < 2 && key.array().shape() == TensorShape(tensor);
}

/*! \brief One value, converted to a type and without axes, on the host. */
NDArray OneValue(const AssignedValue& value, const MXNetArgValue& arg, DLDataType dtype) {
  NDArray one = NDArray::Empty(ShapeView(), dtype);
  DLTensor scalar = value.tensor();
  scalar.ndim = 0;
  CopyAnywhere({scalar, ArrayBehind(arg)}, {one.tensor(), one});
  return one;
}

/*!
 * \brief Has the value's axes be those of the selection, and reads the indices. Throws what infer
 * tells of first: that the value does not fit.
 */
void FitValue(const DLTensor& tensor, const IndexKey& key, Selection* selection,
              AssignedValue* value) {
  CheckAdvancedValue(key, tensor.ndim, value->shape(), selection->shape());
  value->DropLeadingAxes(selection->shape().ndim());
  selection->ReadIndices();
}

void SetAdvancedElsewhere(const NDArray& array, const IndexKey& key, const MXNetArgValue& arg) {
  AssignedValue value(arg, array.dtype());
  if (FillsMask(array.tensor(), key, value) &&
      TryFillMaskElsewhere(array, key.array(), OneValue(value, arg, array.dtype()))) {
    return;
  }
  Selection selection(key, array.tensor());
  FitValue(array.tensor(), key, &selection, &value);
  if (selection.size() == 0) return;
  ScatterElsewhere(array, selection, {value.tensor(), ArrayBehind(arg)});
}

/*! \brief Assigns a value of the host. */
void SetAdvanced(const DLTensor& tensor, const IndexKey& key, AssignedValue* given) {
  Selection selection(key, tensor);
  FitValue(tensor, key, &selection, given);
  const AssignedValue& value = *given;
  if (selection.size() == 0) return;
  if (TensorSize(value.tensor()) == 1) {
    ElementBuffer element;
    DLTensor scalar = value.tensor();
    scalar.ndim = 0;
    CopyCast(scalar, DLTensor{&element, tensor.device, 0, tensor.dtype, nullptr, nullptr, 0});
    return FillBlocks(selection.blocks(), &element);
  }
  const DLTensor& source = value.tensor();
  if (source.dtype == tensor.dtype && TensorShape(source) == selection.shape() &&
      IsContiguous(source) && !MayOverlap(source, tensor)) {
    return ScatterBlocks(selection.blocks(), TensorData(source));
  }
  const NDArray dense = NDArray::Empty(selection.shape(), tensor.dtype, tensor.device);
  CopyCast(source, dense.tensor());
  ScatterBlocks(selection.blocks(), dense.data());
}

/*! \brief a[key] = value of one array of indices, and a number or an array of its shape and type.
 */
bool TrySetPlain(const DLTensor& tensor, const MXNetArgs& args) {
  const DLTensor* array = HostTensor(args, 0);
  const DLTensor* key = HostTensor(args, 1);
  if (!IsPlainIndex(array, key)) return false;
  // A key or a value that is written to would change while it is read.
  const MemoryBounds written(tensor);
  if (written.Overlap(MemoryBounds(*key))) return false;
  const DLTensor* value = HostTensor(args, 2);
  const bool is_number = IsNumber(args.type_codes[2]);
  if (!is_number &&
      (value == nullptr || value->dtype != tensor.dtype ||
       TensorShape(*value) != TensorShape(*key) || written.Overlap(MemoryBounds(*value)))) {
    return false;
  }
  NDArray copies[2];
  // Values of one axis are read where they lie.
  const bool is_line = !is_number && value->ndim == 1;
  if (!is_number && !is_line) value = RowMajor(value, &copies[1]);
  ElementBuffer number;
  if (is_number) StoreNumber(args.values[2], args.type_codes[2], tensor.dtype, &number);
  const Indices indices = PlainIndices(tensor, *key, &copies[0]);
  const int64_t item = ItemSize(tensor.dtype);
  const void* values = is_number ? &number : TensorData(*value);
  const int64_t step = is_number ? 0 : is_line ? value->strides[0] * item : item;
  PutElements(static_cast<char*>(TensorData(tensor)), tensor.strides[0] * item, tensor.shape[0],
              item, indices, static_cast<const char*>(values), step);
  return true;
}

/*! \brief a[...] = value of an array of the same shape. */
bool TrySetAll(const DLTensor& tensor, const MXNetArgs& args) {
  if (args.type_codes[1] != kMXNetStr) return false;
  const auto& key = args.values[1].v_str;
  if (std::string_view(key.data, key.size) != "...") return false;
  const DLTensor* value = HostTensor(args, 2);
  if (value == nullptr || !IsHost(tensor.device) || TensorShape(*value) != TensorShape(tensor)) {
    return false;
  }
  CopyCast(*value, tensor);
  return true;
}

/*! \brief Apart, for the room that a key takes, which the calls before it do without. */
[[gnu::noinline]] void SetAny(const DLTensor& tensor, const MXNetArgs& args) {
  const IndexKey key(args[1]);
  if (key.is_basic()) return SetBasic(args[0], tensor, key, args[2]);
  if (!IsHost(tensor.device)) return SetAdvancedElsewhere(args[0].As<NDArray>(), key, args[2]);
  AssignedValue value(args[2], tensor.dtype);
  value.BringToHost(args[2]);
  SetAdvanced(tensor, key, &value);
}

void SetItem(const MXNetArgs& args, MXNetRetValue*) {
  const DLTensor& tensor = WritableTensor(args[0]);
  if (!TrySetAll(tensor, args) && !TrySetPlain(tensor, args)) SetAny(tensor, args);
}

struct SetAttributes {
  std::shared_ptr<const IndexKey> key;
  IsArray value_is_array;
};

/*! \brief The array is of the spec that it has, if the value fits. */
void InferSet(const InferCall& call, const SetAttributes& attributes) {
  const MXNetTensorSpec& a = call.in[0];
  const ShapeView value = ShapeOf(call.in[1]);
  const IndexKey& key = *attributes.key;
  DimBuffer selected;
  InferSelection(key, a, &selected);
  if (key.is_basic()) {
    CheckSequence(value, attributes.value_is_array.value, key.is_element_of(a.ndim), selected.ndim);
    CheckBroadcastInto(WithoutLeading(value, selected.ndim), selected.view());
  } else {
    CheckAdvancedValue(key, a.ndim, value, selected.view());
  }
  SetSpec(a.dtype, ShapeOf(a), call.out);
}

int64_t CountAssigned(const InferCall& call, const SetAttributes& attributes) {
  DimBuffer selected;
  InferSelection(*attributes.key, call.in[0], &selected);
  return SizeOf(selected.view());
}

/*! \brief Of plans, which change none of their arrays: a copy of it is changed. */
void RunSet(const RunCall& call, const SetAttributes& attributes) {
  const DLTensor& out = call.out[0];
  const IndexKey& key = *attributes.key;
  AssignedValue value(call.in[1]);
  CopyCast(call.in[0], out);
  if (!key.is_basic()) return SetAdvanced(out, key, &value);
  SubarrayLayout subarray;
  key.ApplyBasic(out, &subarray);
  value.DropLeadingAxes(subarray.axes.shape.ndim);
  CopyCast(value.tensor(), TensorOf(subarray, out.dtype, out.device));
}

MXNET_REGISTER_OPERATOR("_npi.setitem", SetAttributes)
    .describe("Assign to the elements of an array that a key names, as a[key] = value.")
    .mutated_input("a", "The array that is changed.")
    .attribute("key", &SetAttributes::key, kKeyDoc)
    .input("value", "What broadcasts to the elements; converted to their type.")
    .kind_of_input(&SetAttributes::value_is_array)
    .returns("None")
    .flags(kMXNetFuncAnywhere)
    .types(kMXNetTypesStored)
    .infer(&InferSet)
    .operations(&CountAssigned)
    .run(&RunSet)
    .body(&NewAnywhere<&SetItem>);

}  // namespace
}  // namespace op
}  // namespace mxnet
