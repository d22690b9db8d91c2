/*!
 * \file movement.cc
 * \brief Operators that move elements.
 */
#include "../sdk/operators/movement.h"

#include "work.h"

namespace opencl {

std::unique_ptr<Work> MakeMovement(const Request& request) {
  std::optional<std::vector<Movement>> movements = FindMovements(request);
  if (!movements) return nullptr;
  return std::make_unique<CopyWork<Commands, Location>>(ItemSize(request.output().dtype),
                                                        *std::move(movements));
}

}  // namespace opencl
