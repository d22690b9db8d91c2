#include "reduction.h"

#include "kernels/kernels.h"

namespace cudaacc {
namespace {

class ReduceWork : public Work {
 public:
  ReduceWork(const Request& request, const ReduceOptions& options, const ReduceAxes& axes,
             int first, int second);
  void Run(Commands* commands, const Location* locations) override;
  uint64_t workspace_bytes() const override {
    return static_cast<uint64_t>(task_.outputs * plan_.parts) * plan_.part_size;
  }

 private:
  const int output_;
  const int inputs_[2];
  ReduceTask task_{};
  ReducePlan plan_{};
};

ReduceWork::ReduceWork(const Request& request, const ReduceOptions& options, const ReduceAxes& axes,
                       int first, int second)
    : output_(request.num_in()), inputs_{first, second} {
  task_.kind = options.kind;
  task_.outputs = axes.kept.count();
  task_.count = axes.reduced.count();
  task_.ddof = options.ddof;
  task_.element = options.element;
  task_.multiplies = options.multiplies;
  task_.out.dtype = options.stored;
  for (int i = 0; i < 2; ++i) task_.inputs[i].dtype = DTypeOf(request.input(inputs_[i]).dtype);
  if (task_.outputs == 0) return;
  task_.kept = WalkOf(LayoutOf(axes.kept), task_.outputs);
  if (task_.count != 0) {
    const Layout reduced =
        options.in_order ? RowMajorLayoutOf(axes.reduced) : LayoutOf(axes.reduced);
    task_.reduced = WalkOf(reduced, task_.count);
  }
  plan_ = PlanReduction(task_);
}

void ReduceWork::Run(Commands* commands, const Location* locations) {
  if (task_.outputs == 0) return;
  ReduceTask task = task_;
  task.out.Set(locations[output_]);
  for (int i = 0; i < 2; ++i) task.inputs[i].Set(locations[inputs_[i]]);
  void* memory = workspace_bytes() == 0 ? nullptr : AddressOf(locations[output_ + 1], 1);
  LaunchReduction(commands->stream(), task, plan_, memory);
}

}  // namespace

std::unique_ptr<Work> MakeReduceWork(const Request& request, const ReduceOptions& options,
                                     const ReduceAxes& axes, int first, int second) {
  return std::make_unique<ReduceWork>(request, options, axes, first, second);
}

std::unique_ptr<Work> MakeReduction(const Request& request) {
  const std::optional<Reduction> found = FindReduction(request);
  if (!found) return nullptr;
  const ReduceOptions options{found->kind, found->element, found->stored,
                              found->ddof, false,          found->finds_position()};
  return MakeReduceWork(request, options, found->axes, found->input, found->input);
}

}  // namespace cudaacc
