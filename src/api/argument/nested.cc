/*!
 * \file nested.cc
 * \brief Arrays of nested Python sequences: their shape, their type, their elements.
 */
#include "api/argument/nested.h"

#include <algorithm>
#include <string>

#include "api/argument/arguments.h"
#include "op/semantics/promotion.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The items of a sequence, which is either a span of ints or a span of tagged values. */
struct Sequence {
  size_t size{0};
  const int64_t* ints{nullptr};
  const MXNetAny* items{nullptr};

  /*! \brief Reads a value as a sequence; false where it is none. */
  bool Read(const MXNetValue& value, int type_code) {
    if (type_code == kMXNetIntList || type_code == kMXNetIntTuple) return TakeInts(value.v_ints);
    if (ObjectTypeOf(value, type_code) == kMXNetObjectShape) {
      return TakeInts(static_cast<const MXNetShapeObject*>(value.v_handle)->ints);
    }
    MXNetAnyArray given{nullptr, 0};
    if (!ItemsOf(value, type_code, &given)) return false;
    size = given.size;
    items = given.data;
    return true;
  }

 private:
  bool TakeInts(const MXNetIntArray& given) {
    size = given.size;
    ints = given.data;
    return true;
  }
};

bool TensorOf(const MXNetValue& value, int type_code, const DLTensor** out) {
  return TypeTraits<const DLTensor*>::TryFrom(value, type_code, out) == Match::kOk;
}

/*! \brief Walks nested sequences once to find the shape and the type of the array they make. */
class Discovery {
 public:
  Discovery(const MXNetArgValue& arg, ArrayUse use) : arg_(arg), use_(use) {
    Visit(arg.value(), arg.type_code(), 0);
    if (leaf_depth_ < 0) leaf_depth_ = shape_.ndim;
    if (ragged_depth_ <= kMaxNdim) ThrowRagged();
  }

  const DimBuffer& shape() const noexcept { return shape_; }
  bool is_elsewhere() const noexcept { return is_elsewhere_; }
  WeakKind kind_of_numbers() const noexcept {
    if (has_array_) return WeakKind::kNone;
    return kind_ == WeakKind::kNone ? WeakKind::kFloat : kind_;
  }

  DLDataType dtype() const {
    if (has_array_) {
      return kind_ == WeakKind::kNone ? dtype_ : PromoteNumbers(dtype_, NumbersDType(), kind_);
    }
    return use_ == ArrayUse::kIndex && kind_ == WeakKind::kNone ? kInt64 : NumbersDType();
  }

 private:
  /*! \brief The type of the numbers, or of nothing at all. */
  DLDataType NumbersDType() const {
    if (kind_ != WeakKind::kInt || !has_large_int_) return DefaultDType(kind_);
    return has_negative_int_ ? kFloat64 : kUInt64;
  }

  void AddNumber(const MXNetValue& value, int type_code) {
    AddKind(KindOfNumber(type_code));
    has_large_int_ = has_large_int_ || type_code == kMXNetUInt;
    has_negative_int_ = has_negative_int_ || (type_code == kMXNetInt && value.v_int64 < 0);
  }

  void Visit(const MXNetValue& value, int type_code, int depth) {
    Sequence sequence;
    const DLTensor* tensor = nullptr;
    if (IsNumber(type_code)) {
      AddNumber(value, type_code);
      AddLeaf(depth);
    } else if (sequence.Read(value, type_code)) {
      VisitSequence(sequence, depth);
    } else if (TensorOf(value, type_code, &tensor)) {
      VisitTensor(*tensor, depth);
    } else {
      ThrowNoNumber(value, type_code, depth);
    }
  }

  void VisitSequence(const Sequence& sequence, int depth) {
    if (!AddExtent(depth, static_cast<int64_t>(sequence.size))) return;
    if (sequence.size == 0) AddLeaf(depth + 1);
    if (sequence.ints != nullptr) {
      if (sequence.size == 0) return;
      AddKind(WeakKind::kInt);
      AddLeaf(depth + 1);
      return;
    }
    for (size_t i = 0; i < sequence.size; ++i) {
      Visit(sequence.items[i].value, sequence.items[i].type_code, depth + 1);
    }
  }

  void VisitTensor(const DLTensor& tensor, int depth) {
    dtype_ = has_array_ ? PromoteTypes(dtype_, tensor.dtype) : tensor.dtype;
    has_array_ = true;
    is_elsewhere_ = is_elsewhere_ || !IsHost(tensor.device);
    CheckedIndexOfDType(dtype_);
    for (int d = 0; d < tensor.ndim; ++d) {
      if (!AddExtent(depth + d, tensor.shape[d])) return;
    }
    AddLeaf(depth + tensor.ndim);
  }

