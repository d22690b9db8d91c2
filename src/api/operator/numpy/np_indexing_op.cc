/*!
 * \file np_indexing_op.cc
 * \brief a[key] and a[key] = value.
 */
#include <cstring>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/nested.h"
#include "api/common/operand.h"
#include "api/common/transfer.h"
#include "api/operator/numpy/np_indexing_key.h"

namespace mxnet {
namespace op {
namespace {

constexpr char kKeyType[] = "Any";
constexpr char kKeyDoc[] =
    "Int, None, Ellipsis, slice, index array or mask, or a tuple of these. A slice arrives as "
    "('slice', start, stop, step), Ellipsis as '...'.";

/*! \brief The common shape of index arrays. */
void BroadcastIndices(const std::vector<AxisIndices>& arrays, DimBuffer* shape) {
  std::vector<ShapeView> shapes;
  for (const AxisIndices& axis : arrays) shapes.push_back(axis.indices.shape());
  try {
    BroadcastShapes(shapes.data(), static_cast<int>(shapes.size()), shape);
  } catch (const Error&) {
    std::string text;
    for (ShapeView one : shapes) text += CompactShape(one) + " ";
    MXNET_THROW("IndexError") << "shape mismatch: indexing arrays could not be broadcast together "
                              << "with shapes " << text;
  }
}

void CheckBounds(const AxisIndices& axis) {
  const int64_t* values = axis.indices.data_as<int64_t>();
  const int64_t size = axis.indices.size();
  for (int64_t i = 0; i < size; ++i) {
    if (values[i] < -axis.extent || values[i] >= axis.extent) {
      ThrowOutOfBounds(values[i], axis.axis, axis.extent);
    }
  }
}

/*! \brief For each element of the common shape, how far into the array the indices lead. */
NDArray OffsetsOf(const std::vector<AxisIndices>& arrays, ShapeView shape) {
  NDArray offsets = NDArray::Zeros(shape, kInt64);
  // Where nothing is indexed in the end NumPy lets any index pass.
  if (offsets.size() == 0) return offsets;
  for (const AxisIndices& axis : arrays) {
    CheckBounds(axis);
    StridedLoop<2> loop(shape);
    loop.Set(0, offsets.tensor());
    loop.Set(1, axis.indices.tensor());
    loop.Run([&](char* const* data, const int64_t* strides, int64_t n) {
      char* to = data[0];
      const char* from = data[1];
      for (int64_t i = 0; i < n; ++i) {
        const int64_t index = *reinterpret_cast<const int64_t*>(from);
        *reinterpret_cast<int64_t*>(to) += (index < 0 ? index + axis.extent : index) * axis.stride;
        to += strides[0];
        from += strides[1];
      }
    });
  }
  return offsets;
}

/*! \brief An advanced key applied to an array: the elements it names, and the shape they have. */
class Selection {
 public:
  Selection(const IndexKey& key, const DLTensor& tensor) {
    std::vector<AxisIndices> arrays;
    Place place;
    const int leading = key.ApplyAdvanced(tensor, &place, &arrays);
    DimBuffer index_shape;
    BroadcastIndices(arrays, &index_shape);
    const StridedAxes& axes = place.axes;
    if (axes.shape.ndim + index_shape.ndim > kMaxDims) {
      MXNET_THROW("IndexError") << "number of dimensions must be within [0, " << kMaxDims
                                << "], indexing result would have "
                                << axes.shape.ndim + index_shape.ndim;
    }
    offsets_ = OffsetsOf(arrays, index_shape.view());
    blocks_.data = place.data;
    blocks_.dtype = tensor.dtype;
    blocks_.offsets = offsets_.data_as<int64_t>();
    blocks_.count = offsets_.size();
    for (int d = 0; d < axes.shape.ndim; ++d) {
      if (d == leading) AddToShape(index_shape);
      (d < leading ? blocks_.prefix : blocks_.suffix).push_back(axes.shape[d], axes.strides[d]);
      shape_.push_back(axes.shape[d]);
    }
    if (leading == axes.shape.ndim) AddToShape(index_shape);
  }

  const ScatteredBlocks& blocks() const noexcept { return blocks_; }
  ShapeView shape() const noexcept { return shape_.view(); }
  int64_t size() const noexcept { return shape_.product(); }

 private:
  void AddToShape(const DimBuffer& dims) {
    for (int64_t dim : dims.view()) shape_.push_back(dim);
  }

