#include "onednn/window.h"

#include <algorithm>
#include <utility>

namespace mxnet {
namespace onednn {
namespace {

Dims Read(const GivenInts& given, size_t count, int64_t otherwise, int64_t least,
          const char* argument) {
  if (!given) return Dims(count, otherwise);
  const bool fits = given->size() == count && std::all_of(given->begin(), given->end(),
                                                          [&](int64_t n) { return n >= least; });
  if (!fits) {
    MXNET_THROW("ValueError") << argument << ": expected " << count << " integers of " << least
                              << " or more, got " << Text(*given);
  }
  return *given;
}

}  // namespace

Window::Window(Dims extents, const GivenInts& given_strides, const GivenInts& pads,
               const GivenInts& dilations)
    : kernel(std::move(extents)),
      strides(Read(given_strides, kernel.size(), 1, 1, "strides")),
      dilation(Read(dilations, kernel.size(), 1, 1, "dilations")) {
  const Dims both = Read(pads, 2 * kernel.size(), 0, 0, "pads");
  const auto half = both.begin() + static_cast<std::ptrdiff_t>(kernel.size());
  begin.assign(both.begin(), half);
  end.assign(half, both.end());
  for (int64_t& step : dilation) --step;
}

Dims Window::Slide(const Dims& x, bool ceil) {
  const size_t first = x.size() - ndim();
  Dims counts;
  for (size_t i = 0; i < ndim(); ++i) {
    const int64_t room = x[first + i] + begin[i] + end[i] - Reach(i);
    if (room < 0) {
      MXNET_THROW("ValueError") << "a window that reaches over " << Reach(i)
                                << " elements does not fit into " << x[first + i]
                                << " elements with padding of " << begin[i] << " and " << end[i];
    }
    int64_t count = (room + (ceil ? strides[i] - 1 : 0)) / strides[i] + 1;
    // The last one begins before the end of the elements, or of the padding before them.
    if (ceil && (count - 1) * strides[i] >= x[first + i] + begin[i]) --count;
    counts.push_back(count);
    end[i] = (count - 1) * strides[i] + Reach(i) - x[first + i] - begin[i];
  }
  return counts;
}

}  // namespace onednn
}  // namespace mxnet
