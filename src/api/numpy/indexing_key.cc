/*!
 * \file indexing_key.cc
 * \brief Reading keys, and applying them to the layout of an array.
 */
#include "api/numpy/indexing_key.h"

#include <mxnet/op/extent.h>

#include <algorithm>
#include <string>

#include "api/argument/arguments.h"
#include "api/argument/nested.h"
#include "api/argument/operand.h"
#include "api/call/tensor_spec.h"
#include "api/call/transfer.h"
#include "op/tensor/cast.h"
#include "op/tensor/nonzero.h"

namespace mxnet {
namespace op {
namespace {

[[noreturn]] void ThrowInvalid() { MXNET_THROW("IndexError") << kValidIndices; }

bool IsText(const MXNetAny& item, std::string_view text) {
  return item.type_code == kMXNetStr &&
         std::string_view(item.value.v_str.data, item.value.v_str.size) == text;
}

/*! \brief Whether a tuple is the form in which a slice arrives. */
bool IsSlice(const MXNetAny& item) {
  return item.type_code == kMXNetTuple && item.value.v_seq.size == 4 &&
         IsText(item.value.v_seq.data[0], "slice");
}

int64_t IntOfScalarArray(const DLTensor& tensor) {
  int64_t value = 0;
  const DLTensor target{&value, Context{kDLCPU, 0}, 0, kInt64, nullptr, nullptr, 0};
  CopyCast(tensor, target);
  return value;
}

/*! \brief One bound of a slice; false for None. */
bool BoundOf(const MXNetAny& part, int64_t* out) {
  const DLTensor* tensor = nullptr;
  switch (part.type_code) {
    case kMXNetNull:
      return false;
    case kMXNetInt:
    case kMXNetBool:
      *out = part.value.v_int64;
      return true;
    case kMXNetUInt:
      *out = INT64_MAX;
      return true;
    default:
      if (TypeTraits<const DLTensor*>::TryFrom(part.value, part.type_code, &tensor) == Match::kOk &&
          tensor->ndim == 0 && IsIntDType(tensor->dtype)) {
        *out = IntOfScalarArray(*tensor);
        return true;
      }
      MXNET_THROW("TypeError") << "slice indices must be integers or None or have an __index__ "
                               << "method, got " << TypeNameOf(part.value, part.type_code);
  }
}

int64_t ClampBound(int64_t bound, int64_t extent, bool backwards) {
  if (bound < 0) bound += extent;
  if (bound < 0) return backwards ? -1 : 0;
  const int64_t last = backwards ? extent - 1 : extent;
  return std::min(bound, last);
}

/*! \brief Between two elements of an axis: behind so many from its begin, or before so many. */
struct Position {
  bool from_end;
  int64_t count;
};

/*! \brief Where a bound of a slice is, which backwards is behind the element that it names. */
Position PositionOf(int64_t bound, bool backwards) {
  const int64_t more = backwards ? 1 : 0;
  if (bound < 0) return {true, -std::max(bound + more, -INT64_MAX)};
  return {false, std::min(bound, INT64_MAX - more) + more};
}

/*! \brief The elements between two positions of an axis, in as few terms as it takes. */
int64_t Between(Position low, Position high, int64_t extent) {
  if (low.from_end && high.from_end) {
    return MonusExtent(MinExtent(extent, low.count), high.count);
  }
  const int64_t end =
      high.from_end ? MonusExtent(extent, high.count) : MinExtent(extent, high.count);
  return MonusExtent(end, low.from_end ? MonusExtent(extent, low.count) : low.count);
}

/*! \brief Whether a key has a spec in place of an array among its items. */
bool HasSpec(const MXNetValue& value, int type_code) {
  Ref<TensorSpec> spec;
  if (TypeTraits<Ref<TensorSpec>>::TryFrom(value, type_code, &spec) == Match::kOk) return true;
  MXNetAnyArray items{nullptr, 0};
  if (!ItemsOf(value, type_code, &items)) return false;
  for (size_t i = 0; i < items.size; ++i) {
    if (HasSpec(items.data[i].value, items.data[i].type_code)) return true;
  }
  return false;
}

}  // namespace

void ThrowOutOfBounds(int64_t index, int axis, int64_t extent) {
  MXNET_THROW("IndexError") << "index " << index << " is out of bounds for axis " << axis
                            << " with size " << extent;
}

IndexKey::IndexKey(const MXNetArgValue& key) {
  const MXNetAny whole{key.value(), key.type_code(), 0};
  if (key.type_code() == kMXNetInt) {
    AddInt(key.value().v_int64);
  } else if (key.type_code() == kMXNetIntTuple) {
    const MXNetIntArray& ints = key.value().v_ints;
    for (size_t i = 0; i < ints.size; ++i) AddInt(ints.data[i]);
  } else if (key.type_code() == kMXNetTuple && !IsSlice(whole)) {
    const MXNetAnyArray& items = key.value().v_seq;
    for (size_t i = 0; i < items.size; ++i) Add(items.data[i]);
  } else {
    Add(whole);
  }
}

IndexKey::Item* IndexKey::NewItem(Kind kind) {
  if (num_items_ == kMaxItems) MXNET_THROW("IndexError") << "too many indices for array";
  Item* item = &items_[num_items_++];
  item->kind = kind;
  return item;
}

void IndexKey::AddInt(int64_t value) {
  NewItem(Kind::kInt)->start = value;
  ++num_axes_;
}

void IndexKey::Add(const MXNetAny& raw) {
  const DLTensor* tensor = nullptr;
  const MXNetArgValue arg(raw.value, raw.type_code, nullptr, 1);
  if (raw.type_code == kMXNetInt) {
    AddInt(raw.value.v_int64);
  } else if (raw.type_code == kMXNetNull) {
    NewItem(Kind::kNewAxis);
  } else if (IsSlice(raw)) {
    AddSlice(raw.value.v_seq);
  } else if (IsText(raw, "...")) {
    if (has_ellipsis_) {
      MXNET_THROW("IndexError") << "an index can only have a single ellipsis ('...')";
    }
    has_ellipsis_ = true;
    NewItem(Kind::kEllipsis);
  } else if (arg.TryAs(&tensor) == Match::kOk) {
    if (tensor->ndim == 0 && IsIntDType(tensor->dtype)) {
      has_scalar_array_ = true;
      AddInt(IntOfScalarArray(OnHost(ToArray(arg)).tensor()));
    } else {
      AddArray(ToArray(arg));
    }
  } else if (raw.type_code == kMXNetFloat || raw.type_code == kMXNetComplex ||
             raw.type_code == kMXNetStr || raw.type_code == kMXNetBytes) {
    ThrowInvalid();
  } else if (raw.type_code == kMXNetUInt) {
    MXNET_THROW("IndexError") << "cannot fit 'int' into an index-sized integer";
  } else {
    AddArray(ArrayFromNested(arg, std::nullopt, Context{kDLCPU, 0}, ArrayUse::kIndex));
  }
}

void IndexKey::AddSlice(const MXNetAnyArray& parts) {
  Item* item = NewItem(Kind::kSlice);
  has_slice_ = true;
  ++num_axes_;
  item->has_start = BoundOf(parts.data[1], &item->start);
  item->has_stop = BoundOf(parts.data[2], &item->stop);
  if (!BoundOf(parts.data[3], &item->step)) item->step = 1;
  // So that its negative is a number too.
  item->step = std::max<int64_t>(item->step, -INT64_MAX);
}

void IndexKey::AddArray(NDArray array) {
  const bool is_mask = IsBoolDType(array.dtype());
  if (!is_mask && !IsIntDType(array.dtype())) {
    MXNET_THROW("IndexError") << "arrays used as indices must be of integer (or boolean) type, got "
                              << DataTypeName(array.dtype());
  }
  is_advanced_ = true;
  num_axes_ += is_mask ? array.ndim() : 1;
  NewItem(Kind::kArray)->start = static_cast<int64_t>(arrays_.size());
  arrays_.push_back(std::move(array));
}

bool IndexKey::is_mask_of(int ndim) const noexcept {
  return num_items_ == 1 && arrays_.size() == 1 && IsBoolDType(arrays_[0].dtype()) &&
         arrays_[0].ndim() == ndim;
}

bool IndexKey::has_no_mask() const noexcept {
  return std::none_of(arrays_.begin(), arrays_.end(),
                      [](const NDArray& array) { return IsBoolDType(array.dtype()); });
}

void IndexKey::CheckAxes(const DLTensor& tensor) const {
  if (num_axes_ > tensor.ndim) {
    MXNET_THROW("IndexError") << "too many indices for array: array is " << tensor.ndim
                              << "-dimensional, but " << num_axes_ << " were indexed";
  }
}

/*!
 * \brief Goes along the items and the axes of a tensor at the same time.
 *
 * Of a spec extents may be symbolic, and there is nothing to find strides and an address of.
 */
template <bool kOfSpec>
class IndexKey::Walk {
 public:
  Walk(const IndexKey& key, const DLTensor& tensor, SubarrayLayout* subarray,
       std::vector<AxisIndices>* advanced)
      : key_(key), tensor_(tensor), subarray_(subarray), advanced_(advanced) {
    key.CheckAxes(tensor);
    if constexpr (kOfSpec) {
      std::fill_n(strides_, tensor.ndim, 0);
    } else {
      StridesOf(tensor, strides_);
    }
    subarray->data = static_cast<char*>(TensorData(tensor));
    item_size_ = ItemSize(tensor.dtype);
  }

