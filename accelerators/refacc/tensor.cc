#include "tensor.h"

#include <algorithm>
#include <cstring>

#include "status.h"

namespace refacc {
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

void CheckPlausible(const MXAccGeometry& tensor) {
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

/*! \brief Axes of both sides, outermost first, those that can be one joined, in bytes. */
struct Loop {
  int ndim = 0;
  int64_t shape[MXACC_MAX_DIMS];
  int64_t to[MXACC_MAX_DIMS];
  int64_t from[MXACC_MAX_DIMS];
};

Loop LoopOf(const MXAccGeometry& target, const MXAccGeometry& source) {
  Loop loop;
  const int64_t item = ItemSize(target.dtype);
  for (int32_t i = 0; i < target.ndim; ++i) {
    const int64_t extent = target.shape[i];
    if (extent == 1) continue;
    const int64_t to = target.strides[i] * item;
    const int64_t from = source.strides[i] * item;
    const int before = loop.ndim - 1;
    if (before >= 0 && loop.to[before] == extent * to && loop.from[before] == extent * from) {
      loop.shape[before] *= extent;
      loop.to[before] = to;
      loop.from[before] = from;
    } else {
      loop.shape[loop.ndim] = extent;
      loop.to[loop.ndim] = to;
      loop.from[loop.ndim++] = from;
    }
  }
  return loop;
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

Span SpanOf(const MXAccGeometry& tensor) {
  CheckPlausible(tensor);
  const int64_t item = ItemSize(tensor.dtype);
  const auto offset = static_cast<int64_t>(tensor.byte_offset);
  if (offset < 0) throw Failure(kMXAccBadArgument, "a tensor has a byte_offset of above 2^63");
  Span span{offset, MultiplyAdd(1, offset, item)};
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return {0, 0};
    const int64_t step = MultiplyAdd(tensor.strides[i], item, 0);
    int64_t* side = step < 0 ? &span.first : &span.last;
    *side = MultiplyAdd(tensor.shape[i] - 1, step, *side);
  }
  return span;
}

std::string GeometryText(const MXAccGeometry& tensor) {
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

bool SameType(const MXAccDataType& a, const MXAccDataType& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool SameGeometry(const MXAccGeometry& a, const MXAccGeometry& b) {
  return SameType(a.dtype, b.dtype) && a.ndim == b.ndim &&
         std::equal(a.shape, a.shape + a.ndim, b.shape);
}

bool IsRowMajor(const MXAccGeometry& tensor) {
  int64_t step = 1;
  bool dense = true;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0) return true;
    dense = dense && (tensor.shape[i] == 1 || tensor.strides[i] == step);
    step *= tensor.shape[i];
  }
  return dense;
}

void CopyElements(const MXAccGeometry& target, char* to, const MXAccGeometry& source,
                  const char* from) {
  const Loop loop = LoopOf(target, source);
  for (int i = 0; i < loop.ndim; ++i) {
    if (loop.shape[i] == 0) return;
  }
  const int64_t item = ItemSize(target.dtype);
  if (loop.ndim == 0) return CopyItems(item, to, item, from, item, 1);
  const int inner = loop.ndim - 1;
  int64_t index[MXACC_MAX_DIMS] = {};
  while (true) {
    CopyItems(item, to, loop.to[inner], from, loop.from[inner], loop.shape[inner]);
    int axis = inner - 1;
    for (; axis >= 0; --axis) {
      to += loop.to[axis];
      from += loop.from[axis];
      if (++index[axis] < loop.shape[axis]) break;
      to -= loop.to[axis] * loop.shape[axis];
      from -= loop.from[axis] * loop.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
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

}  // namespace refacc
