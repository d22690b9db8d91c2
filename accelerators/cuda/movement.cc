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
    // Throws for more axes than a kernel can take.
    if (movement.axes.count() != 0) LayoutOf(movement.axes);
  }
  return std::make_unique<CopyWork<Commands, Location>>(ItemSize(request.output().dtype),
                                                        *std::move(movements));
}

}  // namespace cudaacc
