/*!
 * \file softmax.cc
 * \brief softmax and log_softmax.
 */
#include "op/neural/softmax.h"

#include <mxnet/op/operator.h>

#include <algorithm>
#include <cmath>

#include "op/kernels/softmax/softmax_loops.h"
#include "op/parallel/parallel.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief What data is divided by. */
struct Temperature {
  double value{1};
};

}  // namespace

template <>
struct AttributeTraits<Temperature> {
  static constexpr ParamType kType{"float | None", kMXNetRoleAttribute};
  static Temperature Read(const MXNetArgValue& arg, MXNetFunctionHandle, int) {
    return arg.is_null() ? Temperature() : Temperature{arg.As<double>()};
  }
};

namespace {

struct SoftmaxAttributes {
  Axis axis;
  Temperature temperature;
  std::optional<DLDataType> dtype;
};

/*! \brief The type of the result; TypeError where `dtype` or the data is none it can be of. */
DLDataType ResultDType(const MXNetTensorSpec& data, const SoftmaxAttributes& attributes) {
  if (IsComplexDType(data.given)) {
    MXNET_THROW("TypeError") << "not supported for data type " << DataTypeName(data.given);
  }
  if (!attributes.dtype) return IsFloatDType(data.dtype) ? data.dtype : kFloat32;
  CheckedIndexOfDType(*attributes.dtype);
  if (!IsFloatDType(*attributes.dtype)) {
    MXNET_THROW("TypeError") << "argument 3 ('dtype') expected a floating point type, got "
                             << DataTypeName(*attributes.dtype);
  }
  return *attributes.dtype;
}

/*! \brief The axis. Data without axes counts as having one, of one element. */
int AxisOf(const SoftmaxAttributes& attributes, int ndim) {
  return NormalizeAxis(attributes.axis.value, std::max(ndim, 1));
}

/*! \brief Checks the temperature, which computing in T must not take for 0 or infinity. */
template <typename T>
void CheckTemperature(double given) {
  const T temperature = static_cast<T>(given);
  if (!std::isfinite(temperature) || temperature == 0) {
    MXNET_THROW("ValueError") << "argument 2 ('temperature') expected a finite number other than 0 "
                              << "in " << DataTypeName(DTypeOf<T>()) << ", got " << given;
  }
}

/*! \brief Row-major numbers as so many blocks of `length` along the axis times `inner`. */
struct Blocks {
  Blocks(ShapeView shape, int axis) {
    for (int d = 0; d < shape.ndim(); ++d) {
      int64_t& factor = d < axis ? count : d == axis ? length : inner;
      factor *= shape[static_cast<size_t>(d)];
    }
  }
  int64_t size() const { return length * inner; }

  int64_t count{1};
  int64_t length{1};
  int64_t inner{1};
};

/*! \brief Blocks on several threads where they are many; columns of few large ones stay on one. */
template <typename T>
void RunBlocks(const SoftmaxRule<T>& rule, const Blocks& blocks, const T* x, T* out,
               int64_t count) {
  const int64_t size = blocks.size();
  const auto run = [&](int64_t begin, int64_t end) {
    const T* from = x + begin * size;
    T* to = out + begin * size;
    if (blocks.inner == 1) return SoftmaxLines(rule, from, to, end - begin, blocks.length);
    for (; begin < end; ++begin, from += size, to += size) {
      SoftmaxColumns(rule, from, to, blocks.length, blocks.inner);
    }
  };
  if (count * size < kFewForThreads) return run(0, count);
  InParallel(count, kElementsTimed / size + 1, run);
}

/*! \brief Converts elements that lie one after the other. */
void CastRun(const char* from, DLDataType from_type, char* to, DLDataType to_type, int64_t n) {
  char* const data[2] = {to, const_cast<char*>(from)};
  const int64_t strides[2] = {ItemSize(to_type), ItemSize(from_type)};
  CastLoop(IndexOfDType(from_type), IndexOfDType(to_type))(data, strides, n);
}

/*! \brief Of row-major elements of any type: some blocks at a time are computed with as T. */
template <typename T>
void RunConverted(const SoftmaxRule<T>& rule, const Blocks& blocks, const DLTensor& x,
                  const DLTensor& out) {
  constexpr int64_t kElements = 1 << 13;
  const int64_t most = std::min(blocks.count, std::max<int64_t>(kElements / blocks.size(), 1));
  const NDArray room = NDArray::Empty(Shape{most * blocks.size()}, DTypeOf<T>());
  auto* numbers = room.data_as<T>();
  auto* from = static_cast<const char*>(TensorData(x));
  auto* to = static_cast<char*>(TensorData(out));
  for (int64_t done = 0; done < blocks.count; done += most) {
    const int64_t count = std::min(most, blocks.count - done);
    const int64_t n = count * blocks.size();
    CastRun(from, x.dtype, room.data_as<char>(), DTypeOf<T>(), n);
    RunBlocks(rule, blocks, numbers, numbers, count);
    CastRun(room.data_as<char>(), DTypeOf<T>(), to, out.dtype, n);
    from += n * ItemSize(x.dtype);
    to += n * ItemSize(out.dtype);
  }
}

template <typename T>
void Softmax(const SoftmaxRule<T>& rule, const DLTensor& x, int axis, const DLTensor& out) {
  if (TensorSize(out) == 0) return;
  const Blocks blocks(TensorShape(x), axis);
  auto* to = static_cast<T*>(TensorData(out));
  if (out.dtype != DTypeOf<T>()) {
    const NDArray copy = IsContiguous(x) ? NDArray() : Contiguous(x);
    RunConverted(rule, blocks, copy.defined() ? copy.tensor() : x, out);
  } else if (x.dtype == out.dtype && IsContiguous(x)) {
    RunBlocks(rule, blocks, static_cast<const T*>(TensorData(x)), to, blocks.count);
  } else {
    CopyCast(x, out);
    RunBlocks(rule, blocks, to, to, blocks.count);
  }
}

}  // namespace

