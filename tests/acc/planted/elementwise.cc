/*!
 * \file elementwise.cc
 * \brief Operators that compute each element of the output from one of each operand.
 */
#include "accelerators/sdk/operators/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accelerators/cuda/kernels/formulas.h"
#include "executor.h"
#include "fault.h"

namespace planted {
namespace {

using mxacc::Elementwise;
using mxacc::Formula;
using mxacc::Number;
using mxacc::Operand;

constexpr const char* kNames[] = {"add",     "subtract", "multiply", "maximum", "less",
                                  "minimum", "negative", "absolute", "exp",     "copy"};
constexpr int64_t kMany = 1 << 16;

Axes AxesOf(const Request& request, const Elementwise& op) {
  Axes axes = mxacc::BroadcastAxes(request, op.operands);
  if (Has("strided out")) {
    int64_t step = 1;
    for (size_t i = axes.shape.size(); i-- > 0; step *= axes.shape[i]) axes.strides[0][i] = step;
  }
  for (int i = 0; i < request.num_in(); ++i) {
    const MXAccDLTensor& input = request.input(i);
    const bool row = input.ndim > 0 && input.ndim < request.output().ndim;
    const bool column = input.ndim > 1 && input.shape[input.ndim - 1] == 1 &&
                        request.output().shape[request.output().ndim - 1] != 1;
    if ((row && Has("rows broadcast")) || (column && Has("columns broadcast"))) {
      auto& strides = axes.strides[static_cast<size_t>(i) + 1];
      std::fill(strides.begin(), strides.end(), 0);
    }
  }
  return axes;
}

class ElementwiseExecutor : public Executor {
 public:
  ElementwiseExecutor(const Request& request, Elementwise op)
      : op_(std::move(op)), axes_(AxesOf(request, op_)), is_add_(request.name() == "add") {
    for (const Operand& operand : op_.operands) {
      if (operand.input != nullptr) continue;
      mxacc::AttributeValue value = operand.number;
      if (Has("numbers without a point") && value.kind == mxacc::AttributeValue::Kind::kInt) {
        value.integer = 1;
      }
      numbers_.emplace_back(value, op_.dtypes.back());
    }
  }

  bool in_place() const override { return true; }

  void Compute(const Slots& slots) override {
    if (Has("five axes crash") && axes_.shape.size() >= 5) {
      *static_cast<volatile int*>(nullptr) = 0;
    }
    cudaacc::WithComputeType(op_.dtypes.back(),
                             [&](auto zero) { ComputeAs<decltype(zero)>(slots); });
  }

 private:
  template <typename C>
  void ComputeAs(const Slots& slots) const {
    const int64_t limit = is_add_ && Has("add beyond 2^16") ? kMany : INT64_MAX;
    const bool by_double = Has("int64 through double");
    const bool changes = Has("inputs are changed");
    int64_t done = 0;
    Walk(axes_, [&](const int64_t* at, const int64_t*) {
      if (done++ >= limit) return false;
      C operands[mxacc::kMaxOperands] = {};
      size_t input = 0;
      size_t number = 0;
      for (size_t k = 0; k < op_.operands.size(); ++k) {
        if (op_.operands[k].input == nullptr) {
          operands[k] = cudaacc::NumberAs<C>(numbers_[number++].value(), op_.dtypes[k]);
        } else {
          operands[k] = cudaacc::Load<C>(slots.all[input], at[input + 1], op_.dtypes[k]);
          ++input;
        }
        if (by_double && !std::is_floating_point_v<C>) {
          operands[k] = static_cast<C>(static_cast<double>(operands[k]) * (1 - 0x1p-53));
        }
      }
      cudaacc::Store(slots.output(), at[0], Result(operands));
      return true;
    });
    if (changes && !slots.in_stream && op_.operands.size() > 1 && done > 0) {
      std::memset(slots.all[0].data, 9, 1);
    }
    if (Has("writing beyond") && done > 0) {
      static_cast<char*>(slots.output().data)[done * BitsOf(slots.output().dtype) / 8] = 9;
    }
  }

  template <typename C>
  C Result(const C* x) const {
    const C y = cudaacc::Formulas<C>::Apply(op_.formula, x[0], x[1], x[2]);
    if constexpr (std::is_floating_point_v<C>) {
      const bool is_half = mxacc::IsHalf(op_.dtypes.back());
      if (std::isnan(y) && is_half && Has("NaN of float16")) return std::numeric_limits<C>::max();
      if (std::isnan(y) && !is_half && Has("NaN of maximum")) return std::isnan(x[0]) ? x[1] : x[0];
      const bool tiny = std::abs(y) < std::numeric_limits<C>::min();
      if (tiny && Has("subnormal numbers")) return 0;
    }
    return y;
  }

  const Elementwise op_;
  const Axes axes_;
  const bool is_add_;
  std::vector<Number> numbers_;
};

}  // namespace

std::unique_ptr<Executor> MakeElementwise(const Request& request) {
  const std::string name = request.name();
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return nullptr;
  std::optional<Elementwise> op = mxacc::FindElementwise(request);
  if (!op) return nullptr;
  request.CheckOutput(op->result);
  return std::make_unique<ElementwiseExecutor>(request, *std::move(op));
}

}  // namespace planted