  /*! \brief A sequence at this depth; false where it does not fit to what came before. */
  bool AddExtent(int depth, int64_t extent) {
    if (depth >= kMaxNdim) {
      MXNET_THROW("ValueError") << arg_.text() << " is nested more than " << kMaxNdim
                                << " levels deep";
    }
    if (depth == shape_.ndim && leaf_depth_ < 0) {
      shape_.push_back(extent);
      return true;
    }
    if (depth < shape_.ndim && shape_[depth] == extent) return true;
    ragged_depth_ = std::min(ragged_depth_, depth);
    return false;
  }

  void AddLeaf(int depth) {
    if (leaf_depth_ < 0) leaf_depth_ = depth;
    if (depth != leaf_depth_) ragged_depth_ = std::min({ragged_depth_, depth, leaf_depth_});
  }

  void AddKind(WeakKind kind) { kind_ = std::max(kind_, kind); }

  [[noreturn]] void ThrowNoNumber(const MXNetValue& value, int type_code, int depth) const {
    const std::string type = (depth == 0 ? "" : "an item of type ") + TypeNameOf(value, type_code);
    if (use_ == ArrayUse::kIndex) {
      MXNET_THROW("IndexError") << kValidIndices << ", got " << type;
    }
    // Text is a value NumPy would read a number from, and tells that this one cannot be read so.
    const bool is_text = type_code == kMXNetStr || type_code == kMXNetBytes;
    MXNET_THROW(is_text && use_ == ArrayUse::kElements ? "ValueError" : "TypeError")
        << arg_.text() << " expected numbers, arrays or nested sequences of them, got " << type;
  }

  [[noreturn]] void ThrowRagged() const {
    const ShapeView regular(shape_.data, static_cast<size_t>(ragged_depth_));
    MXNET_THROW("ValueError") << arg_.text() << ": setting an array element with a sequence. The "
                              << "requested array has an inhomogeneous shape after "
                              << ragged_depth_ << " dimensions. The detected shape was "
                              << regular.str() << " + inhomogeneous part.";
  }

  const MXNetArgValue& arg_;
  ArrayUse use_;
  DimBuffer shape_;
  int leaf_depth_{-1};
  int ragged_depth_{kMaxNdim + 1};
  WeakKind kind_{WeakKind::kNone};
  bool has_array_{false};
  bool is_elsewhere_{false};
  bool has_large_int_{false};
  bool has_negative_int_{false};
  DLDataType dtype_{};
};

/*! \brief Writes the elements in row-major order. The nesting is known to be regular. */
template <typename T>
class Filler {
 public:
  explicit Filler(T* out) : out_(out) {}

  void Visit(const MXNetValue& value, int type_code) {
    Sequence sequence;
    const DLTensor* tensor = nullptr;
    if (IsNumber(type_code)) {
      *out_++ = NumberAs<T>(value, type_code);
    } else if (sequence.Read(value, type_code)) {
      VisitSequence(sequence);
    } else if (TensorOf(value, type_code, &tensor)) {
      VisitTensor(*tensor);
    }
  }

 private:
  void VisitSequence(const Sequence& sequence) {
    for (size_t i = 0; i < sequence.size; ++i) {
      if (sequence.ints == nullptr) {
        Visit(sequence.items[i].value, sequence.items[i].type_code);
        continue;
      }
      MXNetValue number;
      number.v_int64 = sequence.ints[i];
      *out_++ = NumberAs<T>(number, kMXNetInt);
    }
  }

  void VisitTensor(const DLTensor& tensor) {
    DLTensor block = tensor;
    block.data = out_;
    block.byte_offset = 0;
    block.dtype = DTypeOf<T>();
    block.strides = nullptr;
    CopyCast(tensor, block);
    out_ += TensorSize(tensor);
  }

  T* out_;
};

}  // namespace

NDArray ArrayFromNested(MXNetArgValue arg, std::optional<DLDataType> dtype, Context ctx,
                        ArrayUse use) {
  const Discovery found(arg, use);
  const DLDataType type = dtype ? *dtype : found.dtype();
  NDArray array = NDArray::Empty(found.shape().view(), type, ctx);
  if (array.size() == 0) return array;
  DispatchDType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Filler<T>(array.data_as<T>()).Visit(arg.value(), arg.type_code());
  });
  return array;
}

NestedSpec SpecOfNested(const MXNetArgValue& arg, ArrayUse use) {
  const Discovery found(arg, use);
  return {found.shape(), found.dtype(), found.is_elsewhere()};
}

WeakKind KindOfNumbers(const MXNetArgValue& arg) {
  return Discovery(arg, ArrayUse::kOperand).kind_of_numbers();
}

}  // namespace op
}  // namespace mxnet