void SoftmaxInto(bool log, double temperature, const DLTensor& x, int axis, const DLTensor& out) {
  if (out.dtype == kFloat64) {
    Softmax(SoftmaxRule<double>{log, temperature}, x, axis, out);
  } else {
    Softmax(SoftmaxRule<float>{log, static_cast<float>(temperature)}, x, axis, out);
  }
}

namespace {

void InferSoftmax(const InferCall& call, const SoftmaxAttributes& attributes) {
  AxisOf(attributes, call.in[0].ndim);
  const DLDataType dtype = ResultDType(call.in[0], attributes);
  if (dtype == kFloat64) {
    CheckTemperature<double>(attributes.temperature.value);
  } else {
    CheckTemperature<float>(attributes.temperature.value);
  }
  SetSpec(dtype, ShapeOf(call.in[0]), call.out);
}

template <bool kLog>
void RunSoftmax(const RunCall& call, const SoftmaxAttributes& attributes) {
  const int axis = AxisOf(attributes, call.in[0].ndim);
  SoftmaxInto(kLog, attributes.temperature.value, call.in[0], axis, call.out[0]);
}

#define MXNET_REGISTER_SOFTMAX(Name, Doc, Log)                                                \
  MXNET_REGISTER_OPERATOR("_npx." Name, SoftmaxAttributes)                                    \
      .describe(Doc                                                                           \
                "\n\nThe result has the shape of data and is row-major. All along the axis "  \
                "is NaN where NaN or infinity is among data/temperature, or nothing but "     \
                "-infinity. Raises "                                                          \
                "AxisError for an axis the array has not, TypeError for complex numbers.")    \
      .input("data", "Real numbers.")                                                         \
      .attribute("axis", &SoftmaxAttributes::axis, -1,                                        \
                 "The axis; negative ones count from the back.")                              \
      .attribute("temperature", &SoftmaxAttributes::temperature, nullptr,                     \
                 "What data is divided by first, 1 if None. ValueError for 0, and for "       \
                 "what is not finite.")                                                       \
      .attribute("dtype", &SoftmaxAttributes::dtype, nullptr,                                 \
                 "Type of the result, a floating point type; that of data if None, float32 "  \
                 "for integers and bool. It is what is computed in, float32 for float16 and " \
                 "bfloat16.")                                                                 \
      .release_gil(kReleaseBytes)                                                             \
      .types(kMXNetTypesNumbersByDType)                                                       \
      .infer(&InferSoftmax)                                                                   \
      .run(&RunSoftmax<Log>)

MXNET_REGISTER_SOFTMAX("softmax",
                       "Exponentials along an axis, divided by their sum, so that they add up to "
                       "1.",
                       false);
MXNET_REGISTER_SOFTMAX("log_softmax",
                       "Logarithm of the softmax along an axis, also where the softmax itself is "
                       "too small to be represented.",
                       true);

}  // namespace
}  // namespace op
}  // namespace mxnet
