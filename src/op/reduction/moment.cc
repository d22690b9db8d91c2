/*!
 * \file moment.cc
 * \brief mean, var, std.
 */
#include <cmath>

#include "op/reduction/reduce.h"
#include "op/schema/describe.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief |x - mean|**2, a real number. */
struct SquaredDifference {
  template <typename T>
  static auto Apply(T x, T mean) {
    using formulas::square;
    const T difference = formulas::subtract::Apply(x, mean);
    if constexpr (kIsComplexType<T>) {
      return square::Apply(difference.real()) + square::Apply(difference.imag());
    } else {
      return square::Apply(difference);
    }
  }
};

const LoopTable kSquaredDifferenceLoops =
    BinaryLoops<SquaredDifference, TypeList<float, double>, ComplexTypes>();

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
void DivideBy(const DLTensor& array, double divisor) {
  const int64_t size = TensorSize(array);
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      T* x = static_cast<T*>(TensorData(array));
      for (int64_t i = 0; i < size; ++i) x[i] /= static_cast<T>(divisor);
    } else if constexpr (kIsComplexType<T>) {
      using Part = typename T::value_type;
      Part* x = static_cast<Part*>(TensorData(array));
      for (int64_t i = 0; i < 2 * size; ++i) x[i] /= static_cast<Part>(divisor);
    }
  });
}

void SquareRoot(const DLTensor& array) {
  const int64_t size = TensorSize(array);
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      T* x = static_cast<T*>(TensorData(array));
      for (int64_t i = 0; i < size; ++i) x[i] = std::sqrt(x[i]);
    }
  });
}

/*! \brief The mean in the type it is computed in. */
NDArray Mean(const Reduction& r, DLDataType dtype, ShapeView shape) {
  NDArray mean = Reduce(kSumTable, r, dtype, shape);
  DivideBy(mean.tensor(), static_cast<double>(r.count()));
  return mean;
}

/*! \brief What the squared differences from the mean are made of. */
class SquaredDifferences final : public BlockReader {
 public:
  /*! \brief The elements are of type `compute` once `reader`, if there is one, has made them. */
  SquaredDifferences(const BlockReader* reader, const NDArray& mean)
      : reader_(reader),
        mean_(mean.data_as<char>()),
        item_(ItemSize(mean.dtype())),
        real_item_(ItemSize(RealOfDType(mean.dtype()))),
        loop_(kSquaredDifferenceLoops.loops[IndexOfDType(mean.dtype())]) {}

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

struct MomentAttributes : ReduceAttributes {
  std::optional<DLDataType> dtype;
  double ddof{0};
};

/*! \brief The type of the elements and, but for complex numbers, of the result. */
DLDataType MomentDType(DLDataType elements, const MomentAttributes& attributes) {
  return attributes.dtype.value_or(MeanDType(elements));
}

/*!
 * \brief A tensor of the type that is computed in: the output itself where it is of that type.
 *
 * Finish writes it to the output where it is not.
 */
class ComputedOutput {
 public:
  ComputedOutput(const DLTensor& out, DLDataType dtype) : out_(out), tensor_(out) {
    if (out.dtype == dtype) return;
    own_ = NDArray::Empty(TensorShape(out), dtype);
    tensor_ = own_.tensor();
  }
  const DLTensor& tensor() const noexcept { return tensor_; }
  void Finish() const {
    if (own_.defined()) CopyCast(tensor_, out_);
  }

