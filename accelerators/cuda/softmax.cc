/*!
 * \file softmax.cc
 * \brief softmax and log_softmax.
 */
#include "../common/operators/softmax.h"

#include <algorithm>

#include "executor.h"
#include "kernels.h"

namespace cudaacc {
namespace {

class SoftmaxWork : public Work {
 public:
  SoftmaxWork(const Request& request, const Softmax& softmax);
  void Run(Commands* commands, const Place* places) const override;
  bool in_place() const override { return true; }

 private:
  const int input_;
  const int output_;
  SoftmaxTask task_{};
};

SoftmaxWork::SoftmaxWork(const Request& request, const Softmax& softmax)
    : input_(softmax.input), output_(request.num_in()) {
  task_.is_log = softmax.is_log;
  task_.dtype = softmax.dtype;
  task_.temperature = softmax.temperature;
  task_.num_rows = softmax.rows.count();
  task_.length = softmax.length;
  std::copy_n(softmax.steps, 2, task_.steps);
  task_.out.dtype = softmax.stored;
  task_.input.dtype = DTypeOf(request.input(input_).dtype);
  if (task_.num_rows != 0) task_.rows = WalkOf(LayoutOf(softmax.rows), task_.num_rows);
}

void SoftmaxWork::Run(Commands* commands, const Place* places) const {
  if (task_.num_rows == 0 || task_.length == 0) return;
  SoftmaxTask task = task_;
  task.out.Set(places[output_]);
  task.input.Set(places[input_]);
  LaunchSoftmax(commands->stream(), task);
}

}  // namespace

std::unique_ptr<Work> MakeSoftmax(const Request& request) {
  const std::optional<Softmax> softmax = FindSoftmax(request);
  if (!softmax) return nullptr;
  return std::make_unique<SoftmaxWork>(request, *softmax);
}

}  // namespace cudaacc
