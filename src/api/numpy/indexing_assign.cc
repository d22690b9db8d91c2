/*!
 * \file indexing_assign.cc
 * \brief a[key] = value.
 */
#include "api/argument/arguments.h"
#include "api/argument/nested.h"
#include "api/call/anywhere.h"
#include "api/call/transfer.h"
#include "api/numpy/indexing_elsewhere.h"
#include "api/numpy/indexing_plain.h"
#include "op/schema/describe.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The array that is assigned to, wherever it is. */
const DLTensor& WritableTensor(const MXNetArgValue& arg) {
  const auto* tensor = arg.As<const DLTensor*>();
  CheckedIndexOfDType(tensor->dtype);
  const void* handle = arg.value().v_handle;
  uint64_t flags = arg.type_code() == kMXNetReadOnlyArray ? kMXNetNDArrayReadOnly : 0;
  if (arg.type_code() == kMXNetBorrowedArray) {
    flags = static_cast<const MXNetBorrowedTensor*>(handle)->flags;
  } else if (arg.type_code() == kMXNetNDArrayHandle) {
    flags = static_cast<const MXNetNDArrayObject*>(handle)->flags;
  }
  const bool read_only = (flags & kMXNetNDArrayReadOnly) != 0;
  if (read_only) MXNET_THROW("ValueError") << "assignment destination is read-only";
  return *tensor;
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
    while (tensor_.ndim > ndim && tensor_.shape[0] == 1) {
      --tensor_.ndim;
      ++tensor_.shape;
      if (tensor_.strides != nullptr) ++tensor_.strides;
    }
  }

 private:
  ElementBuffer number_;
  NDArray owned_;
  DLTensor tensor_;
  bool is_foreign_{false};
};

/*! \brief ValueError where a value has more axes than NumPy lets an element or a target have. */
void CheckSequence(const MXNetArgValue& arg, const AssignedValue& value, bool is_element,
                   int ndim) {
  const int value_ndim = value.shape().ndim();
  if (is_element && value_ndim > 0) {
    MXNET_THROW("ValueError") << arg.text() << ": setting an array element with a sequence.";
  }
  if (!value.is_foreign() && value_ndim > ndim) {
    MXNET_THROW("ValueError") << arg.text() << ": setting an array element with a sequence. The "
                              << "requested array would exceed the maximum number of dimension of "
                              << ndim << ".";
  }
}

void SetBasic(const MXNetArgValue& target, const DLTensor& tensor, const IndexKey& key,
              const MXNetArgValue& arg) {
  SubarrayLayout subarray;
  key.ApplyBasic(tensor, &subarray);
  AssignedValue value(arg, tensor.dtype);
  CheckSequence(arg, value, key.is_element_of(tensor), subarray.axes.shape.ndim);
  value.DropLeadingAxes(subarray.axes.shape.ndim);
  CheckBroadcastInto(value.shape(), subarray.axes.shape.view());
  const DLTensor to = TensorOf(subarray, tensor.dtype, tensor.device);
  if (IsHost(to.device) && IsHost(value.tensor().device)) return CopyCast(value.tensor(), to);
  CopyAnywhere({value.tensor(), ArrayBehind(arg)}, {to, ArrayBehind(target)});
}

/*! \brief ValueError or TypeError unless the value fits the elements that one mask selects. */
void CheckMaskValue(ShapeView value, int64_t count) {
  if (value.ndim() > 1) {
    MXNET_THROW("TypeError") << "NumPy boolean array indexing assignment requires a 0 or "
                             << "1-dimensional input, input has " << value.ndim() << " dimensions";
  }
  if (value.ndim() == 1 && value[0] != 1 && value[0] != count) {
    MXNET_THROW("ValueError") << "NumPy boolean array indexing assignment cannot assign "
                              << value[0] << " input values to the " << count
                              << " output values where the mask is true";
  }
}

