/*!
 * \file lines.h
 * \brief Packed floats in whole lines of the cache.
 */
#ifndef MXNET_SRC_OP_KERNELS_LANES_LINES_H_
#define MXNET_SRC_OP_KERNELS_LANES_LINES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxnet {
namespace op {

/*! \brief Floats that begin where a line of the cache does, so that no register is loaded from two
 * lines; zeros at first. */
class Lines {
 public:
  /*! \brief Floats of a line. */
  static constexpr int64_t kLine = 16;

  static constexpr int64_t RoundUp(int64_t count) { return (count + kLine - 1) / kLine * kLine; }

  Lines() = default;
  explicit Lines(int64_t count) : lines_(static_cast<size_t>(RoundUp(count) / kLine)) {}

  float* data() noexcept { return lines_.data()->of; }
  const float* data() const noexcept { return lines_.data()->of; }
  size_t bytes() const noexcept { return lines_.size() * sizeof(Line); }

 private:
  struct alignas(64) Line {
    float of[kLine];
  };

  std::vector<Line> lines_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_LANES_LINES_H_
