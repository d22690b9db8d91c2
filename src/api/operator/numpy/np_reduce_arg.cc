/*!
 * \file np_reduce_arg.cc
 * \brief argmax and argmin.
 */
#include "api/common/arguments.h"
#include "api/common/describe.h"
#include "api/operator/numpy/kernels/extremum.h"
#include "api/operator/numpy/np_order.h"
#include "api/operator/numpy/np_reduce.h"

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

/*! \brief Finds along the one folded axis of a reduction, for each index of the kept ones. */
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

constexpr FindTable kLargest = FindLoops<Largest>();
constexpr FindTable kSmallest = FindLoops<Smallest>();

/*!
 * \brief The positions as out, where there is one, has them: integers that int64 can hold, as in
 * NumPy. TypeError for others.
 */
NDArray PositionsFor(const MXNetArgValue& out, NDArray positions) {
  const DLTensor* tensor = nullptr;
  if (out.is_null() || out.TryAs(&tensor) != Match::kOk) return positions;
  if (PromoteTypes(tensor->dtype, kInt64) != kInt64) {
    MXNET_THROW("TypeError") << out.text() << ": Cannot cast array data from dtype('"
                             << DataTypeName(tensor->dtype)
                             << "') to dtype('int64') according to the rule 'safe'";
  }
  return AsType(positions.tensor(), tensor->dtype);
}

/*! \brief Body with arguments a, axis, out, keepdims. */
void RunFind(const FindTable& table, const char* name, const MXNetArgs& args, MXNetRetValue* ret) {
  Operand a(args[0]);
  if (!args[1].is_null()) ToInt(args[1]);
  const DLTensor* elements = &a.TensorAs(a.dtype());
  NDArray flat;
  if (args[1].is_null() && !IsContiguous(*elements) && !IsMeta(*elements)) {
    // Positions count in row-major order, which the folded axes of another layout are not in.
    flat = Contiguous(*elements);
    elements = &flat.tensor();
  }
  const Reduction r(*elements, args[1], ToFlag(args[3]));
  if (r.count() == 0) {
    MXNET_THROW("ValueError") << "attempt to get " << name << " of an empty sequence";
  }
  NDArray result = NDArray::Empty(r.out_shape(), kInt64, a.ctx());
  const auto find = table.find[CheckedIndexOfDType(a.dtype())];
  const int64_t stride = r.folded().ndim == 0 ? 0 : r.folded_strides()[0];
  auto* to = result.data_as<int64_t>();
  if (result.size() != 0) {
    ForEachOffset(r.data(), r.kept(), r.kept_strides(), r.kept().ndim,
                  [&](const char* x) { *to++ = find(x, stride, r.count()); });
  }
  ReturnInto(PositionsFor(args[2], std::move(result)), args[2], ret);
}

#define MXNET_REGISTER_FIND(Name, Doc, Table)                                                \
  MXNET_REGISTER_OP("_npi." Name)                                                            \
      .describe(Doc                                                                          \
                " The result is int64. Raises ValueError for no elements, AxisError for an " \
                "axis the array has not.")                                                   \
      .add_argument("a", kArrayType, "Elements to search.")                                  \
      .add_argument("axis", kOptionalAxisType, nullptr,                                      \
                    "Axis that is searched; None searches the flattened array.")             \
      .add_argument("out", "ndarray | None", nullptr, MXNET_OUT_DOC)                         \
      .written()                                                                             \
      .add_argument("keepdims", "bool", false, MXNET_KEEPDIMS_DOC)                           \
      .release_gil(kReleaseGilBytes)                                                         \
      .set_body([](MXNetArgs args, MXNetRetValue* ret) { RunFind(Table, Name, args, ret); })

MXNET_REGISTER_FIND("argmax", "Position of the first NaN, or else of the first largest element.",
                    kLargest);
MXNET_REGISTER_FIND("argmin", "Position of the first NaN, or else of the first smallest element.",
                    kSmallest);

}  // namespace
}  // namespace op
}  // namespace mxnet
