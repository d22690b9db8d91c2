/*!
 * \file repeat.cc
 * \brief repeat.
 */
#include <mxnet/op/operator.h>

#include <cstring>

#include "op/kernels/cpu.h"
#include "op/schema/describe.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

struct RepeatAttributes {
  Ints repeats;
  std::optional<Axis> axis;
};

/*! \brief How often each position of an axis is repeated; one count stands for all. */
class Counts {
 public:
  explicit Counts(const Ints& repeats)
      : counts_(repeats.values.data()), step_(repeats.values.size() == 1 ? 0 : 1) {}

  int64_t at(int64_t i) const noexcept { return counts_[i * step_]; }
  /*! \brief The one count of all; 0 where each has its own. */
  int64_t of_all() const noexcept { return step_ == 0 ? counts_[0] : 0; }

 private:
  const int64_t* counts_;
  int64_t step_;
};

/*! \brief The extent of an axis after. */
int64_t RepeatedExtent(int64_t extent, const Ints& repeats) {
  const auto size = static_cast<int64_t>(repeats.values.size());
  if (size != 1 && AreDifferent(size, extent)) {
    MXNET_THROW("ValueError") << "operands could not be broadcast together with shape (" << extent
                              << ",) (" << size << ",)";
  }
  int64_t total = 0;
  for (int64_t count : repeats.values) {
    if (count < 0) MXNET_THROW("ValueError") << "repeats may not contain negative values.";
    total = AddExtent(total, count);
  }
  return size == 1 ? MultiplyExtent(extent, total) : total;
}

void InferRepeat(const InferCall& call, const RepeatAttributes& attributes) {
  const MXNetTensorSpec& in = call.in[0];
  if (attributes.axis && in.ndim > 0) {
    const int axis = NormalizeAxis(attributes.axis->value, in.ndim);
    SetSpec(in.dtype, ShapeOf(in), call.out);
    call.out->shape[axis] = RepeatedExtent(in.shape[axis], attributes.repeats);
    return;
  }
  if (attributes.axis) NormalizeAxis(attributes.axis->value, 1);
  const int64_t size = RepeatedExtent(SizeOf(ShapeOf(in)), attributes.repeats);
  SetSpec(in.dtype, ShapeView(&size, 1), call.out);
}

/*! \brief Writes each of `extent` spans of `bytes` bytes as often as counts says. */
char* RepeatSpans(const char* from, int64_t extent, int64_t bytes, const Counts& counts, char* to) {
  for (int64_t i = 0; i < extent; ++i, from += bytes) {
    for (int64_t left = counts.at(i); left > 0; --left, to += bytes) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    }
  }
  return to;
}

/*! \brief Writes each of n spans of the size of T kTimes, of which the compiler knows. */
template <typename T, int kTimes>
struct RepeatTimes {
  // A span of several smaller elements may begin anywhere.
  struct [[gnu::packed]] Span {
    T bits;
  };
  static MXNET_ALWAYS_INLINE void Run(const Span* from, int64_t n, Span* to) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 4
      for (int c = 0; c < kTimes; ++c) to[i * kTimes + c] = from[i];
    }
  }
};

template <typename T, int kTimes>
char* RepeatAll(const char* from, int64_t extent, char* to) {
  using Span = typename RepeatTimes<T, kTimes>::Span;
  static const auto run = ForCpu<RepeatTimes<T, kTimes>>();
  run(reinterpret_cast<const Span*>(from), extent, reinterpret_cast<Span*>(to));
  return to + extent * kTimes * static_cast<int64_t>(sizeof(T));
}

/*! \brief The same for spans of the size of T. */
template <typename T>
char* RepeatElements(const char* from, int64_t extent, const Counts& counts, char* to) {
  if (counts.of_all() == 2) return RepeatAll<T, 2>(from, extent, to);
  if (counts.of_all() == 3) return RepeatAll<T, 3>(from, extent, to);
  if (counts.of_all() == 4) return RepeatAll<T, 4>(from, extent, to);
  // By memcpy, as a span of several smaller elements may begin anywhere.
  for (int64_t i = 0; i < extent; ++i, from += sizeof(T)) {
    T span;
    std::memcpy(&span, from, sizeof(T));
    for (int64_t left = counts.at(i); left > 0; --left, to += sizeof(T)) {
      std::memcpy(to, &span, sizeof(T));
    }
  }
  return to;
}

char* RepeatAlong(const char* from, int64_t extent, int64_t bytes, const Counts& counts, char* to) {
  switch (bytes) {
    case 1:
      return RepeatElements<uint8_t>(from, extent, counts, to);
    case 2:
      return RepeatElements<uint16_t>(from, extent, counts, to);
    case 4:
      return RepeatElements<uint32_t>(from, extent, counts, to);
    case 8:
      return RepeatElements<uint64_t>(from, extent, counts, to);
    default:
      return RepeatSpans(from, extent, bytes, counts, to);
  }
}

void RunRepeat(const RunCall& call, const RepeatAttributes& attributes) {
  const DLTensor& in = call.in[0];
  const DLTensor& out = call.out[0];
  if (TensorSize(out) == 0) return;
  const NDArray packed = IsContiguous(in) ? NDArray() : Contiguous(in);
  const DLTensor& source = packed.defined() ? packed.tensor() : in;
  int64_t extent = TensorSize(in);
  int64_t bytes = ItemSize(in.dtype);
  if (attributes.axis && in.ndim > 0) {
    const int axis = NormalizeAxis(attributes.axis->value, in.ndim);
    extent = in.shape[axis];
    for (int d = axis + 1; d < in.ndim; ++d) bytes *= in.shape[d];
  }
  const Counts counts(attributes.repeats);
  const auto* from = static_cast<const char*>(TensorData(source));
  auto* to = static_cast<char*>(TensorData(out));
  const char* const end = to + TensorSize(out) * ItemSize(out.dtype);
  for (; to != end; from += extent * bytes) to = RepeatAlong(from, extent, bytes, counts, to);
}

MXNET_REGISTER_OPERATOR("_npi.repeat", RepeatAttributes)
    .describe("Repeat each element of an array.")
    .input("a", kArrayDoc)
    .attribute("repeats", &RepeatAttributes::repeats, "How often; for all, or for each.")
    .attribute("axis", &RepeatAttributes::axis, nullptr, "The axis; if None a is flattened first.")
    .release_gil(kReleaseBytes)
    .infer(&InferRepeat)
    .run(&RunRepeat);

}  // namespace
}  // namespace op
}  // namespace mxnet
