/*!
 * \file take.cc
 * \brief Elements by position along an axis: take.
 */
#include "op/kernels/index/take.h"

#include <mxnet/op/operator.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"
#include "op/tensor/gather.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief What an index out of bounds does. */
enum class TakeMode { kRaise, kWrap, kClip };

}  // namespace

template <>
struct AttributeTraits<TakeMode> {
  static constexpr ParamType kType{"str", kMXNetRoleAttribute};
  static TakeMode Read(const MXNetArgValue& arg, MXNetFunctionHandle, int) {
    const auto mode = arg.As<std::string_view>();
    if (mode == "raise") return TakeMode::kRaise;
    if (mode == "wrap") return TakeMode::kWrap;
    if (mode == "clip") return TakeMode::kClip;
    MXNET_THROW("ValueError") << arg.text() << " expected 'raise', 'wrap' or 'clip', got '" << mode
                              << "'";
  }
};

namespace {

struct TakeAttributes {
  std::optional<Axis> axis;
  TakeMode mode{TakeMode::kRaise};
};

/*! \brief The shape that elements are taken from: that of one axis where none is told. */
struct TakenFrom {
  TakenFrom(ShapeView given, const TakeAttributes& attributes) {
    const bool flat = !attributes.axis || given.ndim() == 0;
    if (flat) {
      shape.push_back(SizeOf(given));
    } else {
      shape = DimBuffer(given);
    }
    axis = NormalizeAxis(attributes.axis.value_or(Axis{}).value, shape.ndim);
  }
  DimBuffer shape;
  int axis;
};

void CheckIndices(const MXNetTensorSpec& indices) {
  if (IsIntDType(indices.dtype) || IsBoolDType(indices.dtype)) return;
  if (SizeOf(ShapeOf(indices)) == 0) return;
  MXNET_THROW("TypeError") << "argument 1 ('indices') expected integers, got "
                           << DataTypeName(indices.dtype);
}

void InferTake(const InferCall& call, const TakeAttributes& attributes) {
  const TakenFrom from(ShapeOf(call.in[0]), attributes);
  const ShapeView indices = ShapeOf(call.in[1]);
  CheckIndices(call.in[1]);
  CheckNdim(from.shape.ndim - 1 + indices.ndim());
  const int64_t count = SizeOf(indices);
  if (from.shape[from.axis] == 0 && count != 0 && !IsSymbolic(count)) {
    MXNET_THROW("IndexError") << "cannot do a non-empty take from an empty axes.";
  }
  DimBuffer shape;
  for (int d = 0; d < from.axis; ++d) shape.push_back(from.shape[d]);
  for (int64_t extent : indices) shape.push_back(extent);
  for (int d = from.axis + 1; d < from.shape.ndim; ++d) shape.push_back(from.shape[d]);
  SetSpec(call.in[0].dtype, shape.view(), call.out);
}

/*! \brief Indices as a dense span of int64, those that the mode makes positions within the axis. */
class Positions {
 public:
  Positions(const DLTensor& indices, int64_t extent, int axis, TakeMode mode)
      : size_(TensorSize(indices)) {
    const bool is_ready = indices.dtype == kInt64 && IsContiguous(indices);
    if (!is_ready) own_ = AsType(indices, kInt64);
    data_ = is_ready ? static_cast<const int64_t*>(TensorData(indices)) : own_.data_as<int64_t>();
    if (mode == TakeMode::kRaise) {
      CheckBounds(extent, axis);
    } else {
      Bound(extent, mode);
    }
  }
  const int64_t* data() const noexcept { return data_; }
  int64_t size() const noexcept { return size_; }

 private:
  void CheckBounds(int64_t extent, int axis) const {
    const int64_t out = FindOutOfBounds({data_, size_}, extent);
    if (out == size_) return;
    MXNET_THROW("IndexError") << "index " << data_[out] << " is out of bounds for axis " << axis
                              << " with size " << extent;
  }

  void Bound(int64_t extent, TakeMode mode) {
    const NDArray bounded = NDArray::Empty(ShapeView(&size_, 1), kInt64);
    const bool clips = mode == TakeMode::kClip;
    std::transform(data_, data_ + size_, bounded.data_as<int64_t>(), [&](int64_t one) {
      if (clips) return std::clamp<int64_t>(one, 0, extent - 1);
      const int64_t rest = one % extent;
      return rest < 0 ? rest + extent : rest;
    });
    own_ = bounded;
    data_ = own_.data_as<int64_t>();
  }

  int64_t size_;
  NDArray own_;
  const int64_t* data_;
};

/*! \brief Takes blocks of elements along an axis of an array of several. */
void TakeBlocks(const DLTensor& a, int axis, const Positions& positions, char* out) {
  int64_t strides[kMaxNdim];
  StridesOf(a, strides);
  std::vector<int64_t> offsets(positions.data(), positions.data() + positions.size());
  for (int64_t& offset : offsets) {
    offset = (offset < 0 ? offset + a.shape[axis] : offset) * strides[axis];
  }
  ScatteredBlocks blocks;
  blocks.data = static_cast<char*>(TensorData(a));
  blocks.dtype = a.dtype;
  blocks.offsets = offsets.data();
  blocks.count = positions.size();
  for (int d = 0; d < a.ndim; ++d) {
    if (d == axis) continue;
    (d < axis ? blocks.prefix : blocks.suffix).push_back(a.shape[d], strides[d]);
  }
  GatherBlocks(blocks, out);
}

void RunTake(const RunCall& call, const TakeAttributes& attributes) {
  DLTensor a = call.in[0];
  const TakenFrom from(TensorShape(a), attributes);
  NDArray flattened;
  if (a.ndim != 1 && !(attributes.axis && a.ndim > 0)) {
    if (!IsContiguous(a)) {
      flattened = Contiguous(a);
      a = flattened.tensor();
    }
    a.ndim = 1;
    a.shape = const_cast<int64_t*>(from.shape.data);
    a.strides = nullptr;
  }
  const int64_t extent = a.shape[from.axis];
  // Of no indices none is out of bounds; modes would divide by an extent of 0.
  if (TensorSize(call.in[1]) == 0) return;
  const Positions positions(call.in[1], extent, from.axis, attributes.mode);
  auto* out = static_cast<char*>(TensorData(call.out[0]));
  if (TensorSize(call.out[0]) == 0) return;
  if (a.ndim > 1) return TakeBlocks(a, from.axis, positions, out);
  const int64_t item = ItemSize(a.dtype);
  const int64_t stride = a.strides == nullptr ? 1 : a.strides[0];
  TakeElements(static_cast<const char*>(TensorData(a)), stride * item, extent, item,
               {positions.data(), positions.size()}, out);
}

MXNET_REGISTER_OPERATOR("_npi.take", TakeAttributes)
    .describe("Elements of an array by their positions along an axis.")
    .input("a", kArrayDoc)
    .input("indices", "Integers; their shape replaces the axis.")
    .attribute("axis", &TakeAttributes::axis, nullptr, "The axis; if None a is flattened first.")
    .out()
    .attribute("mode", &TakeAttributes::mode, "raise",
               "What an index out of bounds does: 'raise', 'wrap' around, or 'clip'.")
    .release_gil(kReleaseBytes)
    .infer(&InferTake)
    .run(&RunTake);

}  // namespace
}  // namespace op
}  // namespace mxnet