  NDArray offsets_;
  ScatteredBlocks blocks_;
  DimBuffer shape_;
};

DLTensor TensorOf(const Place& place, DLDataType dtype, Context ctx) {
  return DLTensor{place.data,
                  ctx,
                  place.axes.shape.ndim,
                  dtype,
                  const_cast<int64_t*>(place.axes.shape.data),
                  const_cast<int64_t*>(place.axes.strides.data),
                  0};
}

/*! \brief A new array of the elements at a place in an array, wherever that is. */
NDArray CopyOf(const Place& place, const NDArray& array) {
  NDArray copy = NDArray::Empty(place.axes.shape.view(), array.dtype(), array.ctx());
  const DLTensor from = TensorOf(place, array.dtype(), array.ctx());
  CopyAnywhere({from, array}, {copy.tensor(), copy});
  return copy;
}

/*! \brief A new array of one element, as most that are read one by one are on the host. */
NDArray ElementAt(const Place& place, const NDArray& array) {
  if (!IsHost(array.ctx())) return CopyOf(place, array);
  NDArray element = NDArray::Empty(ShapeView(), array.dtype(), array.ctx());
  std::memcpy(element.data(), place.data, static_cast<size_t>(ItemSize(array.dtype())));
  return element;
}

NDArray GetBasic(const MXNetArgValue& arg, const IndexKey& key) {
  const NDArray array = ToArray(arg);
  Place place;
  key.ApplyBasic(array.tensor(), &place);
  if (key.is_element_of(array.tensor())) return ElementAt(place, array);
  if (key.has_scalar_array()) return CopyOf(place, array);
  return array.View(place.data, place.axes.shape.view(), place.axes.strides.view(), array.dtype());
}

NDArray GetAdvanced(const DLTensor& tensor, const IndexKey& key) {
  const Selection selection(key, tensor);
  NDArray result = NDArray::Empty(selection.shape(), tensor.dtype, tensor.device);
  if (result.size() > 0) GatherBlocks(selection.blocks(), result.data());
  return result;
}

/*! \brief The array that is assigned to, wherever it is. */
const DLTensor& WritableTensor(const MXNetArgValue& arg) {
  const auto* tensor = arg.As<const DLTensor*>();
  CheckedIndexOfDType(tensor->dtype);
  const void* handle = arg.value().v_handle;
  uint64_t flags = arg.type_code() == kMXNetReadOnlyArray ? kMXNetNDArrayReadOnly : 0;
  if (arg.type_code() == kMXNetLentArray) {
    flags = static_cast<const MXNetLentTensor*>(handle)->flags;
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

  /*! \brief Leading axes of one element that the place does not have are dropped. */
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

/*! \brief ValueError where a value has more axes than NumPy lets an element or a place have. */
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
  Place place;
  key.ApplyBasic(tensor, &place);
  AssignedValue value(arg, tensor.dtype);
  CheckSequence(arg, value, key.is_element_of(tensor), place.axes.shape.ndim);
  value.DropLeadingAxes(place.axes.shape.ndim);
  CheckBroadcastInto(value.shape(), place.axes.shape.view());
  const DLTensor to = TensorOf(place, tensor.dtype, tensor.device);
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

void SetAdvanced(const DLTensor& tensor, const IndexKey& key, const MXNetArgValue& arg) {
  CheckHost(tensor);
  const Selection selection(key, tensor);
  AssignedValue value(arg, tensor.dtype);
  CheckHost(value.tensor());
  if (key.is_mask_of(tensor)) {
    CheckMaskValue(value.shape(), selection.size());
  } else {
    value.DropLeadingAxes(selection.shape().ndim());
    CheckSelectionValue(value.shape(), selection.shape());
  }
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

MXNET_REGISTER_ELEMENTS_OP("_npi.getitem")
    .flags(kMXNetFuncView)
    .describe(
        "The elements of an array that a key names, as a[key].\n\n"
        "Ints, slices, None and Ellipsis give a view; index arrays and masks a new array. An int "
        "for each axis gives a new array, too, of that element and without axes; with an Ellipsis "
        "beside them it is a view.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("key", kKeyType, kKeyDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const IndexKey key(args[1]);
      if (key.is_basic()) {
        *ret = GetBasic(args[0], key);
      } else {
        const Operand a(args[0]);
        *ret = GetAdvanced(a.is_array() ? a.tensor() : ToArray(args[0]).tensor(), key);
      }
    });

MXNET_REGISTER_ELEMENTS_OP("_npi.setitem")
    .flags(kMXNetFuncView)
    .describe("Assign to the elements of an array that a key names, as a[key] = value.")
    .add_argument("a", "ndarray", "The array that is changed.")
    .written()
    .add_argument("key", kKeyType, kKeyDoc)
    .add_argument("value", kArrayType, "What broadcasts to the elements; converted to their type.")
    .returns("None")
    .set_body([](MXNetArgs args, MXNetRetValue*) {
      const DLTensor& tensor = WritableTensor(args[0]);
      const IndexKey key(args[1]);
      if (key.is_basic()) {
        SetBasic(args[0], tensor, key, args[2]);
      } else {
        SetAdvanced(tensor, key, args[2]);
      }
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
