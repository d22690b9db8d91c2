#include "tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "status.h"

namespace mxacc {
namespace {

/*! \brief a * b + c, or Failure where that is no int64. */
int64_t MultiplyAdd(int64_t a, int64_t b, int64_t c) {
  int64_t product;
  int64_t sum;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum)) {
    throw Failure(kMXAccBadArgument, "a tensor reaches further than 64 bits count");
  }
  return sum;
}

int64_t CheckedOffset(uint64_t byte_offset) {
  const auto offset = static_cast<int64_t>(byte_offset);
  if (offset < 0) throw Failure(kMXAccBadArgument, "a tensor has a byte_offset of above 2^63");
  return offset;
}

void CheckPlausible(const MXAccDLTensor& tensor) {
  const char* wrong = nullptr;
  if (tensor.ndim < 0 || tensor.ndim > MXACC_MAX_DIMS) wrong = "a number of axes out of range";
  if (tensor.ndim > 0 && (tensor.shape == nullptr || tensor.strides == nullptr)) {
    wrong = "no shape or no strides";
  }
  if (tensor.dtype.lanes != 1 || tensor.dtype.bits == 0 || tensor.dtype.bits % 8 != 0) {
    wrong = "elements that are not one number of whole bytes";
  }
  for (int32_t i = 0; wrong == nullptr && i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 0) wrong = "a negative extent";
  }
  if (wrong != nullptr) throw Failure(kMXAccBadArgument, std::string("a tensor has ") + wrong);
}

template <typename Item>
void CopyRow(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, sizeof(Item));
  }
}

struct Pair {
  uint64_t parts[2];
};

void CopyItems(int64_t item, char* to, int64_t to_step, const char* from, int64_t from_step,
               int64_t count) {
  if (to_step == item && from_step == item) {
    std::memcpy(to, from, static_cast<size_t>(count * item));
    return;
  }
  switch (item) {
    case 1:
      return CopyRow<uint8_t>(to, to_step, from, from_step, count);
    case 2:
      return CopyRow<uint16_t>(to, to_step, from, from_step, count);
    case 4:
      return CopyRow<uint32_t>(to, to_step, from, from_step, count);
    case 8:
      return CopyRow<uint64_t>(to, to_step, from, from_step, count);
    case 16:
      return CopyRow<Pair>(to, to_step, from, from_step, count);
    default:
      throw Failure(kMXAccUnsupported, "elements of " + std::to_string(item) + " bytes");
  }
}

}  // namespace

Span SpanOf(const MXAccDLTensor& tensor) {
  CheckPlausible(tensor);
  const int64_t item = ItemSize(tensor.dtype);
  const int64_t offset = CheckedOffset(tensor.byte_offset);
  Span span{offset, MultiplyAdd(1, offset, item)};
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return {0, 0};
    const int64_t step = MultiplyAdd(tensor.strides[i], item, 0);
    int64_t* side = step < 0 ? &span.first : &span.last;
    *side = MultiplyAdd(tensor.shape[i] - 1, step, *side);
  }
  return span;
}

Span Span::from(uint64_t byte_offset) const {
  const int64_t offset = CheckedOffset(byte_offset);
  return {MultiplyAdd(1, offset, first), MultiplyAdd(1, offset, last)};
}

std::string SpecText(const MXAccDLTensor& tensor) {
  static const char* const kKinds[] = {"int",    "uint",    "float", "handle",
                                       "bfloat", "complex", "bool"};
  const bool known = tensor.dtype.code < sizeof(kKinds) / sizeof(*kKinds);
  std::string text = known ? kKinds[tensor.dtype.code] : "kind" + std::to_string(tensor.dtype.code);
  text += std::to_string(tensor.dtype.bits) + " (";
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
  }
  return text + ")";
}

bool SameSpec(const MXAccDLTensor& a, const MXAccDLTensor& b) {
  return SameType(a.dtype, b.dtype) && a.ndim == b.ndim &&
         std::equal(a.shape, a.shape + a.ndim, b.shape);
}

bool IsRowMajor(const MXAccDLTensor& tensor) {
  int64_t step = 1;
  bool dense = true;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0) return true;
    dense = dense && (tensor.shape[i] == 1 || tensor.strides[i] == step);
    step *= tensor.shape[i];
  }
  return dense;
}