  void Run() {
    const int num_free = tensor_.ndim - key_.num_axes_;
    for (int i = 0; i < key_.num_items_; ++i) {
      const Item& item = key_.items_[i];
      if (item.kind == Kind::kEllipsis) {
        NotAdvanced();
        KeepAxes(num_free);
      } else {
        Apply(item);
      }
    }
    KeepAxes(tensor_.ndim - axis_);
    if (subarray_->axes.shape.ndim > kMaxNdim) ThrowTooDeep();
  }

  /*! \brief Axes of the subarray before those of the index arrays: none, where these are apart. */
  int num_leading() const noexcept { return apart_ ? 0 : num_leading_; }

 private:
  void Apply(const Item& item) {
    switch (item.kind) {
      case Kind::kInt:
        if (advanced_ != nullptr) Advanced();
        return ApplyInt(item.start);
      case Kind::kSlice:
        NotAdvanced();
        return ApplySlice(item);
      case Kind::kNewAxis:
        NotAdvanced();
        return Push(1, 0);
      default:
        Advanced();
        return ApplyArray(key_.arrays_[static_cast<size_t>(item.start)]);
    }
  }

  void Push(int64_t extent, int64_t stride) {
    if (subarray_->axes.shape.ndim == kMaxNdim) ThrowTooDeep();
    subarray_->axes.push_back(extent, stride);
  }

