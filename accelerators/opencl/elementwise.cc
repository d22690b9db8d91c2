#include "elementwise.h"

#include <mutex>
#include <optional>

#include "scalar.h"
#include "work.h"

namespace opencl {
namespace {

class FormulaWork : public Work {
 public:
  FormulaWork(const Request& request, const Elementwise& formula);
  void Run(Commands* commands, const Location* locations) override;
  bool in_place() const override { return true; }

 private:
  /*! \brief An operand as the kernel gets it. */
  struct Argument {
    int input; /*!< its position among the inputs; -1 for a number */
    std::optional<Scalar> scalar;
  };
  enum class Access { kDense, kSingle, kStrided };

  Access AccessOf(int tensor) const;
  bool IsStrided() const;
  std::string Source(const Elementwise& formula) const;

  const int output_; /*!< its position */
  int64_t count_;
  Layout layout_{};
  std::vector<Argument> arguments_;
  std::mutex mutex_;
  Kernel kernel_;
};

FormulaWork::FormulaWork(const Request& request, const Elementwise& formula)
    : output_(request.num_in()) {
  request.CheckOutput(formula.result);
  request.CheckDevice({formula.result});
  for (size_t i = 0; i < formula.operands.size(); ++i) {
    const Operand& operand = formula.operands[i];
    request.CheckDevice({formula.dtypes[i]});
    if (operand.input == nullptr) {
      arguments_.push_back({-1, Scalar(operand.number, formula.dtypes[i])});
      continue;
    }
    request.CheckDevice({operand.dtype});
    arguments_.push_back({request.IndexOf(*operand.input), std::nullopt});
  }
  const Axes axes = BroadcastAxes(request, formula.operands);
  count_ = axes.count();
  if (count_ == 0) return;
  layout_ = LayoutOf(axes);
  kernel_ = request.device().programs().Make(Source(formula), "compute");
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

std::string FormulaWork::Source(const Elementwise& formula) const {
  const std::vector<Operand>& operands = formula.operands;
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
  if (!formula.dtypes.empty()) source += FormulaTypes(formula.dtypes.back());
  source += HelperText(formula.formula);
  if (strided) source += kLayoutSource;
  source += "__kernel void compute(const long count, " +
            std::string(strided ? "const Layout at, " : "") + parameters + ") {\n" +
            "  const long i = get_global_id(0);\n  if (i >= count) return;\n";
  if (strided) {
    source += "#define STEP(position, axis) " + steps + "\n  ADVANCE(at, i, STEP);\n";
  } else {
    source += dense;
  }
  source += loads + "  const " + ComputeType(formula.result) +
            " result = " + FormulaText(formula.formula) + ";\n  " +
            Store(formula.result, "result", "out", "at_out") + "\n}\n";
  return source;
}

void FormulaWork::Run(Commands* commands, const Location* locations) {
  if (count_ == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const cl_kernel kernel = kernel_.get();
  cl_uint index = 0;
  const auto set = [&](const auto& value) {
    Check(clSetKernelArg(kernel, index++, sizeof(value), &value), "clSetKernelArg");
  };
  const auto set_location = [&](const Location& location) {
    set(location.buffer);
    set(location.first);
  };
  set(count_);
  if (IsStrided()) set(layout_);
  set_location(locations[output_]);
  for (const Argument& argument : arguments_) {
    if (argument.scalar) {
      argument.scalar->SetArgument(kernel, index++);
    } else {
      set_location(locations[argument.input]);
    }
  }
  commands->Launch(kernel, count_);
}

}  // namespace

std::unique_ptr<Work> MakeElementwise(const Request& request) {
  const std::optional<Elementwise> found = FindElementwise(request);
  if (!found) return nullptr;
  if (found->operands.empty()) return std::make_unique<NoWork<Commands, Location>>();
  return std::make_unique<FormulaWork>(request, *found);
}

}  // namespace opencl
