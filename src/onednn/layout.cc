#include "onednn/layout.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace mxnet {
namespace onednn {
namespace {

const char* TypeText(DType type) {
  switch (type) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::s32:
      return "s32";
    case DType::s8:
      return "s8";
    default:
      return "u8";
  }
}

char Letter(size_t axis) { return static_cast<char>('a' + axis); }

}  // namespace

bool IsPlain(const Desc& desc) {
  if (desc.get_format_kind() != dnnl::memory::format_kind::blocked) return false;
  if (desc.get_inner_nblks() != 0 || desc.get_submemory_offset() != 0) return false;
  const Dims shape = desc.get_dims();
  if (desc.get_padded_dims() != shape) return false;
  const Dims strides = desc.get_strides();
  const Dims expected = RowMajorStrides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && strides[i] != expected[i]) return false;
  }
  return true;
}

std::string Layout::Text() const {
  const std::string type = std::string(" ") + TypeText(desc_.get_data_type());
  if (desc_.get_format_kind() != dnnl::memory::format_kind::blocked) return "opaque" + type;
  const Dims strides = desc_.get_strides();
  const Dims blocks = desc_.get_inner_blks();
  const Dims block_axes = desc_.get_inner_idxs();
  std::vector<size_t> order(strides.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  std::string text;
  for (const size_t axis : order) {
    const bool is_blocked =
        std::count(block_axes.begin(), block_axes.end(), static_cast<int64_t>(axis)) > 0;
    const char letter = Letter(axis);
    text += is_blocked ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    text += std::to_string(blocks[i]) + Letter(static_cast<size_t>(block_axes[i]));
  }
  return text + type;
}

int64_t Layout::Hash() const {
  size_t hash = static_cast<size_t>(desc_.get_data_type());
  const auto add = [&](const Dims& values) {
    for (const int64_t value : values) {
      hash = hash * 1000003 ^ std::hash<int64_t>()(value);
    }
  };
  add(desc_.get_dims());
  if (desc_.get_format_kind() == dnnl::memory::format_kind::blocked) {
    add(desc_.get_strides());
    add(desc_.get_inner_blks());
  }
  return static_cast<int64_t>(hash >> 1);
}

Layout Layout::Permuted(const std::vector<int64_t>& axes) const {
  const size_t ndim = desc_.get_dims().size();
  std::vector<int> to(ndim, -1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool is_axis = axes[i] >= 0 && axes[i] < static_cast<int64_t>(ndim);
    if (is_axis && axes.size() == ndim) to[static_cast<size_t>(axes[i])] = static_cast<int>(i);
  }
  if (std::count(to.begin(), to.end(), -1) > 0) {
    MXNET_THROW("ValueError") << "mx.onednn.Layout.permuted: axes: expected the axes 0 to "
                              << static_cast<int64_t>(ndim) - 1 << " in some order, got "
                              << onednn::Text(axes);
  }
  return Translated([&] { return Layout(desc_.permute_axes(to), dtype_); });
}

Layout Layout::Reshaped(const std::vector<int64_t>& shape) const {
  // A check of the shape itself, as oneDNN's error does not tell it from a layout that cannot be.
  if (shape.empty() || SizeOf(shape) != SizeOf(desc_.get_dims())) {
    MXNET_THROW("ValueError") << "mx.onednn.Layout.reshaped: shape: expected "
                              << SizeOf(desc_.get_dims()) << " elements, got "
                              << onednn::Text(shape);
  }
  const Desc reshaped = desc_.reshape(shape, true);
  if (reshaped.get(true) == nullptr) {
    MXNET_THROW("ValueError") << "mx.onednn.Layout.reshaped: a layout " << Text() << " of shape "
                              << onednn::Text(desc_.get_dims()) << " cannot be seen in the shape "
                              << onednn::Text(shape);
  }
  return Layout(reshaped, dtype_);
}

}  // namespace onednn
}  // namespace mxnet
