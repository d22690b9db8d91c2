#include "folding.h"

#include "kernels.h"

namespace cudaacc {
namespace {

class FoldWork : public Work {
 public:
  FoldWork(const Request& request, const Folding& folding, const FoldAxes& axes, int first,
           int second);
  void Run(Commands* commands, const Place* places) override;

 private:
  const int output_;
  const int inputs_[2];
  FoldTask task_{};
  FoldPlan plan_{};
};

FoldWork::FoldWork(const Request& request, const Folding& folding, const FoldAxes& axes, int first,
                   int second)
    : output_(request.num_in()), inputs_{first, second} {
  task_.kind = folding.kind;
  task_.outputs = axes.kept.count();
  task_.count = axes.folded.count();
  task_.ddof = folding.ddof;
  task_.element = folding.element;
  task_.multiplies = folding.multiplies;
  task_.out.dtype = folding.stored;
  for (int i = 0; i < 2; ++i) task_.inputs[i].dtype = DTypeOf(request.input(inputs_[i]).dtype);
  if (task_.outputs == 0) return;
  task_.kept = WalkOf(LayoutOf(axes.kept), task_.outputs);
  if (task_.count != 0) {
    const Layout folded = folding.in_order ? RowMajorLayoutOf(axes.folded) : LayoutOf(axes.folded);
    task_.folded = WalkOf(folded, task_.count);
  }
  plan_ = PlanFold(task_);
}

void FoldWork::Run(Commands* commands, const Place* places) {
  if (task_.outputs == 0) return;
  FoldTask task = task_;
  task.out.Set(places[output_]);
  for (int i = 0; i < 2; ++i) task.inputs[i].Set(places[inputs_[i]]);
  const auto parts = static_cast<size_t>(task.outputs * plan_.parts);
  void* memory = plan_.part_size == 0 ? nullptr : commands->MakeScratch(parts * plan_.part_size);
  LaunchFold(commands->stream(), task, plan_, memory);
}

}  // namespace

std::unique_ptr<Work> MakeFold(const Request& request, const Folding& folding, const FoldAxes& axes,
                               int first, int second) {
  return std::make_unique<FoldWork>(request, folding, axes, first, second);
}

std::unique_ptr<Work> MakeReduction(const Request& request) {
  const std::optional<Reduction> found = FindReduction(request);
  if (!found) return nullptr;
  const Folding folding{found->kind, found->element, found->stored,
                        found->ddof, false,          found->finds_place()};
  return MakeFold(request, folding, found->axes, found->input, found->input);
}

}  // namespace cudaacc