void CheckSelectionValue(ShapeView value, ShapeView shape) {
  bool fits = value.size() <= shape.size();
  for (size_t i = 1; fits && i <= value.size(); ++i) {
    const int64_t extent = value[value.size() - i];
    fits = extent == 1 || extent == shape[shape.size() - i];
  }
  if (!fits) {
    MXNET_THROW("ValueError") << "shape mismatch: value array of shape " << CompactShape(value)
                              << " could not be broadcast to indexing result of shape "
                              << CompactShape(shape);
  }
}

/*! \brief Whether one value goes where a mask of all elements holds. */
bool FillsMask(const DLTensor& tensor, const IndexKey& key, const AssignedValue& value) {
  return key.is_mask_of(tensor) && TensorSize(value.tensor()) == 1 && value.shape().ndim() < 2 &&
         key.array().shape() == TensorShape(tensor);
}

/*! \brief One value, converted to a type and without axes, on the host. */
NDArray OneValue(const AssignedValue& value, const MXNetArgValue& arg, DLDataType dtype) {
  NDArray one = NDArray::Empty(ShapeView(), dtype);
  DLTensor scalar = value.tensor();
  scalar.ndim = 0;
  CopyAnywhere({scalar, ArrayBehind(arg)}, {one.tensor(), one});
  return one;
}

/*! \brief Has the value's axes be those of the selection; throws where it does not fit. */
void FitValue(const DLTensor& tensor, const IndexKey& key, const Selection& selection,
              AssignedValue* value) {
  if (key.is_mask_of(tensor)) return CheckMaskValue(value->shape(), selection.size());
  value->DropLeadingAxes(selection.shape().ndim());
  CheckSelectionValue(value->shape(), selection.shape());
}

void SetAdvancedElsewhere(const NDArray& array, const IndexKey& key, const MXNetArgValue& arg) {
  AssignedValue value(arg, array.dtype());
  if (FillsMask(array.tensor(), key, value) &&
      TryFillMaskElsewhere(array, key.array(), OneValue(value, arg, array.dtype()))) {
    return;
  }
  const Selection selection(key, array.tensor());
  FitValue(array.tensor(), key, selection, &value);
  if (selection.size() == 0) return;
  ScatterElsewhere(array, selection, {value.tensor(), ArrayBehind(arg)});
}

void SetAdvanced(const DLTensor& tensor, const IndexKey& key, const MXNetArgValue& arg) {
  const Selection selection(key, tensor);
  AssignedValue value(arg, tensor.dtype);
  value.BringToHost(arg);
  FitValue(tensor, key, selection, &value);
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
  const Indices indices = PlainIndices(tensor, *key, &copies[0]);
  ElementBuffer number;
  if (is_number) StoreNumber(args.values[2], args.type_codes[2], tensor.dtype, &number);
  const int64_t item = ItemSize(tensor.dtype);
  const void* values = is_number ? &number : TensorData(*value);
  const int64_t step = is_number ? 0 : is_line ? value->strides[0] * item : item;
  PutElements(static_cast<char*>(TensorData(tensor)), tensor.strides[0] * item, tensor.shape[0],
              item, indices, static_cast<const char*>(values), step);
  return true;
}

MXNET_REGISTER_ANYWHERE("_npi.setitem")
    .describe("Assign to the elements of an array that a key names, as a[key] = value.")
    .add_argument("a", "ndarray", "The array that is changed.")
    .mutated()
    .add_argument("key", "Any", kKeyDoc)
    .add_argument("value", kArrayType, "What broadcasts to the elements; converted to their type.")
    .returns("None")
    .set_function(AnywhereBody::New([](MXNetArgs args, MXNetRetValue*) {
      const DLTensor& tensor = WritableTensor(args[0]);
      if (TrySetPlain(tensor, args)) return;
      const IndexKey key(args[1]);
      if (key.is_basic()) {
        SetBasic(args[0], tensor, key, args[2]);
      } else {
        if (!IsHost(tensor.device)) {
          return SetAdvancedElsewhere(args[0].As<NDArray>(), key, args[2]);
        }
        SetAdvanced(tensor, key, args[2]);
      }
    }));

}  // namespace
}  // namespace op
}  // namespace mxnet