  [[noreturn]] static void ThrowTooDeep() {
    MXNET_THROW("IndexError") << "number of dimensions must be within [0, " << kMaxNdim
                              << "], indexing result would have more";
  }

  void KeepAxes(int count) {
    for (int i = 0; i < count; ++i, ++axis_) Push(tensor_.shape[axis_], strides_[axis_]);
  }

  void ApplyInt(int64_t index) {
    const int64_t extent = tensor_.shape[axis_];
    if (IsUnknown(extent)) {
      ++axis_;
      return;
    }
    if (index < -extent || index >= extent) ThrowOutOfBounds(index, axis_, extent);
    Move((index < 0 ? index + extent : index) * strides_[axis_]);
    ++axis_;
  }

  void ApplySlice(const Item& item) {
    if (item.step == 0) MXNET_THROW("ValueError") << "slice step cannot be zero";
    const int64_t extent = tensor_.shape[axis_];
    if (IsUnknown(extent)) {
      Push(SliceExtent(item, extent), 0);
      ++axis_;
      return;
    }
    const bool backwards = item.step < 0;
    const int64_t start =
        item.has_start ? ClampBound(item.start, extent, backwards) : (backwards ? extent - 1 : 0);
    const int64_t stop =
        item.has_stop ? ClampBound(item.stop, extent, backwards) : (backwards ? -1 : extent);
    const int64_t span = backwards ? start - stop : stop - start;
    const int64_t step = backwards ? -item.step : item.step;
    const int64_t length = span > 0 ? (span - 1) / step + 1 : 0;
    if (length > 0) Move(start * strides_[axis_]);
    // A step too large for the product leaves one element at most, whose stride does not matter.
    Push(length, length > 1 ? strides_[axis_] * item.step : strides_[axis_]);
    ++axis_;
  }

  void ApplyArray(const NDArray& array) {
    if (IsBoolDType(array.dtype())) return ApplyMask(array);
    advanced_->push_back({array, tensor_.shape[axis_], strides_[axis_], axis_});
    ++axis_;
  }

