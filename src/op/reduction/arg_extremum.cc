/*!
 * \file arg_extremum.cc
 * \brief argmax and argmin.
 */
#include "op/argument/arguments.h"
#include "op/kernels/reduction/extremum.h"
#include "op/reduction/reduce.h"
#include "op/schema/describe.h"
#include "op/semantics/order.h"

namespace mxnet {
namespace op {
namespace {

struct Largest {
  static constexpr bool kLargest = true;

  template <typename T>
  static bool Precedes(T a, T b) {
    return GreaterValue(a, b);
  }
};

struct Smallest {
  static constexpr bool kLargest = false;

  template <typename T>
  static bool Precedes(T a, T b) {
    return LessValue(a, b);
  }
};

/*! \brief Position of the first NaN, or else of the first element nothing precedes. */
template <typename Order, typename T>
int64_t FindFirst(const char* x, int64_t stride, int64_t n) {
  if constexpr (kHasExtremum<T>) {
    if (stride == sizeof(T)) {
      return FindExtremum<Order::kLargest>(reinterpret_cast<const T*>(x), n);
    }
  }
  int64_t best = 0;
  auto value = LoadAt<T>(x);
  for (int64_t i = 1; i < n && !IsNan(value); ++i) {
    const auto candidate = LoadAt<T>(x + i * stride);
    if (Order::Precedes(candidate, value) || IsNan(candidate)) {
      best = i;
      value = candidate;
    }
  }
  return best;
}

/*! \brief Finds along the one reduced axis of a reduction, for each index of the kept ones. */
struct FindTable {
  int64_t (*find[kNumDTypes])(const char* x, int64_t stride, int64_t n);
};

template <typename Order>
constexpr FindTable FindLoops() {
  return {{&FindFirst<Order, bool>, &FindFirst<Order, int8_t>, &FindFirst<Order, int16_t>,
           &FindFirst<Order, int32_t>, &FindFirst<Order, int64_t>, &FindFirst<Order, uint8_t>,
           &FindFirst<Order, uint16_t>, &FindFirst<Order, uint32_t>, &FindFirst<Order, uint64_t>,
           &FindFirst<Order, Half>, &FindFirst<Order, BFloat16>, &FindFirst<Order, float>,
           &FindFirst<Order, double>, &FindFirst<Order, Complex64>, &FindFirst<Order, Complex128>}};
}

/*! \brief A search, and its name for messages. */
struct Search {
  FindTable table;
  const char* name;
};

constexpr Search kLargest{FindLoops<Largest>(), "argmax"};
constexpr Search kSmallest{FindLoops<Smallest>(), "argmin"};

struct FindAttributes {
  std::optional<int64_t> axis;
  bool keepdims{false};

  /*! \brief The same as those of a reduction. */
  ReduceAttributes reduce() const {
    ReduceAttributes attributes;
    attributes.keepdims = keepdims;
    if (!axis) return attributes;
    attributes.axis.emplace();
    attributes.axis->push_back(*axis);
    attributes.axis->single = true;
    return attributes;
  }
};

void InferFind(const InferCall& call, const FindAttributes& attributes) {
  const auto& search = *static_cast<const Search*>(call.data);
  const ReduceAttributes reduce = attributes.reduce();
  SetReduced(kInt64, ShapeOf(call.in[0]), reduce, call.out);
  if (ReducedCount(ShapeOf(call.in[0]), reduce.axis) == 0) {
    MXNET_THROW("ValueError") << "attempt to get " << search.name << " of an empty sequence";
  }
}

void RunFind(const RunCall& call, const FindAttributes& attributes) {
  const auto& search = *static_cast<const Search*>(call.data);
  const DLTensor* elements = call.in;
  NDArray flat;
  if (!attributes.axis && !IsContiguous(*elements)) {
    // Positions count in row-major order, which the reduced axes of another layout are not in.
    flat = Contiguous(*elements);
    elements = &flat.tensor();
  }
  const Reduction r(*elements, attributes.reduce().axis);
  const auto find = search.table.find[CheckedIndexOfDType(elements->dtype)];
  const int64_t stride = r.reduced().ndim == 0 ? 0 : r.reduced_strides()[0];
  auto* to = static_cast<int64_t*>(TensorData(call.out[0]));
  if (TensorSize(call.out[0]) == 0) return;
  ForEachOffset(r.data(), r.kept(), r.kept_strides(), r.kept().ndim,
                [&](const char* x) { *to++ = find(x, stride, r.count()); });
}

#define MXNET_REGISTER_FIND(Name, Doc, Op)                                                   \
  MXNET_REGISTER_OPERATOR("_npi." Name, FindAttributes)                                      \
      .describe(Doc                                                                          \
                " The result is int64. Raises ValueError for no elements, AxisError for an " \
                "axis the array has not.")                                                   \
      .input("a", "Elements to search.")                                                     \
      .attribute("axis", &FindAttributes::axis, nullptr,                                     \
                 "Axis that is searched; None searches the flattened array.")                \
      .out()                                                                                 \
      .attribute("keepdims", &FindAttributes::keepdims, false, MXNET_KEEPDIMS_DOC)           \
      .properties(kMXNetOpNarrowOut)                                                         \
      .release_gil(kReleaseGilBytes)                                                         \
      .data(&(Op))                                                                           \
      .infer(&InferFind)                                                                     \
      .run(&RunFind)

MXNET_REGISTER_FIND("argmax", "Position of the first NaN, or else of the first largest element.",
                    kLargest);
MXNET_REGISTER_FIND("argmin", "Position of the first NaN, or else of the first smallest element.",
                    kSmallest);

}  // namespace
}  // namespace op
}  // namespace mxnet
