#include "onednn/engine.h"

#include <algorithm>
#include <iterator>

namespace mxnet {
namespace onednn {
namespace {

struct Known {
  DLDataType dtype;
  DType type;
};
constexpr Known kKnown[] = {
    {runtime::kFloat32, DType::f32},   {runtime::kFloat16, DType::f16},
    {runtime::kBFloat16, DType::bf16}, {runtime::kInt32, DType::s32},
    {runtime::kInt8, DType::s8},       {runtime::kUInt8, DType::u8},
    {runtime::kBool, DType::u8},
};

}  // namespace

const dnnl::engine& Engine() {
  // Never destroyed, as the process may end while other threads are still running kernels.
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::primitive_attr AttributesWith(const dnnl::post_ops& posts) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(posts);
  return attributes;
}

DType TypeOf(DLDataType dtype, const std::string& argument) {
  for (const Known& known : kKnown) {
    if (dtype == known.dtype) return known.type;
  }
  MXNET_THROW("NotImplementedError")
      << argument << ": expected a data type that oneDNN has (float32, float16, bfloat16, int32, "
      << "int8, uint8, bool), got " << runtime::DataTypeName(dtype);
}

void CheckFloat(DLDataType dtype, const std::string& argument) {
  const DLDataType floats[] = {runtime::kFloat32, runtime::kFloat16, runtime::kBFloat16};
  const auto is_same = [&](DLDataType other) { return dtype == other; };
  if (std::any_of(std::begin(floats), std::end(floats), is_same)) return;
  MXNET_THROW("TypeError") << argument << ": expected float32, float16 or bfloat16, got "
                           << runtime::DataTypeName(dtype);
}

int64_t SizeOf(const Dims& shape) {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  return size;
}

Dims RowMajorStrides(const Dims& shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

std::string Text(const Dims& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

Desc PlainDesc(const Dims& shape, DType type) { return Desc(shape, type, RowMajorStrides(shape)); }

Desc AnyDesc(const Dims& shape, DType type) { return Desc(shape, type, Tag::any); }

}  // namespace onednn
}  // namespace mxnet
