#include "copying.h"

#include "kernels/kernels.h"

namespace cudaacc {

void CopyOnDevice(Commands* commands, int64_t item, const Axes& axes, Location target,
                  Location source) {
  const int64_t count = axes.count();
  if (count == 0) return;
  const Layout layout = LayoutOf(axes);
  if (layout.IsDense(0) && layout.IsDense(1)) {
    return CopyBytes(AddressOf(target, item), AddressOf(source, item),
                     static_cast<size_t>(count * item), commands->stream());
  }
  // A copy needs the number of bytes of an element, not its type.
  LaunchCopy(commands->stream(), count,
             {WalkOf(layout, count),
              {target.data, target.first, DType::kBool},
              {source.data, source.first, DType::kBool},
              item});
}

}  // namespace cudaacc
