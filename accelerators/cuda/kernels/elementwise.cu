/*!
 * \file elementwise.cu
 * \brief Formulas: one kernel for each type that is computed in.
 */
#include "formulas.h"
#include "kernels.h"
#include "launch.h"

namespace cudaacc {
namespace {

template <typename C>
struct FormulaItem {
  FormulaTask task;

  CUDAACC_BOTH void Run(int64_t i) const {
    constexpr int kTensors = 1 + mxacc::kMaxOperands;
    Positions<kTensors> positions{};
    Advance(task.walk, i, &positions);
    C values[mxacc::kMaxOperands] = {};
    for (int k = 0; k < mxacc::kMaxOperands; ++k) {
      if (k < task.num_operands) values[k] = Value(task.operands[k], positions.at[1 + k]);
    }
    const C result = Formulas<C>::Apply(task.formula, values[0], values[1], values[2]);
    Store(task.out, task.out.first + positions.at[0], result);
  }

 private:
  CUDAACC_BOTH static C Value(const FormulaTask::Operand& operand, int64_t position) {
    if (operand.slot.data == nullptr) return NumberAs<C>(operand.number, operand.dtype);
    return Load<C>(operand.slot, operand.slot.first + position, operand.dtype);
  }
};

}  // namespace

void LaunchFormula(StreamHandle stream, int64_t count, const FormulaTask& task) {
  WithComputeType(task.operands[task.num_operands - 1].dtype,
                  [&](auto zero) { LaunchEach(stream, count, FormulaItem<decltype(zero)>{task}); });
}

}  // namespace cudaacc
