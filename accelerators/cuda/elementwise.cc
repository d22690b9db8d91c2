/*!
 * \file elementwise.cc
 * \brief Elementwise operators and fills.
 */
#include "../sdk/operators/elementwise.h"

#include <algorithm>

#include "kernels/kernels.h"
#include "work.h"

namespace cudaacc {
namespace {

class FormulaWork : public Work {
 public:
  FormulaWork(const Request& request, const Elementwise& found);
  void Run(Commands* commands, const Location* locations) override;
  bool in_place() const override { return true; }

 private:
  const int output_; /*!< its position */
  int64_t count_;
  FormulaTask task_{};
  int inputs_[kMaxOperands]; /*!< their locations; -1 for a number */
};

FormulaWork::FormulaWork(const Request& request, const Elementwise& found)
    : output_(request.num_in()) {
  request.CheckOutput(found.result);
  const Axes axes = BroadcastAxes(request, found.operands);
  count_ = axes.count();
  task_.formula = found.formula;
  task_.out.dtype = found.result;
  task_.num_operands = static_cast<int>(found.operands.size());
  const Layout joined = count_ == 0 ? Layout{} : LayoutOf(axes);
  Layout layout = joined;
  int tensor = 1;
  for (int k = 0; k < task_.num_operands; ++k) {
    const Operand& operand = found.operands[static_cast<size_t>(k)];
    FormulaTask::Operand& told = task_.operands[k];
    told.dtype = found.dtypes[static_cast<size_t>(k)];
    told.slot.dtype = operand.dtype;
    inputs_[k] = operand.input == nullptr ? -1 : request.IndexOf(*operand.input);
    if (inputs_[k] < 0) {
      told.number = Number(operand.number, told.dtype).value();
      std::fill_n(layout.strides[1 + k], Layout::kMaxAxes, 0);
    } else {
      std::copy_n(joined.strides[tensor++], Layout::kMaxAxes, layout.strides[1 + k]);
    }
  }
  task_.walk = WalkOf(layout, count_);
}

void FormulaWork::Run(Commands* commands, const Location* locations) {
  if (count_ == 0) return;
  FormulaTask task = task_;
  task.out.Set(locations[output_]);
  for (int k = 0; k < task.num_operands; ++k) {
    if (inputs_[k] >= 0) task.operands[k].slot.Set(locations[inputs_[k]]);
  }
  LaunchFormula(commands->stream(), count_, task);
}

}  // namespace

std::unique_ptr<Work> MakeElementwise(const Request& request) {
  const std::optional<Elementwise> found = FindElementwise(request);
  if (!found) return nullptr;
  if (found->operands.empty()) return std::make_unique<NoWork<Commands, Location>>();
  return std::make_unique<FormulaWork>(request, *found);
}

}  // namespace cudaacc
