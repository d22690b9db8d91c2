#include "array.h"

#include <algorithm>
#include <utility>

namespace onednn {
namespace {

Array ArrayOf(const MXTensor& tensor, Location location) {
  const MXAccDLTensor& dl_tensor = tensor.tensor;
  if (tensor.storage != kMXAccDense) Unsupported("sparse tensors");
  if (tensor.layout != nullptr) Unsupported(std::string("the layout ") + tensor.layout);
  SpanOf(dl_tensor);
  return Array{location, dl_tensor.dtype, Dims(dl_tensor.shape, dl_tensor.shape + dl_tensor.ndim),
               Dims(dl_tensor.strides, dl_tensor.strides + dl_tensor.ndim)};
}

}  // namespace

Array InputOf(const MXAccOperator& op, int32_t index) {
  return ArrayOf(op.inputs[index], {Location::Kind::kInput, static_cast<size_t>(index), 0});
}

Array OutputOf(const MXAccOperator& op, int32_t index) {
  return ArrayOf(op.outputs[index], {Location::Kind::kOutput, static_cast<size_t>(index), 0});
}

std::optional<DType> TypeOf(MXAccDataType dtype) {
  struct Known {
    uint8_t code;
    uint8_t bits;
    DType type;
  };
  static constexpr Known kKnown[] = {
      {kMXAccFloat, 32, DType::f32}, {kMXAccFloat, 16, DType::f16}, {kMXAccBfloat, 16, DType::bf16},
      {kMXAccInt, 32, DType::s32},   {kMXAccInt, 8, DType::s8},     {kMXAccUInt, 8, DType::u8},
      {kMXAccBool, 8, DType::u8},
  };
  for (const Known& known : kKnown) {
    if (dtype.code == known.code && dtype.bits == known.bits) return known.type;
  }
  return std::nullopt;
}

bool IsFloat(MXAccDataType dtype) {
  return (dtype.code == kMXAccFloat && (dtype.bits == 32 || dtype.bits == 16)) ||
         (dtype.code == kMXAccBfloat && dtype.bits == 16);
}

bool IsBool(MXAccDataType dtype) { return dtype.code == kMXAccBool; }

MXAccDataType Promoted(MXAccDataType a, MXAccDataType b) { return SameType(a, b) ? a : kFloat32; }

int64_t SizeOf(const Dims& shape) {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  return size;
}

Dims DenseStrides(const Dims& shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

bool IsDense(const Array& array) {
  const Dims dense = DenseStrides(array.shape);
  for (size_t i = 0; i < dense.size(); ++i) {
    if (array.shape[i] != 1 && array.strides[i] != dense[i]) return false;
  }
  return true;
}

Desc DescOf(const Array& array) {
  const std::optional<DType> type = TypeOf(array.dtype);
  if (!type) {
    MXAccDLTensor scalar{};
    scalar.dtype = array.dtype;
    Unsupported("oneDNN has no " + SpecText(scalar));
  }
  if (array.shape.size() > DNNL_MAX_NDIMS) Unsupported("so many axes");
  // Strides of axes of extent 1 have no meaning: they get the value that they would have in a dense
  // array.
  Dims strides = array.strides;
  for (size_t i = strides.size(); i-- > 0;) {
    if (array.shape[i] != 1) continue;
    strides[i] =
        i + 1 < strides.size() ? strides[i + 1] * std::max<int64_t>(array.shape[i + 1], 1) : 1;
  }
  return Desc(array.shape, *type, strides);
}

Desc DenseDesc(MXAccDataType dtype, const Dims& shape) {
  return DescOf(Array{{}, dtype, shape, DenseStrides(shape)});
}

Array Broadcast(const Array& array, const Dims& shape) {
  Array wide{array.location, array.dtype, shape, Dims(shape.size(), 0)};
  const size_t more = shape.size() - array.shape.size();
  bool fits = array.shape.size() <= shape.size();
  for (size_t i = 0; fits && i < array.shape.size(); ++i) {
    if (array.shape[i] == shape[more + i]) {
      wide.strides[more + i] = shape[more + i] == 1 ? 0 : array.strides[i];
    } else {
      fits = array.shape[i] == 1;
    }
  }
  if (!fits) throw Failure(kMXAccBadArgument, "an input does not broadcast to the output");
  return wide;
}

Array Shaped(Array dense, Dims shape) {
  dense.shape = std::move(shape);
  dense.strides = DenseStrides(dense.shape);
  return dense;
}

Array Chosen(const Array& array, const std::vector<bool>& which, bool chosen) {
  Array part{array.location, array.dtype, {}, {}};
  for (size_t i = 0; i < array.shape.size(); ++i) {
    if (which[i] != chosen) continue;
    part.shape.push_back(array.shape[i]);
    part.strides.push_back(array.strides[i]);
  }
  return part;
}

Array Ordered(const Array& array, const std::vector<bool>& last) {
  Array ordered = Chosen(array, last, false);
  const Array behind = Chosen(array, last, true);
  ordered.shape.insert(ordered.shape.end(), behind.shape.begin(), behind.shape.end());
  ordered.strides.insert(ordered.strides.end(), behind.strides.begin(), behind.strides.end());
  return ordered;
}

Array Merged(const Array& array) {
  Array merged{array.location, array.dtype, {}, {}};
  for (size_t i = 0; i < array.shape.size(); ++i) {
    if (array.shape[i] == 1) continue;
    if (!merged.shape.empty() && merged.strides.back() == array.shape[i] * array.strides[i]) {
      merged.shape.back() *= array.shape[i];
      merged.strides.back() = array.strides[i];
    } else {
      merged.shape.push_back(array.shape[i]);
      merged.strides.push_back(array.strides[i]);
    }
  }
  return merged;
}

std::vector<Array> Joined(const std::vector<Array>& arrays) {
  std::vector<const int64_t*> strides;
  for (const Array& array : arrays) strides.push_back(array.strides.data());
  const JoinedAxes axes = JoinAxes(arrays[0].ndim(), arrays[0].shape.data(), strides.data(),
                                   static_cast<int>(arrays.size()));
  std::vector<Array> joined;
  for (size_t i = 0; i < arrays.size(); ++i) {
    Array& array = joined.emplace_back(Array{arrays[i].location, arrays[i].dtype, {}, {}});
    array.shape.assign(axes.shape, axes.shape + axes.ndim);
    array.strides.assign(axes.strides[i], axes.strides[i] + axes.ndim);
    if (axes.ndim == 0) {
      array.shape = {1};
      array.strides = {1};
    }
  }
  return joined;
}

}  // namespace onednn
