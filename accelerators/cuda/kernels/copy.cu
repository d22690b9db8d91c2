/*!
 * \file copy.cu
 * \brief Copies between tensors of any strides.
 */
#include "kernels.h"
#include "launch.h"

namespace cudaacc {
namespace {

struct Pair {
  uint64_t parts[2];
};

template <typename Element>
struct CopyItem {
  CopyTask task;

  CUDAACC_BOTH void Run(int64_t i) const {
    Positions<2> positions{{task.target.first, task.source.first}};
    Advance(task.walk, i, &positions);
    static_cast<Element*>(task.target.data)[positions.at[0]] =
        static_cast<const Element*>(task.source.data)[positions.at[1]];
  }
};

}  // namespace

void LaunchCopy(StreamHandle stream, int64_t count, const CopyTask& task) {
  switch (task.item) {
    case 1:
      return LaunchEach(stream, count, CopyItem<uint8_t>{task});
    case 2:
      return LaunchEach(stream, count, CopyItem<uint16_t>{task});
    case 4:
      return LaunchEach(stream, count, CopyItem<uint32_t>{task});
    case 8:
      return LaunchEach(stream, count, CopyItem<uint64_t>{task});
    case 16:
      return LaunchEach(stream, count, CopyItem<Pair>{task});
    default:
      mxacc::Unsupported("elements of " + std::to_string(task.item) + " bytes");
  }
}

}  // namespace cudaacc
