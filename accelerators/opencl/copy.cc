#include "copy.h"

namespace opencl {
namespace {

const char* ItemType(int64_t item) {
  switch (item) {
    case 1:
      return "uchar";
    case 2:
      return "ushort";
    case 4:
      return "uint";
    case 8:
      return "ulong";
    case 16:
      return "ulong2";
    default:
      Unsupported("elements of " + std::to_string(item) + " bytes");
  }
}

constexpr char kCopySource[] = R"(
__kernel void copy(const long count, const Layout at, __global ITEM* target, long to,
                   __global const ITEM* source, long from) {
  const long i = get_global_id(0);
  if (i >= count) return;
#define STEP(position, axis)                    \
  to += (position) * at.strides[0][axis];       \
  from += (position) * at.strides[1][axis];
  ADVANCE(at, i, STEP);
  target[to] = source[from];
}
)";

}  // namespace

void CopyOnDevice(Commands* commands, int64_t item, const Axes& axes, Location target,
                  Location source) {
  const int64_t count = axes.count();
  if (count == 0) return;
  const Layout layout = LayoutOf(axes);
  if (layout.IsDense(0) && layout.IsDense(1)) {
    const auto bytes = [&](int64_t elements) { return static_cast<size_t>(elements * item); };
    return Check(
        clEnqueueCopyBuffer(commands->queue(), source.buffer, target.buffer, bytes(source.first),
                            bytes(target.first), bytes(count), 0, nullptr, commands->NextEvent()),
        "clEnqueueCopyBuffer");
  }
  const std::string source_text =
      std::string(kLayoutSource) + "#define ITEM " + ItemType(item) + kCopySource;
  const Kernel kernel = commands->device().programs().Make(source_text, "copy");
  SetArguments(kernel.get(), count, layout, target.buffer, target.first, source.buffer,
               source.first);
  commands->Launch(kernel.get(), count);
}

}  // namespace opencl
