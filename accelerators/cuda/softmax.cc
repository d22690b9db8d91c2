/*!
 * \file softmax.cc
 * \brief softmax and log_softmax.
 */
#include "../sdk/operators/softmax.h"

#include <algorithm>

#include "kernels/kernels.h"
#include "work.h"

namespace cudaacc {
namespace {

class SoftmaxWork : public Work {
 public:
  SoftmaxWork(const Request& request, const Softmax& softmax);
  void Run(Commands* commands, const Location* locations) override;
  bool in_place() const override { return true; }

 private:
  bool ComputeByDnn(Commands* commands, const SoftmaxTask& task) const;

  const int input_;
  const int output_;
  const int64_t item_; /*!< bytes of an element of the output */
  SoftmaxTask task_{};
  DnnSoftmax dnn_{};
  bool fits_dnn_{false};
};

SoftmaxWork::SoftmaxWork(const Request& request, const Softmax& softmax)
    : input_(softmax.input), output_(request.num_in()), item_(ItemSize(request.output().dtype)) {
  task_.is_log = softmax.is_log;
  task_.dtype = softmax.dtype;
  task_.temperature = softmax.temperature;
  task_.num_rows = softmax.rows.count();
  task_.length = softmax.length;
  std::copy_n(softmax.steps, 2, task_.steps);
  task_.out.dtype = softmax.stored;
  task_.input.dtype = DTypeOf(request.input(input_).dtype);
  if (task_.num_rows != 0) task_.rows = WalkOf(LayoutOf(softmax.rows), task_.num_rows);
  dnn_ = {softmax.is_log, softmax.stored, softmax.outer, softmax.length, softmax.inner, {}, {}};
  const bool divides = softmax.temperature < 1 || softmax.temperature > 1;
  fits_dnn_ = dnn_.fits() && !divides && task_.input.dtype == softmax.stored &&
              IsRowMajor(request.input(input_)) && IsRowMajor(request.output());
}

bool SoftmaxWork::ComputeByDnn(Commands* commands, const SoftmaxTask& task) const {
  if (!fits_dnn_) return false;
  DnnSoftmax softmax = dnn_;
  softmax.input = static_cast<const char*>(task.input.data) + task.input.first * item_;
  softmax.out = static_cast<char*>(task.out.data) + task.out.first * item_;
  Device& device = commands->device();
  bool done = false;
  device.WithDnn([&](Dnn& dnn) { done = dnn.Compute(commands->stream(), softmax); });
  if (done) device.softmaxes.fetch_add(1, std::memory_order_relaxed);
  return done;
}

void SoftmaxWork::Run(Commands* commands, const Location* locations) {
  if (task_.num_rows == 0 || task_.length == 0) return;
  SoftmaxTask task = task_;
  task.out.Set(locations[output_]);
  task.input.Set(locations[input_]);
  if (ComputeByDnn(commands, task)) return;
  LaunchSoftmax(commands->stream(), task);
}

}  // namespace

std::unique_ptr<Work> MakeSoftmax(const Request& request) {
  const std::optional<Softmax> softmax = FindSoftmax(request);
  if (!softmax) return nullptr;
  return std::make_unique<SoftmaxWork>(request, *softmax);
}

}  // namespace cudaacc
