/*!
 * \file movement.cc
 * \brief Operators that copy elements to other places.
 */
#include "../common/operators/movement.h"

#include "executor.h"

namespace cudaacc {
namespace {

class CopyWork : public Work {
 public:
  CopyWork(const Request& request, std::vector<Movement> movements)
      : item_(ItemSize(request.output().dtype)), movements_(std::move(movements)) {}

  void Run(Commands* commands, const Place* places) const override {
    const Place& out = places[movements_.size()];
    for (size_t i = 0; i < movements_.size(); ++i) {
      const Place target{out.data, out.first + movements_[i].first};
      CopyOnDevice(commands, item_, movements_[i].axes, target, places[i]);
    }
  }

 private:
  const int64_t item_;
  const std::vector<Movement> movements_;
};

}  // namespace

std::unique_ptr<Work> MakeMovement(const Request& request) {
  std::optional<std::vector<Movement>> movements = FindMovements(request);
  if (!movements) return nullptr;
  for (const Movement& movement : *movements) {
    if (movement.axes.count() != 0) LayoutOf(movement.axes);  // refuses what it cannot walk
  }
  return std::make_unique<CopyWork>(request, *std::move(movements));
}

}  // namespace cudaacc
