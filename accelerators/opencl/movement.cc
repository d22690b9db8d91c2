/*!
 * \file movement.cc
 * \brief Operators that copy elements to other places.
 */
#include "../common/operators/movement.h"

#include "executor.h"

namespace opencl {
namespace {

/*! \brief Copies each input to its part of the output. */
class CopyWork : public Work {
 public:
  CopyWork(const Request& request, std::vector<Movement> parts)
      : item_(ItemSize(request.output().dtype)), parts_(std::move(parts)) {}

  void Run(Commands* commands, const Place* places) override {
    const Place& out = places[parts_.size()];
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Place target{out.buffer, out.first + parts_[i].first};
      CopyOnDevice(commands, item_, parts_[i].axes, target, places[i]);
    }
  }

 private:
  const int64_t item_;
  const std::vector<Movement> parts_;
};

}  // namespace

std::unique_ptr<Work> MakeMovement(const Request& request) {
  std::optional<std::vector<Movement>> movements = FindMovements(request);
  if (!movements) return nullptr;
  return std::make_unique<CopyWork>(request, *std::move(movements));
}

}  // namespace opencl
