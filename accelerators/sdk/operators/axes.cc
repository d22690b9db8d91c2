#include "axes.h"

#include <algorithm>

#include "../status.h"

namespace mxacc {

namespace {

Layout JoinedLayout(const std::vector<int64_t>& shape, const std::vector<const int64_t*>& strides,
                    size_t skipped) {
  const JoinedAxes joined = JoinAxes(static_cast<int32_t>(shape.size()), shape.data(),
                                     strides.data(), static_cast<int>(strides.size()));
  if (joined.ndim > Layout::kMaxAxes) {
    Unsupported("tensors of " + std::to_string(joined.ndim) + " axes that cannot be joined");
  }
  Layout layout{};
  layout.ndim = joined.ndim;
  std::copy_n(joined.shape, joined.ndim, layout.shape);
  for (size_t i = skipped; i < strides.size(); ++i) {
    std::copy_n(joined.strides[i], joined.ndim, layout.strides[i - skipped]);
  }
  return layout;
}

}  // namespace

Layout LayoutOf(const Axes& axes) {
  std::vector<const int64_t*> strides;
  for (const auto& steps : axes.strides) strides.push_back(steps.data());
  return JoinedLayout(axes.shape, strides, 0);
}

Layout RowMajorLayoutOf(const Axes& axes) {
  std::vector<int64_t> row_major(axes.shape.size());
  int64_t step = 1;
  for (size_t i = row_major.size(); i-- > 0;) {
    row_major[i] = step;
    step *= std::max<int64_t>(axes.shape[i], 1);
  }
  std::vector<const int64_t*> strides{row_major.data()};
  for (const auto& steps : axes.strides) strides.push_back(steps.data());
  return JoinedLayout(axes.shape, strides, 1);
}

}  // namespace mxacc
