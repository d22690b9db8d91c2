#include "softmax.h"

#include <algorithm>
#include <cmath>

#include "../status.h"
#include "number.h"

namespace mxacc {
namespace {

/*! \brief The last axis where none is given; -1 for a number, which has none. */
int32_t AxisOf(const Request& request, int32_t ndim) {
  const std::optional<AttributeValue> axis = request.Attribute("axis");
  const int64_t given = axis ? axis->integer : -1;
  const int64_t axes = ndim == 0 ? 1 : ndim;
  const bool is_int = !axis || axis->kind == AttributeValue::Kind::kInt;
  if (!is_int || given < -axes || given >= axes) {
    Unsupported(request.name() + " along an axis that the array has not");
  }
  return ndim == 0 ? -1 : static_cast<int32_t>(given < 0 ? given + axes : given);
}

void SetTypes(const Request& request, DType data, Softmax* softmax) {
  const std::optional<AttributeValue> dtype = request.Attribute("dtype");
  softmax->stored = dtype ? DTypeOf(dtype->text) : IsFloat(data) ? data : DType::kFloat32;
  if (!IsFloat(softmax->stored)) Unsupported(request.name() + " as integers");
  softmax->dtype = softmax->stored == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

/*! \brief As it is in the type that is computed in. */
double TemperatureOf(const Request& request, DType dtype) {
  const std::optional<AttributeValue> temperature = request.Attribute("temperature");
  if (!temperature) return 1;
  const Number::Value value = Number(*temperature, dtype).value();
  const double real = dtype == DType::kFloat64 ? value.real : value.single;
  if (!std::isfinite(real) || std::fpclassify(real) == FP_ZERO) {
    Unsupported("a temperature of 0 or infinity");
  }
  return real;
}

void SplitAxes(const Request& request, const MXAccDLTensor& data, int32_t axis, Softmax* softmax) {
  const MXAccDLTensor& out = request.output();
  if (out.ndim != data.ndim || !std::equal(out.shape, out.shape + out.ndim, data.shape)) {
    Unsupported(request.name() + " into an output of another shape");
  }
  softmax->length = softmax->outer = softmax->inner = 1;
  for (int32_t i = 0; i < data.ndim; ++i) {
    const int64_t extent = data.shape[i];
    if (i == axis) {
      softmax->length = extent;
      softmax->steps[0] = out.strides[i];
      softmax->steps[1] = data.strides[i];
      continue;
    }
    softmax->rows.Add(extent, {out.strides[i], data.strides[i]});
    (i < axis ? softmax->outer : softmax->inner) *= extent;
  }
}

}  // namespace

std::optional<Softmax> FindSoftmax(const Request& request) {
  const std::string name = request.name();
  const bool is_log = name == "log_softmax";
  if (!is_log && name != "softmax") return std::nullopt;
  request.CheckNames({"data", "axis", "temperature", "dtype"});
  const MXAccDLTensor* data = request.FindInput("data");
  if (data == nullptr) Unsupported(name + " of a number");
  Softmax softmax{};
  softmax.is_log = is_log;
  softmax.input = request.IndexOf(*data);
  SetTypes(request, DTypeOf(data->dtype), &softmax);
  softmax.temperature = TemperatureOf(request, softmax.dtype);
  const int32_t axis = AxisOf(request, data->ndim);
  SplitAxes(request, *data, axis, &softmax);
  request.CheckOutput(softmax.stored);
  return softmax;
}

}  // namespace mxacc
