#include "movement.h"

#include <string>
#include <utility>

#include "../status.h"

namespace mxacc {
namespace {

/*! \brief The input in row-major order, as elements that lie step apart. */
Axes InOrder(const MXAccDLTensor& input, int64_t step) {
  Axes axes(2);
  axes.shape.assign(input.shape, input.shape + input.ndim);
  axes.strides[1].assign(input.strides, input.strides + input.ndim);
  axes.strides[0].resize(axes.shape.size());
  for (size_t i = axes.shape.size(); i-- > 0;) {
    axes.strides[0][i] = step;
    step *= axes.shape[i];
  }
  return axes;
}

void CheckInputs(const Request& request, const std::string& param) {
  for (int i = 0; i < request.num_in(); ++i) {
    const std::string name = param + "[" + std::to_string(i) + "]";
    if (request.FindInput(name.c_str()) != &request.input(i)) {
      Unsupported(request.name() + " of what are not all arrays");
    }
    if (!SameType(request.input(i).dtype, request.output().dtype)) {
      Unsupported(request.name() + " of several types");
    }
  }
}

std::vector<Movement> FindReshape(const Request& request) {
  const MXAccDLTensor& out = request.output();
  const MXAccDLTensor* a = request.num_in() == 1 ? request.FindInput("a") : nullptr;
  if (a == nullptr) Unsupported(request.name() + " of what is not one array");
  Axes axes = InOrder(*a, 1);
  int64_t count = 1;
  for (int32_t i = 0; i < out.ndim; ++i) count *= out.shape[i];
  if (!SameType(a->dtype, out.dtype) || !IsRowMajor(out) || axes.count() != count) {
    Unsupported(request.name() + " into another type or size, or what is not row-major");
  }
  std::vector<Movement> parts;
  parts.push_back({std::move(axes), 0});
  return parts;
}

/*! \brief The attribute axis among ndim; kMXAccUnsupported where it is not one of them. */
int32_t AxisOf(const Request& request, int32_t ndim) {
  const std::optional<AttributeValue> value = request.Attribute("axis");
  const bool is_int = value && value->kind == AttributeValue::Kind::kInt;
  const int64_t axis = !is_int ? ndim : value->integer < 0 ? value->integer + ndim : value->integer;
  if (axis < 0 || axis >= ndim) Unsupported(request.name() + " along an axis that there is not");
  return static_cast<int32_t>(axis);
}

/*! \brief Collects parts of the output, one behind the other along an axis. */
class Joined {
 public:
  Joined(const Request& request, int32_t axis) : request_(request), axis_(axis) {}

  /*! \brief Adds a part of that extent along the axis. */
  void Add(Axes axes, int64_t extent) {
    parts_.push_back({std::move(axes), end_ * request_.output().strides[axis_]});
    end_ += extent;
  }
  std::vector<Movement> Finish() {
    if (end_ != request_.output().shape[axis_]) Reject();
    return std::move(parts_);
  }
  /*! \brief The axes of an input that has all axes of the output but skipped. */
  Axes AxesOf(const MXAccDLTensor& input, int32_t skipped) const {
    const MXAccDLTensor& out = request_.output();
    Axes axes(2);
    int32_t at = 0;
    if (input.ndim != out.ndim - (skipped < 0 ? 0 : 1)) Reject();
    for (int32_t i = 0; i < out.ndim; ++i) {
      if (i == skipped) continue;
      if (i != axis_ && input.shape[at] != out.shape[i]) Reject();
      axes.Add(input.shape[at], {out.strides[i], input.strides[at]});
      ++at;
    }
    return axes;
  }

 private:
  [[noreturn]] void Reject() const {
    Unsupported(request_.name() + " of shapes that do not go together");
  }

  const Request& request_;
  const int32_t axis_;
  int64_t end_{0};
  std::vector<Movement> parts_;
};

std::vector<Movement> FindConcatenate(const Request& request) {
  CheckInputs(request, "seq");
  const MXAccDLTensor& out = request.output();
  const bool flat = request.IsNull("axis");
  if (flat && out.ndim != 1) Unsupported("concatenate into an output of another shape");
  const int32_t axis = flat ? 0 : AxisOf(request, out.ndim);
  Joined joined(request, axis);
  for (int i = 0; i < request.num_in(); ++i) {
    const MXAccDLTensor& input = request.input(i);
    if (flat) {
      Axes axes = InOrder(input, out.strides[0]);
      const int64_t count = axes.count();
      joined.Add(std::move(axes), count);
    } else {
      joined.Add(joined.AxesOf(input, -1), input.shape[axis]);
    }
  }
  return joined.Finish();
}

std::vector<Movement> FindStack(const Request& request) {
  CheckInputs(request, "arrays");
  const int32_t axis = AxisOf(request, request.output().ndim);
  Joined joined(request, axis);
  for (int i = 0; i < request.num_in(); ++i) {
    joined.Add(joined.AxesOf(request.input(i), axis), 1);
  }
  return joined.Finish();
}

}  // namespace

std::optional<std::vector<Movement>> FindMovements(const Request& request) {
  const std::string name = request.name();
  if (name == "concatenate") return FindConcatenate(request);
  if (name == "stack") return FindStack(request);
  if (name == "reshape" || name == "ravel" || name == "flatten") return FindReshape(request);
  return std::nullopt;
}

}  // namespace mxacc
