#include "elementwise.h"

#include <algorithm>

namespace opencl {
namespace {

constexpr size_t kMaxOperands = Layout::kMaxTensors - 1;

/*! \brief The axes of the output with the strides of what broadcasts to it. */
Axes BroadcastAxes(const MXAccGeometry& output, const std::vector<const MXAccGeometry*>& inputs) {
  Axes axes(1 + inputs.size());
  axes.shape.assign(output.shape, output.shape + output.ndim);
  axes.strides[0].assign(output.strides, output.strides + output.ndim);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const MXAccGeometry& input = *inputs[i];
    std::vector<int64_t>& strides = axes.strides[1 + i];
    strides.assign(axes.shape.size(), 0);
    const int32_t offset = output.ndim - input.ndim;
    for (int32_t axis = 0; axis < input.ndim; ++axis) {
      const int64_t extent = input.shape[axis];
      const bool fits = offset >= 0 && (extent == 1 || extent == output.shape[offset + axis]);
      if (!fits) {
        Unsupported(GeometryText(input) + " does not broadcast to " + GeometryText(output));
      }
      if (extent != 1) strides[static_cast<size_t>(offset + axis)] = input.strides[axis];
    }
  }
  return axes;
}

class FormulaWork : public Work {
 public:
  FormulaWork(const Request& request, const std::vector<Operand>& operands, const Formula& formula);
  void Run(Commands* commands, const Place* places) override;
  bool in_place() const override { return true; }

 private:
  /*! \brief An operand as the kernel gets it. */
  struct Argument {
    int input; /*!< its place among the inputs; -1 for a number */
    std::optional<Scalar> scalar;
  };
  enum class Access { kDense, kSingle, kStrided };

  Access AccessOf(int tensor) const;
  bool IsStrided() const;
  std::string Source(const std::vector<Operand>& operands, const Formula& formula) const;

  const int output_; /*!< its place */
  int64_t count_;
  Layout layout_{};
  std::vector<Argument> arguments_;
  std::mutex mutex_;
  Kernel kernel_;
};

FormulaWork::FormulaWork(const Request& request, const std::vector<Operand>& operands,
                         const Formula& formula)
    : output_(request.num_in()) {
  if (operands.size() > kMaxOperands) Unsupported("more operands than a kernel takes");
  request.CheckOutput(formula.result);
  request.CheckDevice({formula.result});
  std::vector<const MXAccGeometry*> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    request.CheckDevice({formula.dtypes[i]});
    if (operand.input == nullptr) {
      arguments_.push_back({-1, Scalar(operand.number, formula.dtypes[i])});
      continue;
    }
    request.CheckDevice({operand.dtype});
    arguments_.push_back({request.IndexOf(*operand.input), std::nullopt});
    inputs.push_back(operand.input);
  }
  const Axes axes = BroadcastAxes(request.output(), inputs);
  count_ = axes.count();
  if (count_ == 0) return;
  layout_ = LayoutOf(axes);
  kernel_ = request.device().programs().Make(Source(operands, formula), "compute");
}

FormulaWork::Access FormulaWork::AccessOf(int tensor) const {
  if (layout_.IsSingle(tensor)) return Access::kSingle;
  return layout_.IsDense(tensor) ? Access::kDense : Access::kStrided;
}

bool FormulaWork::IsStrided() const {
  int tensor = 0;
  if (AccessOf(tensor++) == Access::kStrided) return true;
  for (const Argument& argument : arguments_) {
    if (argument.input >= 0 && AccessOf(tensor++) == Access::kStrided) return true;
  }
  return false;
}

std::string FormulaWork::Source(const std::vector<Operand>& operands,
                                const Formula& formula) const {
  static const char* const kNames[kMaxOperands] = {"a", "b", "c"};
  const bool strided = IsStrided();
  bool with_double = formula.result == DType::kFloat64;
  std::string parameters =
      std::string("__global ") + ElementType(formula.result) + "* out, long at_out";
  std::string steps = "  at_out += (position) * at.strides[0][axis];";
  std::string dense = AccessOf(0) == Access::kDense ? "  at_out += i;\n" : "";
  std::string loads;
  int tensor = 1;
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::string name = kNames[k];
    const DType dtype = formula.dtypes[k];
    std::string value;
    with_double |= dtype == DType::kFloat64;
    if (operands[k].input == nullptr) {
      const Scalar& scalar = *arguments_[k].scalar;
      parameters += std::string(", const ") + scalar.type() + " number_" + name;
      value = scalar.Text("number_" + name);
    } else {
      const DType stored = operands[k].dtype;
      with_double |= stored == DType::kFloat64;
      parameters += std::string(", __global const ") + ElementType(stored) + "* in_" + name +
                    ", long at_" + name;
      steps += " at_" + name + " += (position) * at.strides[" + std::to_string(tensor) + "][axis];";
      if (AccessOf(tensor++) == Access::kDense) dense += "  at_" + name + " += i;\n";
      value = Convert(stored, dtype, Load(stored, "in_" + name, "at_" + name));
    }
    loads += std::string("  const ") + ComputeType(dtype) + " " + name + " = " + value + ";\n";
  }
  std::string source = ElementSource(with_double);
  if (!formula.dtypes.empty()) {
    const DType dtype = formula.dtypes.back();
    source += std::string("#define C ") + ComputeType(dtype) + "\n";
    if (!IsFloat(dtype)) {
      source += std::string("#define W ") + WrappingType(dtype) + "\n#define U " +
                UnsignedType(dtype) + "\n#define BITS " + std::to_string(BitsOf(dtype)) + "\n";
    }
  }
  source += formula.helper;
  if (strided) source += kLayoutSource;
  source += "__kernel void compute(const long count, " +
            std::string(strided ? "const Layout at, " : "") + parameters + ") {\n" +
            "  const long i = get_global_id(0);\n  if (i >= count) return;\n";
  if (strided) {
    source += "#define STEP(position, axis) " + steps + "\n  ADVANCE(at, i, STEP);\n";
  } else {
    source += dense;
  }
  source += loads + "  const " + ComputeType(formula.result) + " result = " + formula.text +
            ";\n  " + Store(formula.result, "result", "out", "at_out") + "\n}\n";
  return source;
}

void FormulaWork::Run(Commands* commands, const Place* places) {
  if (count_ == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const cl_kernel kernel = kernel_.get();
  cl_uint index = 0;
  const auto set = [&](const auto& value) {
    Check(clSetKernelArg(kernel, index++, sizeof(value), &value), "clSetKernelArg");
  };
  const auto set_place = [&](const Place& place) {
    set(place.buffer);
    set(place.first);
  };
  set(count_);
  if (IsStrided()) set(layout_);
  set_place(places[output_]);
  for (const Argument& argument : arguments_) {
    if (argument.scalar) {
      argument.scalar->SetArgument(kernel, index++);
    } else {
      set_place(places[argument.input]);
    }
  }
  commands->Launch(kernel, count_);
}

}  // namespace

Operand FindOperand(const Request& request, const char* name) {
  const MXAccGeometry* input = request.FindInput(name);
  if (input != nullptr) return {input, {}, DTypeOf(input->dtype)};
  std::optional<JsonValue> value = request.Attribute(name);
  if (!value || !IsNumber(*value)) {
    Unsupported(request.name() + " with a '" + name + "' that is neither an array nor a number");
  }
  return {nullptr, *std::move(value), DType::kBool};
}

std::unique_ptr<Work> MakeFormula(const Request& request, const std::vector<Operand>& operands,
                                  const Formula& formula) {
  return std::make_unique<FormulaWork>(request, operands, formula);
}

}  // namespace opencl
