/*!
 * \file max_pool.cc
 * \brief The largest elements of windows with their positions, and what they are differentiated by.
 */
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <memory>

#include "graph/training/checks.h"
#include "graph/training/lines.h"

namespace mxnet {
namespace graph {
namespace training {
namespace {

using op::Kernel;
using op::KernelInput;
using op::KernelOutput;
using runtime::kFloat32;
using runtime::kFloat64;
using runtime::kInt64;
using runtime::Ref;

template <typename T>
constexpr DLDataType kTypeOf = sizeof(T) == sizeof(float) ? kFloat32 : kFloat64;

/*! \brief Windows along one axis. */
struct Axis {
  int64_t extent{1};
  int64_t count{1};
  int64_t kernel{1};
  int64_t stride{1};
  int64_t pad{0}; /*!< in front */
  int64_t dilation{1};
};

/*! \brief For a row of windows and one of their elements, which is in a row of x: the larger ones,
 * and their positions. */
template <typename T>
struct TakeLarger {
  static MXNET_ALWAYS_INLINE void Run(const T* x, int32_t first, int64_t begin, int64_t end,
                                      int64_t stride, T* best, int32_t* positions) {
    if (stride == 1) return Loop(x, first, begin, end, 1, best, positions);
    if (stride == 2) return Loop(x, first, begin, end, 2, best, positions);
    Loop(x, first, begin, end, stride, best, positions);
  }

  static MXNET_ALWAYS_INLINE void Loop(const T* x, int32_t first, int64_t begin, int64_t end,
                                       int64_t stride, T* best, int32_t* positions) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const T value = x[i * stride];
      // NaN is larger than any number, and the first of equals stays.
      const bool is_larger = (value > best[i]) | (value != value) | (positions[i] < 0);
      best[i] = is_larger ? value : best[i];
      positions[i] = is_larger ? first + static_cast<int32_t>(i * stride) : positions[i];
    }
  }
};

template <typename T>
struct MaxPool {
  int64_t planes;
  Axis axes[3];
  int64_t plane() const { return axes[0].extent * axes[1].extent * axes[2].extent; }
  int64_t windows() const { return axes[0].count * axes[1].count * axes[2].count; }

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    const auto* x = In<T>(in[0]);
    ForLines(planes, windows() * axes[1].kernel * axes[2].kernel, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        Plane(x + p * plane(), p * plane(), Out<T>(out[0]) + p * windows(),
              Out<int64_t>(out[1]) + p * windows());
      }
    });
  }

 private:
  void Plane(const T* x, int64_t offset, T* best, int64_t* positions) const {
    const int64_t width = axes[2].count;
    for (int64_t d = 0; d < axes[0].count; ++d) {
      for (int64_t h = 0; h < axes[1].count; ++h, best += width, positions += width) {
        for (int64_t w = 0; w < width; w += kSome) {
          Row(x, offset, d, h, w, std::min(kSome, width - w), best + w, positions + w);
        }
      }
    }
  }

  /*! \brief Some windows of a row, from the one with the number `w` on. */
  void Row(const T* x, int64_t offset, int64_t d, int64_t h, int64_t w, int64_t count, T* best,
           int64_t* positions) const {
    static const auto take_larger = op::ForWideCpu<TakeLarger<T>>();
    int32_t found[kSome];
    std::fill(found, found + count, -1);
    std::fill(best, best + count, -std::numeric_limits<T>::infinity());
    for (int64_t a = 0; a < axes[0].kernel; ++a) {
      const int64_t z = d * axes[0].stride - axes[0].pad + a * axes[0].dilation;
      if (z < 0 || z >= axes[0].extent) continue;
      for (int64_t b = 0; b < axes[1].kernel; ++b) {
        const int64_t y = h * axes[1].stride - axes[1].pad + b * axes[1].dilation;
        if (y < 0 || y >= axes[1].extent) continue;
        const int64_t row = (z * axes[1].extent + y) * axes[2].extent;
        for (int64_t c = 0; c < axes[2].kernel; ++c) {
          const Axis& last = axes[2];
          // Of x, what the window with the number i reads is first + i * stride.
          const int64_t first = w * last.stride - last.pad + c * last.dilation;
          const int64_t begin = first >= 0 ? 0 : (-first + last.stride - 1) / last.stride;
          const int64_t room = last.extent - first;
          const int64_t end = room <= 0 ? 0 : (room + last.stride - 1) / last.stride;
          if (begin >= std::min(end, count)) continue;
          take_larger(x + row + first, static_cast<int32_t>(row + first), begin,
                      std::min(end, count), last.stride, best, found);
        }
      }
    }
    for (int64_t i = 0; i < count; ++i) positions[i] = found[i] < 0 ? offset : offset + found[i];
  }

  static constexpr int64_t kSome = 512;
};

