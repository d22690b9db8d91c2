/*!
 * \file movement.cc
 * \brief Operators that copy elements to other places.
 */
#include "../sdk/operators/movement.h"

#include "work.h"

namespace cudaacc {

std::unique_ptr<Work> MakeMovement(const Request& request) {
  std::optional<std::vector<Movement>> movements = FindMovements(request);
  if (!movements) return nullptr;
  for (const Movement& movement : *movements) {
    if (movement.axes.count() != 0) LayoutOf(movement.axes);  // refuses what it cannot walk
  }
  return std::make_unique<CopyWork<Commands, Place>>(ItemSize(request.output().dtype),
                                                     *std::move(movements));
}

}  // namespace cudaacc
