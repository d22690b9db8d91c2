/*!
 * \file npx_softmax_op.cc
 * \brief softmax and log_softmax.
 */
#include <cmath>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/operand.h"
#include "api/operator/numpy_extension/kernels/softmax_loops.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The type of the result; TypeError where `dtype` or the data is none it can be of. */
DLDataType ResultDType(const MXNetArgValue& dtype, const Operand& data) {
  if (IsComplexDType(data.dtype())) {
    MXNET_THROW("TypeError") << "not supported for data type " << DataTypeName(data.dtype());
  }
  if (dtype.is_null()) return IsFloatDType(data.dtype()) ? data.dtype() : kFloat32;
  const DLDataType given = DTypeOf(dtype);
  if (!IsFloatDType(given)) {
    MXNET_THROW("TypeError") << dtype.text() << " expected a floating point type, got "
                             << DataTypeName(given);
  }
  return given;
}

/*! \brief The axis. Data without axes counts as having one, of one element. */
int AxisOf(const MXNetArgValue& arg, int ndim) {
  return NormalizeAxis(ToInt(arg), std::max(ndim, 1));
}

/*! \brief The temperature, which computing in T must not take for 0 or infinity. */
template <typename T>
T TemperatureOf(const MXNetArgValue& arg) {
  if (arg.is_null()) return 1;
  const double given = arg.As<double>();
  const T temperature = static_cast<T>(given);
  if (!std::isfinite(temperature) || temperature == 0) {
    MXNET_THROW("ValueError") << arg.text() << " expected a finite number other than 0 in "
                              << DataTypeName(DTypeOf<T>()) << ", got " << given;
  }
  return temperature;
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

template <typename T>
void RunBlocks(const SoftmaxRule<T>& rule, const Blocks& blocks, const T* x, T* out,
               int64_t count) {
  if (blocks.inner == 1) return SoftmaxLines(rule, x, out, count, blocks.length);
  for (int64_t i = 0; i < count; ++i, x += blocks.size(), out += blocks.size()) {
    SoftmaxColumns(rule, x, out, blocks.length, blocks.inner);
  }
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
                  const NDArray& out) {
  constexpr int64_t kElements = 1 << 13;
  const int64_t most = std::min(blocks.count, std::max<int64_t>(kElements / blocks.size(), 1));
  const NDArray room = NDArray::Empty(Shape{most * blocks.size()}, DTypeOf<T>());
  auto* numbers = room.data_as<T>();
  auto* from = static_cast<const char*>(TensorData(x));
  auto* to = out.data_as<char>();
  for (int64_t done = 0; done < blocks.count; done += most) {
    const int64_t count = std::min(most, blocks.count - done);
    const int64_t n = count * blocks.size();
    CastRun(from, x.dtype, room.data_as<char>(), DTypeOf<T>(), n);
    RunBlocks(rule, blocks, numbers, numbers, count);
    CastRun(room.data_as<char>(), DTypeOf<T>(), to, out.dtype(), n);
    from += n * ItemSize(x.dtype);
    to += n * ItemSize(out.dtype());
  }
}

template <typename T>
NDArray Softmax(const SoftmaxRule<T>& rule, Operand* data, int axis, DLDataType dtype) {
  const DLTensor& x = data->is_array() ? data->tensor() : data->TensorAs(dtype);
  NDArray out = NDArray::Empty(TensorShape(x), dtype, x.device);
  if (out.size() == 0) return out;
  const Blocks blocks(TensorShape(x), axis);
  const bool in_place = dtype == DTypeOf<T>();
  if (IsContiguous(x) && !(in_place && x.dtype == dtype)) {
    RunConverted(rule, blocks, x, out);
  } else if (IsContiguous(x)) {
    RunBlocks(rule, blocks, static_cast<const T*>(TensorData(x)), out.data_as<T>(), blocks.count);
  } else if (in_place) {
    CopyCast(x, out.tensor());
    RunBlocks(rule, blocks, out.data_as<T>(), out.data_as<T>(), blocks.count);
  } else {
    RunConverted(rule, blocks, Contiguous(x).tensor(), out);
  }
  return out;
}

/*! \brief Body with arguments data, axis, temperature, dtype. */
void RunSoftmax(bool log, const MXNetArgs& args, MXNetRetValue* ret) {
  Operand data(args[0]);
  const int axis = AxisOf(args[1], data.shape().ndim());
  const DLDataType dtype = ResultDType(args[3], data);
  if (dtype == kFloat64) {
    *ret = Softmax(SoftmaxRule<double>{log, TemperatureOf<double>(args[2])}, &data, axis, dtype);
  } else {
    *ret = Softmax(SoftmaxRule<float>{log, TemperatureOf<float>(args[2])}, &data, axis, dtype);
  }
}

#define MXNET_REGISTER_SOFTMAX(Name, Doc, Log)                                                   \
  MXNET_REGISTER_OP("_npx." Name)                                                                \
      .describe(Doc                                                                              \
                "\n\nThe result has the shape of data and is row-major. All along the axis "     \
                "is NaN where NaN or infinity is among data/temperature, or nothing but "        \
                "-infinity. Raises "                                                             \
                "AxisError for an axis the array has not, TypeError for complex numbers.")       \
      .add_argument("data", kArrayType, "Real numbers.")                                         \
      .add_argument("axis", kAxisType, -1, "The axis; negative ones count from the back.")       \
      .add_argument("temperature", "float | None", nullptr,                                      \
                    "What data is divided by first, 1 if None. ValueError for 0, and for "       \
                    "what is not finite.")                                                       \
      .add_argument("dtype", kDTypeType, nullptr,                                                \
                    "Type of the result, a floating point type; that of data if None, float32 "  \
                    "for integers and bool. It is what is computed in, float32 for float16 and " \
                    "bfloat16.")                                                                 \
      .release_gil(kReleaseBytes)                                                                \
      .set_body([](MXNetArgs args, MXNetRetValue* ret) { RunSoftmax(Log, args, ret); })

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