  void ApplyMask(const NDArray& mask) {
    for (int d = 0; d < mask.ndim(); ++d) {
      // An empty mask, which selects nothing, fits any axis in NumPy.
      if (IsUnknown(tensor_.shape[axis_ + d])) continue;
      if (mask->shape[d] != 0 && mask->shape[d] != tensor_.shape[axis_ + d]) {
        MXNET_THROW("IndexError") << "boolean index did not match indexed array along axis "
                                  << axis_ + d << "; size of axis is " << tensor_.shape[axis_ + d]
                                  << " but size of corresponding boolean axis is "
                                  << mask->shape[d];
      }
    }
    const NDArray positions = FlatNonzero(AsMask(OnHost(mask)));
    const int last = axis_ + mask.ndim() - 1;
    if (mask.ndim() == 0) {
      // One index for True, none for False, into an axis that is not there.
      advanced_->push_back({positions, 1, 0, axis_});
    } else if (kOfSpec || StepsEvenly(axis_, last)) {
      advanced_->push_back({positions, mask.size(), strides_[last], axis_});
    } else {
      const std::vector<NDArray> indices = UnravelPositions(positions, mask.shape());
      for (int d = 0; d < mask.ndim(); ++d) {
        advanced_->push_back(
            {indices[static_cast<size_t>(d)], mask->shape[d], strides_[axis_ + d], axis_ + d});
      }
    }
    axis_ += mask.ndim();
  }

  bool StepsEvenly(int first, int last) const {
    for (int d = first; d < last; ++d) {
      if (strides_[d] != strides_[d + 1] * tensor_.shape[d + 1]) return false;
    }
    return true;
  }

  static bool IsUnknown(int64_t extent) noexcept { return kOfSpec && IsSymbolic(extent); }

  /*! \brief How many elements are from one bound of a slice to the other, of a symbolic extent. */
  static int64_t SliceExtent(const Item& item, int64_t extent) {
    const bool backwards = item.step < 0;
    Position low{false, 0};
    Position high{true, 0};
    if (item.has_start) (backwards ? high : low) = PositionOf(item.start, backwards);
    if (item.has_stop) (backwards ? low : high) = PositionOf(item.stop, backwards);
    const int64_t step = backwards ? -item.step : item.step;
    return DivideExtent(AddExtent(Between(low, high, extent), step - 1), step);
  }

  void Move(int64_t elements) { subarray_->data += elements * item_size_; }

  /*! \brief An index array: notes where the first is, and whether they are all neighbours. */
  void Advanced() {
    if (num_leading_ < 0) {
      num_leading_ = subarray_->axes.shape.ndim;
    } else if (interrupted_) {
      apart_ = true;
    }
  }
  void NotAdvanced() { interrupted_ = num_leading_ >= 0; }

  const IndexKey& key_;
  const DLTensor& tensor_;
  SubarrayLayout* subarray_;
  std::vector<AxisIndices>* advanced_;
  int64_t strides_[kMaxNdim];
  int64_t item_size_;
  int axis_{0};
  int num_leading_{-1};
  bool interrupted_{false};
  bool apart_{false};
};

void IndexKey::ApplyBasic(const DLTensor& tensor, SubarrayLayout* subarray) const {
  Walk<false>(*this, tensor, subarray, nullptr).Run();
}

int IndexKey::ApplyAdvanced(const DLTensor& tensor, SubarrayLayout* subarray,
                            std::vector<AxisIndices>* arrays) const {
  Walk<false> walk(*this, tensor, subarray, arrays);
  walk.Run();
  return walk.num_leading();
}

int IndexKey::ApplyToSpec(const MXNetTensorSpec& spec, SubarrayLayout* subarray,
                          std::vector<AxisIndices>* arrays) const {
  const DLTensor tensor{nullptr, Context{kDLCPU, 0}, spec.ndim, spec.dtype, spec.shape, nullptr, 0};
  Walk<true> walk(*this, tensor, subarray, is_basic() ? nullptr : arrays);
  walk.Run();
  return walk.num_leading();
}

std::shared_ptr<const IndexKey> AttributeTraits<std::shared_ptr<const IndexKey>>::Read(
    const MXNetArgValue& arg, MXNetFunctionHandle, int) {
  if (HasSpec(arg.value(), arg.type_code())) {
    MXNET_THROW("NotImplementedError")
        << arg.text() << " has a TensorSpec: what an array of indices or a mask selects is told of "
        << "arrays only, which have elements";
  }
  return std::make_shared<const IndexKey>(arg);
}

}  // namespace op
}  // namespace mxnet
