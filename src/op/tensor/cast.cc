/*!
 * \file cast.cc
 * \brief Copies with conversion, and arrays of arguments.
 */
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

void CheckFits(const DLTensor& src, const DLTensor& dst) {
  const int extra = src.ndim - dst.ndim;
  bool fits = true;
  // Like NumPy's assignment, leading axes of one element do not count.
  for (int d = 0; d < src.ndim; ++d) {
    const int64_t extent = d < extra ? 1 : dst.shape[d - extra];
    fits = fits && (src.shape[d] == 1 || (d >= extra && src.shape[d] == extent));
  }
  if (fits) return;
  MXNET_THROW("ValueError") << "could not broadcast input array from shape "
                            << TensorShape(src).str() << " into shape " << TensorShape(dst).str();
}

/*!
 * \brief Fewer bytes than these are copied, or filled, on the calling thread without asking the
 * time: a byte takes less of it than an element of what kFewForThreads is for.
 */
constexpr int64_t kFewBytesCopied = int64_t{1} << 18;

/*! \brief The copy itself, of tensors known to be fit, apart and suitably aligned. */
void RunCopy(const DLTensor& src, const DLTensor& dst) {
  const InnerLoop loop = CastLoop(CheckedIndexOfDType(src.dtype), CheckedIndexOfDType(dst.dtype));
  DLTensor trimmed = src;
  if (src.ndim > dst.ndim) {
    const int extra = src.ndim - dst.ndim;
    trimmed.ndim = dst.ndim;
    trimmed.shape += extra;
    if (trimmed.strides != nullptr) trimmed.strides += extra;
  }
  StridedLoop<2> walk(TensorShape(dst));
  walk.Set(0, dst);
  walk.Set(1, trimmed);
  const int64_t few_copied = kFewBytesCopied / ItemSize(dst.dtype);
  walk.RunParallel(loop, src.dtype == dst.dtype ? few_copied : kFewForThreads);
}

NDArray NewCopy(const DLTensor& src, DLDataType dtype) {
  CheckHost(src);
  NDArray out = NDArray::Empty(TensorShape(src), dtype, Context{kDLCPU, src.device.device_id});
  CopyCast(src, out.tensor());
  return out;
}

}  // namespace

void CopyCast(const DLTensor& src, const DLTensor& dst) {
  CheckHost(src);
  CheckHost(dst);
  CheckFits(src, dst);
  const bool converts = src.dtype != dst.dtype;
  if (MayOverlap(src, dst)) {
    if (SameElements(src, dst)) return;
    const NDArray copy = NewCopy(src, src.dtype);
    CopyCast(copy.tensor(), dst);
  } else if (converts && !IsAligned(src)) {
    RunCopy(NewCopy(src, src.dtype).tensor(), dst);
  } else if (converts && !IsAligned(dst)) {
    RunCopy(NewCopy(src, dst.dtype).tensor(), dst);
  } else {
    RunCopy(src, dst);
  }
}

NDArray AsType(const DLTensor& src, DLDataType dtype) {
  CheckedIndexOfDType(dtype);
  return NewCopy(src, dtype);
}

NDArray Contiguous(const DLTensor& src) { return NewCopy(src, src.dtype); }

}  // namespace op
}  // namespace mxnet
