/*!
 * \file np_reduce_moment.cc
 * \brief mean, var, std.
 */
#include <cmath>

#include "api/common/arguments.h"
#include "api/common/describe.h"
#include "api/operator/numpy/np_reduce.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief |x - mean|**2, a real number. */
struct SquaredDeviation {
  template <typename T>
  static auto Apply(T x, T mean) {
    const T deviation = x - mean;
    if constexpr (kIsComplexType<T>) {
      return deviation.real() * deviation.real() + deviation.imag() * deviation.imag();
    } else {
      return deviation * deviation;
    }
  }
};

const LoopTable kDeviationLoops =
    BinaryLoops<SquaredDeviation, TypeList<float, double>, ComplexTypes>();

/*! \brief The type moments are computed in: float64 of integers, float32 of two-byte floats. */
DLDataType ComputeDType(DLDataType dtype) {
  if (IsBoolDType(dtype) || IsIntDType(dtype)) return kFloat64;
  return IsFloatDType(dtype) && dtype.bits == 16 ? kFloat32 : dtype;
}

/*! \brief The type of a mean: float64 of integers, else the same. */
DLDataType MeanDType(DLDataType dtype) {
  return IsBoolDType(dtype) || IsIntDType(dtype) ? kFloat64 : dtype;
}

/*! \brief Divides in place; by zero it gives NaN or infinity. */
void DivideBy(const NDArray& array, double divisor) {
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      T* x = array.data_as<T>();
      for (int64_t i = 0, n = array.size(); i < n; ++i) x[i] /= static_cast<T>(divisor);
    } else if constexpr (kIsComplexType<T>) {
      using Part = typename T::value_type;
      Part* x = array.data_as<Part>();
      for (int64_t i = 0, n = 2 * array.size(); i < n; ++i) x[i] /= static_cast<Part>(divisor);
    }
  });
}

void SquareRoot(const NDArray& array) {
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      T* x = array.data_as<T>();
      for (int64_t i = 0, n = array.size(); i < n; ++i) x[i] = std::sqrt(x[i]);
    }
  });
}

/*! \brief The mean in the type it is computed in. */
NDArray Mean(const Reduction& r, DLDataType dtype, ShapeView shape, Context ctx) {
  NDArray mean = Fold(kSumTable, r, dtype, shape, ctx);
  DivideBy(mean, static_cast<double>(r.count()));
  return mean;
}

/*! \brief What the squares of the deviations from the mean are made of. */
class Deviations final : public BlockReader {
 public:
  /*! \brief The elements are of type `compute` once `reader`, if there is one, has made them. */
  Deviations(const BlockReader* reader, const NDArray& mean)
      : reader_(reader),
        mean_(mean.data_as<char>()),
        item_(ItemSize(mean.dtype())),
        real_item_(ItemSize(RealOfDType(mean.dtype()))),
        loop_(kDeviationLoops.loops[IndexOfDType(mean.dtype())]) {}

  void Read(const char* x, int64_t stride, int64_t n, int64_t result, int64_t step,
            char* out) const override {
    ReadBuffer<Complex128> buffer;
    if (reader_ != nullptr) {
      reader_->Read(x, stride, n, result, step, buffer.bytes);
      x = buffer.bytes;
      stride = item_;
    }
    char* const data[3] = {out, const_cast<char*>(x), mean_ + result * item_};
    const int64_t strides[3] = {real_item_, stride, step * item_};
    loop_(data, strides, n);
  }

 private:
  const BlockReader* reader_;
  char* mean_;
  int64_t item_;
  int64_t real_item_;
  InnerLoop loop_;
};

/*! \brief Leaves the real parts of complex numbers. */
void DropImaginary(const NDArray& array) {
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplexType<T>) {
      T* x = array.data_as<T>();
      for (int64_t i = 0, n = array.size(); i < n; ++i) x[i] = x[i].real();
    }
  });
}

NDArray Cast(NDArray array, DLDataType dtype) {
  return array.dtype() == dtype ? array : AsType(array.tensor(), dtype);
}