 private:
  const DLTensor& out_;
  DLTensor tensor_;
  NDArray own_;
};

void InferMean(const InferCall& call, const MomentAttributes& attributes) {
  const DLDataType dtype = MomentDType(call.in[0].dtype, attributes);
  CheckedIndexOfDType(dtype);
  SetReduced(dtype, ShapeOf(call.in[0]), attributes, call.out);
}

void RunMean(const RunCall& call, const MomentAttributes& attributes) {
  const DLTensor& a = call.in[0];
  const DLDataType dtype = MomentDType(a.dtype, attributes);
  const DLDataType compute = ComputeDType(dtype);
  const ConvertedElements elements(a, attributes.dtype ? dtype : compute, compute);
  Reduction r(a, attributes.axis);
  r.set_reader(elements.reader());
  const ComputedOutput mean(call.out[0], kSumTable.results[CheckedIndexOfDType(compute)]);
  ReduceInto(kSumTable, r, compute, mean.tensor());
  DivideBy(mean.tensor(), static_cast<double>(r.count()));
  mean.Finish();
}

void InferVariance(const InferCall& call, const MomentAttributes& attributes) {
  const DLDataType dtype = MomentDType(call.in[0].dtype, attributes);
  CheckedIndexOfDType(dtype);
  SetReduced(RealOfDType(dtype), ShapeOf(call.in[0]), attributes, call.out);
}

template <bool kRoot>
void RunVariance(const RunCall& call, const MomentAttributes& attributes) {
  const DLTensor& a = call.in[0];
  const DLDataType dtype = MomentDType(a.dtype, attributes);
  // As NumPy has it, a real dtype makes the mean real, and not the distance from it.
  const bool real_mean = IsComplexDType(a.dtype) && IsFloatDType(dtype);
  const DLDataType compute = real_mean ? PromoteTypes(a.dtype, dtype) : ComputeDType(dtype);
  const bool at_once = !attributes.dtype || real_mean;
  const ConvertedElements elements(a, at_once ? compute : dtype, compute);
  Reduction r(a, attributes.axis);
  r.set_reader(elements.reader());
  const NDArray mean = Mean(r, compute, TensorShape(call.out[0]));
  if (real_mean) DropImaginary(mean);
  const SquaredDifferences squares(elements.reader(), mean);
  r.set_reader(&squares);
  const DLDataType real = RealOfDType(compute);
  const ComputedOutput variance(call.out[0], kSumTable.results[CheckedIndexOfDType(real)]);
  ReduceInto(kSumTable, r, real, variance.tensor());
  DivideBy(variance.tensor(), std::max(static_cast<double>(r.count()) - attributes.ddof, 0.0));
  if (kRoot) SquareRoot(variance.tensor());
  variance.Finish();
}

#define MXNET_MOMENT_DTYPE_DOC \
  "Type of the elements and the result; float64 for integers and bool, else that of a"

MXNET_REGISTER_OPERATOR("_npi.mean", MomentAttributes)
    .describe(
        "Arithmetic mean of elements over axes. float16 and bfloat16 accumulate in float32. Of no "
        "elements it is NaN.")
    .input("a", "Elements to average.")
    .attribute("axis", &MomentAttributes::axis, nullptr, MXNET_AXIS_DOC)
    .attribute("dtype", &MomentAttributes::dtype, nullptr,
               MXNET_MOMENT_DTYPE_DOC ", or that of out, where it is wider.")
    .out()
    .attribute("keepdims", &MomentAttributes::keepdims, false, MXNET_KEEPDIMS_DOC)
    .types(kMXNetTypesNumbersByDType)
    .properties(kMXNetOpTypeOfOut)
    .release_gil(kReleaseGilBytes)
    .infer(&InferMean)
    .run(&RunMean);

#define MXNET_REGISTER_VARIANCE(Name, Doc, Root)                                         \
  MXNET_REGISTER_OPERATOR("_npi." Name, MomentAttributes)                                \
      .describe(Doc                                                                      \
                " Of complex numbers it is that of the distance from the mean, a real "  \
                "number; with a real dtype, from the mean of the real parts. Of no "     \
                "elements it is NaN.")                                                   \
      .input("a", "Elements.")                                                           \
      .attribute("axis", &MomentAttributes::axis, nullptr, MXNET_AXIS_DOC)               \
      .attribute("dtype", &MomentAttributes::dtype, nullptr, MXNET_MOMENT_DTYPE_DOC ".") \
      .out()                                                                             \
      .attribute("ddof", &MomentAttributes::ddof, 0,                                     \
                 "The divisor is the number of elements less ddof, and no less than 0.") \
      .attribute("keepdims", &MomentAttributes::keepdims, false, MXNET_KEEPDIMS_DOC)     \
      .types(kMXNetTypesNumbersByDType)                                                  \
      .release_gil(kReleaseGilBytes)                                                     \
      .infer(&InferVariance)                                                             \
      .run(&RunVariance<Root>)

MXNET_REGISTER_VARIANCE("var", "Variance of elements over axes.", false);
MXNET_REGISTER_VARIANCE("std", "Standard deviation of elements over axes.", true);

}  // namespace
}  // namespace op
}  // namespace mxnet