/*! \brief Adds each number to the element that its position says. */
template <typename T>
struct MaxPoolGradient {
  int64_t planes;
  int64_t plane;
  int64_t windows;

  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    const auto* dy = In<T>(in[0]);
    const auto* positions = In<int64_t>(in[1]);
    auto* dx = Out<T>(out[0]);
    std::atomic<bool> strays{false};
    ForLines(planes, plane + windows, [&](int64_t begin, int64_t end) {
      std::memset(dx + begin * plane, 0, static_cast<size_t>((end - begin) * plane) * sizeof(*dx));
      for (int64_t p = begin; p < end; ++p) {
        for (int64_t i = p * windows; i < (p + 1) * windows; ++i) {
          const int64_t at = positions[i] - p * plane;
          if (at < 0 || at >= plane) {
            strays = true;
            return;
          }
          dx[positions[i]] += dy[i];
        }
      }
    });
    if (strays) AddAnywhere(dy, positions, dx);
  }

 private:
  /*! \brief For positions that are none of a pool. */
  void AddAnywhere(const T* dy, const int64_t* positions, T* dx) const {
    const int64_t size = planes * plane;
    std::memset(dx, 0, static_cast<size_t>(size) * sizeof(*dx));
    for (int64_t i = 0; i < planes * windows; ++i) {
      if (positions[i] < 0 || positions[i] >= size) {
        MXNET_THROW("IndexError") << "Indices: expected 0 to " << size - 1 << ", got "
                                  << positions[i];
      }
      dx[positions[i]] += dy[i];
    }
  }
};

template <typename T>
Ref<Kernel> MaxPoolOf(const Shape& shape, const Shape& counts, const Shape& kernel,
                      const Shape& strides, const Shape& pads, const Shape& dilations) {
  const size_t ndim = counts.size();
  const bool fits = ndim >= 1 && ndim <= 3 && shape.size() == ndim + 2 && kernel.size() == ndim &&
                    strides.size() == ndim && pads.size() >= ndim && dilations.size() == ndim;
  if (!fits) {
    MXNET_THROW("ValueError")
        << "kernel: expected one to three axes, as many in all arguments, got " << kernel.size();
  }
  CheckShape("shape", shape);
  CheckNumbers("counts", counts, 0);
  CheckNumbers("kernel", kernel, 1);
  CheckNumbers("strides", strides, 1);
  CheckNumbers("pads", pads, 0);
  CheckNumbers("dilations", dilations, 1);
  Shape reads{shape[0], shape[1]};
  reads.insert(reads.end(), counts.begin(), counts.end());
  reads.insert(reads.end(), kernel.begin(), kernel.end());
  CheckShape("kernel, of all windows", reads);
  auto state = std::make_unique<MaxPool<T>>();
  state->planes = shape[0] * shape[1];
  for (size_t i = 0; i < ndim; ++i) {
    state->axes[3 - ndim + i] = {shape[2 + i], counts[i], kernel[i],
                                 strides[i],   pads[i],   dilations[i]};
  }
  if (state->plane() > std::numeric_limits<int32_t>::max()) {
    MXNET_THROW("NotImplementedError") << "shape: more than 2 ** 31 elements of a channel";
  }
  Shape result{shape[0], shape[1]};
  result.insert(result.end(), counts.begin(), counts.end());
  return op::MakeKernel("training.max_pool", {{KernelInput{kTypeOf<T>, shape}}},
                        {KernelOutput{kTypeOf<T>, result}, KernelOutput{kInt64, result}},
                        std::move(state));
}

Ref<Kernel> MakeMaxPool(const Shape& shape, const Shape& counts, const Shape& kernel,
                        const Shape& strides, const Shape& pads, const Shape& dilations,
                        bool is_wide) {
  const auto make = is_wide ? &MaxPoolOf<double> : &MaxPoolOf<float>;
  return make(shape, counts, kernel, strides, pads, dilations);
}

template <typename T>
Ref<Kernel> MaxPoolGradientOf(const Shape& shape, const Shape& pooled) {
  CheckShape("shape", shape);
  CheckShape("pooled", pooled);
  // Of what has no channels, or other ones, all is one plane.
  const bool has_planes = shape.size() > 2 && pooled.size() > 2 && shape[0] == pooled[0] &&
                          shape[1] == pooled[1] && shape[0] * shape[1] > 0;
  const int64_t planes = has_planes ? shape[0] * shape[1] : 1;
  using State = MaxPoolGradient<T>;
  return op::MakeKernel(
      "training.max_pool_grad", {{KernelInput{kTypeOf<T>, pooled}, KernelInput{kInt64, pooled}}},
      {KernelOutput{kTypeOf<T>, shape}},
      std::unique_ptr<State>(new State{planes, SizeOf(shape) / planes, SizeOf(pooled) / planes}));
}

Ref<Kernel> MakeMaxPoolGradient(const Shape& shape, const Shape& pooled, bool is_wide) {
  return is_wide ? MaxPoolGradientOf<double>(shape, pooled)
                 : MaxPoolGradientOf<float>(shape, pooled);
}

MXNET_REGISTER_API("mx.graph.training.max_pool")
    .describe("A kernel: x to the largest elements of windows, and their positions in all of x.")
    .arg("shape", "Of x: (n, channels, ...).")
    .arg("counts", "How many windows there are along each axis.")
    .arg("kernel", "Extents of the window.")
    .arg("strides", "By axis.")
    .arg("pads", "In front of each axis.")
    .arg("dilations", "By axis.")
    .arg("is_wide", false, "Whether x is of float64, and not of float32.")
    .name_errors()
    .set_body_typed(&MakeMaxPool);

MXNET_REGISTER_API("mx.graph.training.max_pool_grad")
    .describe("A kernel: the gradient of the largest elements, and their positions, to that of x.")
    .arg("shape", "Of x.")
    .arg("pooled", "The shape of the largest elements.")
    .arg("is_wide", false, "Whether it is of float64, and not of float32.")
    .name_errors()
    .set_body_typed(&MakeMaxPoolGradient);

}  // namespace
}  // namespace training
}  // namespace graph
}  // namespace mxnet
