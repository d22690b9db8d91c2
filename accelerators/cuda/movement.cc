/*!
 * \file movement.cc
 * \brief Operators that move elements.
 */
#include "../sdk/operators/movement.h"

#include "work.h"

namespace cudaacc {

std::unique_ptr<Work> MakeMovement(const Request& request) {
  std::optional<std::vector<Movement>> movements = FindMovements(request);
  if (!movements) return nullptr;
  for (const Movement& movement : *movements) {
    if (movement.axes.count() != 0) LayoutOf(movement.axes);  // rejects what it cannot walk
  }
  return std::make_unique<CopyWork<Commands, Location>>(ItemSize(request.output().dtype),
                                                        *std::move(movements));
}

}  // namespace cudaacc