/*! \brief Body with arguments a, axis, dtype, out, keepdims. */
void RunMean(const MXNetArgs& args, MXNetRetValue* ret) {
  Operand a(args[0]);
  const DLDataType dtype = DTypeOr(args[2], MeanDType(a.dtype()));
  const DLDataType compute = ComputeDType(dtype);
  const ConvertedElements elements(&a, args[2].is_null() ? compute : dtype, compute);
  Reduction r(elements.tensor(), args[1], ToFlag(args[4]));
  r.set_reader(elements.reader());
  AnnounceResult(r.out_shape(), dtype, a.ctx());
  ReturnInto(Cast(Mean(r, compute, r.out_shape(), a.ctx()), dtype), args[3], ret);
}

/*! \brief Body with arguments a, axis, dtype, out, ddof, keepdims. */
void RunVariance(bool root, const MXNetArgs& args, MXNetRetValue* ret) {
  Operand a(args[0]);
  const auto ddof = args[4].As<double>();
  const DLDataType dtype = DTypeOr(args[2], MeanDType(a.dtype()));
  // As NumPy has it, a real dtype makes the mean real, and not the distance from it.
  const bool real_mean = IsComplexDType(a.dtype()) && IsFloatDType(dtype);
  const DLDataType compute = real_mean ? PromoteTypes(a.dtype(), dtype) : ComputeDType(dtype);
  const bool at_once = args[2].is_null() || real_mean;
  const ConvertedElements elements(&a, at_once ? compute : dtype, compute);
  Reduction r(elements.tensor(), args[1], ToFlag(args[5]));
  r.set_reader(elements.reader());
  AnnounceResult(r.out_shape(), RealOfDType(dtype), a.ctx());
  const NDArray mean = Mean(r, compute, r.out_shape(), a.ctx());
  if (real_mean) DropImaginary(mean);
  const Deviations squares(elements.reader(), mean);
  r.set_reader(&squares);
  NDArray variance = Fold(kSumTable, r, RealOfDType(compute), r.out_shape(), a.ctx());
  DivideBy(variance, std::max(static_cast<double>(r.count()) - ddof, 0.0));
  if (root) SquareRoot(variance);
  ReturnInto(Cast(std::move(variance), RealOfDType(dtype)), args[3], ret);
}

constexpr char kMomentDTypeDoc[] =
    "Type of the elements and the result; float64 for integers and bool, else that of a.";

MXNET_REGISTER_OP("_npi.mean")
    .describe(
        "Arithmetic mean of elements over axes. float16 and bfloat16 accumulate in float32. Of no "
        "elements it is NaN.")
    .add_argument("a", kArrayType, "Elements to average.")
    .add_argument("axis", kOptionalAxesType, nullptr, MXNET_AXIS_DOC)
    .add_argument("dtype", kDTypeType, nullptr, kMomentDTypeDoc)
    .add_argument("out", "ndarray | None", nullptr, MXNET_OUT_DOC)
    .written()
    .add_argument("keepdims", "bool", false, MXNET_KEEPDIMS_DOC)
    .release_gil(kReleaseGilBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { RunMean(args, ret); });

#define MXNET_REGISTER_VARIANCE(Name, Doc, Root)                                            \
  MXNET_REGISTER_OP("_npi." Name)                                                           \
      .describe(Doc                                                                         \
                " Of complex numbers it is that of the distance from the mean, a real "     \
                "number; with a real dtype, from the mean of the real parts. Of no "        \
                "elements it is NaN.")                                                      \
      .add_argument("a", kArrayType, "Elements.")                                           \
      .add_argument("axis", kOptionalAxesType, nullptr, MXNET_AXIS_DOC)                     \
      .add_argument("dtype", kDTypeType, nullptr, kMomentDTypeDoc)                          \
      .add_argument("out", "ndarray | None", nullptr, MXNET_OUT_DOC)                        \
      .written()                                                                            \
      .add_argument("ddof", "int | float", 0,                                               \
                    "The divisor is the number of elements less ddof, and no less than 0.") \
      .add_argument("keepdims", "bool", false, MXNET_KEEPDIMS_DOC)                          \
      .release_gil(kReleaseGilBytes)                                                        \
      .set_body([](MXNetArgs args, MXNetRetValue* ret) { RunVariance(Root, args, ret); })

MXNET_REGISTER_VARIANCE("var", "Variance of elements over axes.", false);
MXNET_REGISTER_VARIANCE("std", "Standard deviation of elements over axes.", true);

}  // namespace
}  // namespace op
}  // namespace mxnet
