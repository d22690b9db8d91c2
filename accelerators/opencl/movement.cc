/*!
 * \file movement.cc
 * \brief Operators that copy elements as they are, of any type, to other places.
 */
#include "executor.h"

namespace opencl {
namespace {

/*! \brief Copies each input to its part of the output. */
class CopyWork : public Work {
 public:
  struct Part {
    Axes axes{2};  /*!< of the output and the input */
    int64_t first; /*!< of the output, in elements */
  };

  CopyWork(const Request& request, std::vector<Part> parts)
      : item_(ItemSize(request.output().dtype)), parts_(std::move(parts)) {}

  void Run(Commands* commands, const Place* places) override {
    const Place& out = places[parts_.size()];
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Place target{out.buffer, out.first + parts_[i].first};
      CopyOnDevice(commands, item_, parts_[i].axes, target, places[i]);
    }
  }

 private:
  const int64_t item_;
  const std::vector<Part> parts_;
};

/*! \brief The input in row-major order, as elements that lie step apart. */
Axes InOrder(const MXAccGeometry& input, int64_t step) {
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

std::unique_ptr<Work> MakeReshape(const Request& request) {
  const MXAccGeometry& out = request.output();
  const MXAccGeometry* a = request.num_in() == 1 ? request.FindInput("a") : nullptr;
  if (a == nullptr) Unsupported(request.name() + " of what is not one array");
  Axes axes = InOrder(*a, 1);
  int64_t count = 1;
  for (int32_t i = 0; i < out.ndim; ++i) count *= out.shape[i];
  if (!SameType(a->dtype, out.dtype) || !IsRowMajor(out) || axes.count() != count) {
    Unsupported(request.name() + " into another type or size, or what is not row-major");
  }
  std::vector<CopyWork::Part> parts;
  parts.push_back({std::move(axes), 0});
  return std::make_unique<CopyWork>(request, std::move(parts));
}

/*! \brief The attribute axis among ndim; kMXAccUnsupported where it is not one of them. */
int32_t AxisOf(const Request& request, int32_t ndim) {
  const std::optional<JsonValue> value = request.Attribute("axis");
  const bool is_int = value && value->kind == JsonValue::Kind::kInt;
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
  std::unique_ptr<Work> Finish() {
    if (end_ != request_.output().shape[axis_]) Refuse();
    return std::make_unique<CopyWork>(request_, std::move(parts_));
  }
  /*! \brief The axes of an input that has all axes of the output but skipped. */
  Axes AxesOf(const MXAccGeometry& input, int32_t skipped) const {
    const MXAccGeometry& out = request_.output();
    Axes axes(2);
    int32_t at = 0;
    if (input.ndim != out.ndim - (skipped < 0 ? 0 : 1)) Refuse();
    for (int32_t i = 0; i < out.ndim; ++i) {
      if (i == skipped) continue;
      if (i != axis_ && input.shape[at] != out.shape[i]) Refuse();
      axes.Add(input.shape[at], {out.strides[i], input.strides[at]});
      ++at;
    }
    return axes;
  }

 private:
  [[noreturn]] void Refuse() const {
    Unsupported(request_.name() + " of shapes that do not go together");
  }

  const Request& request_;
  const int32_t axis_;
  int64_t end_{0};
  std::vector<CopyWork::Part> parts_;
};

std::unique_ptr<Work> MakeConcatenate(const Request& request) {
  CheckInputs(request, "seq");
  const MXAccGeometry& out = request.output();
  const bool flat = request.IsNull("axis");
  if (flat && out.ndim != 1) Unsupported("concatenate into an output of another shape");
  const int32_t axis = flat ? 0 : AxisOf(request, out.ndim);
  Joined joined(request, axis);
  for (int i = 0; i < request.num_in(); ++i) {
    const MXAccGeometry& input = request.input(i);
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

std::unique_ptr<Work> MakeStack(const Request& request) {
  CheckInputs(request, "arrays");
  const int32_t axis = AxisOf(request, request.output().ndim);
  Joined joined(request, axis);
  for (int i = 0; i < request.num_in(); ++i) {
    joined.Add(joined.AxesOf(request.input(i), axis), 1);
  }
  return joined.Finish();
}

}  // namespace

std::unique_ptr<Work> MakeMovement(const Request& request) {
  const std::string name = request.name();
  if (name == "concatenate") return MakeConcatenate(request);
  if (name == "stack") return MakeStack(request);
  if (name == "reshape" || name == "ravel" || name == "flatten") return MakeReshape(request);
  return nullptr;
}

}  // namespace opencl