JoinedAxes JoinAxes(int32_t ndim, const int64_t* shape, const int64_t* const* strides, int count) {
  JoinedAxes joined;
  int order[MXACC_MAX_DIMS];
  int kept = 0;
  for (int32_t i = 0; i < ndim; ++i) {
    if (shape[i] != 1) order[kept++] = i;
  }
  std::stable_sort(order, order + kept,
                   [&](int a, int b) { return std::abs(strides[0][a]) > std::abs(strides[0][b]); });
  for (int k = 0; k < kept; ++k) {
    const int axis = order[k];
    const int before = joined.ndim - 1;
    bool follows = before >= 0;
    for (int i = 0; follows && i < count; ++i) {
      follows = joined.strides[i][before] == shape[axis] * strides[i][axis];
    }
    const int at = follows ? before : joined.ndim++;
    joined.shape[at] = follows ? joined.shape[before] * shape[axis] : shape[axis];
    for (int i = 0; i < count; ++i) joined.strides[i][at] = strides[i][axis];
  }
  return joined;
}

void CopyElements(const MXAccDLTensor& target, char* to, const MXAccDLTensor& source,
                  const char* from) {
  if (IsRowMajor(target) && IsRowMajor(source)) {
    int64_t bytes = ItemSize(target.dtype);
    for (int32_t i = 0; i < target.ndim; ++i) bytes *= target.shape[i];
    if (bytes != 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  const int64_t* const strides[] = {target.strides, source.strides};
  const JoinedAxes axes = JoinAxes(target.ndim, target.shape, strides, 2);
  for (int i = 0; i < axes.ndim; ++i) {
    if (axes.shape[i] == 0) return;
  }
  const int64_t item = ItemSize(target.dtype);
  if (axes.ndim == 0) return CopyItems(item, to, item, from, item, 1);
  const int inner = axes.ndim - 1;
  const int64_t to_step = axes.strides[0][inner] * item;
  const int64_t from_step = axes.strides[1][inner] * item;
  int64_t index[MXACC_MAX_DIMS] = {};
  while (true) {
    CopyItems(item, to, to_step, from, from_step, axes.shape[inner]);
    int axis = inner - 1;
    for (; axis >= 0; --axis) {
      const int64_t to_axis = axes.strides[0][axis] * item;
      const int64_t from_axis = axes.strides[1][axis] * item;
      to += to_axis;
      from += from_axis;
      if (++index[axis] < axes.shape[axis]) break;
      to -= to_axis * axes.shape[axis];
      from -= from_axis * axes.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

RowMajor::RowMajor(const MXAccDLTensor& like)
    : strides(static_cast<size_t>(like.ndim) + 1), tensor(like) {
  tensor.data = nullptr;
  tensor.byte_offset = 0;
  tensor.strides = strides.data();
  int64_t step = 1;
  for (int32_t i = like.ndim - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = step;
    step *= like.shape[i];
  }
  size = static_cast<size_t>(step * ItemSize(like.dtype));
}

void CheckWorkspace(const MXTensor* workspace, uint64_t bytes) {
  if (bytes == 0) return;
  if (workspace == nullptr || workspace->tensor.data == nullptr) {
    throw Failure(kMXAccBadArgument, "run: there is no workspace, of which " +
                                         std::to_string(bytes) + " bytes were asked for");
  }
  const Span span = SpanOf(workspace->tensor);
  if (static_cast<uint64_t>(span.last) - static_cast<uint64_t>(span.first) != bytes) {
    throw Failure(kMXAccBadArgument, "run: the workspace is " + SpecText(workspace->tensor) + ", " +
                                         std::to_string(bytes) + " bytes were asked for");
  }
}

TensorCopies::TensorCopies(const MXTensor* tensors, int32_t count)
    : tensors_(tensors, tensors + count) {
  size_t total = 0;
  for (const MXTensor& tensor : tensors_) total += 2 * static_cast<size_t>(tensor.tensor.ndim);
  extents_.reserve(total + 1);
  for (MXTensor& tensor : tensors_) {
    tensor.name = tensor.layout = nullptr;
    for (int64_t** run : {&tensor.tensor.shape, &tensor.tensor.strides}) {
      int64_t* copy = extents_.data() + extents_.size();
      extents_.insert(extents_.end(), *run, *run + tensor.tensor.ndim);
      *run = copy;
    }
  }
}

}  // namespace mxacc
