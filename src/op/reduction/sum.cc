/*!
 * \file sum.cc
 * \brief sum and prod.
 */
#include "op/reduction/reduce.h"
#include "op/schema/describe.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Integers accumulate in 64 bits without sign, where overflow is defined to wrap. */
template <typename T>
using AccumulatorOf = std::conditional_t<std::is_integral_v<T>, uint64_t, Computed<T>>;

template <typename T>
using TotalOf = std::conditional_t<
    std::is_integral_v<T>,
    std::conditional_t<std::is_signed_v<T> || std::is_same_v<T, bool>, int64_t, uint64_t>, T>;

/*! \brief Enough for two vector registers of float, and few enough to stay in registers. */
constexpr int kTotalLanes = 16;
/*! \brief Short enough that the rounding of a sum stays small: blocks add up pairwise. */
constexpr int64_t kTotalBlock = 256;

/*! \brief A sum or product, which begins with the neutral element. */
template <typename Op, int kNeutral>
struct TotalReducer {
  static constexpr bool kReads = true;
  template <typename T>
  static constexpr int kLanes = kTotalLanes;
  static constexpr int64_t kBlock = kTotalBlock;
  template <typename T>
  using Acc = AccumulatorOf<T>;
  template <typename T>
  using Result = TotalOf<T>;
  template <typename T>
  static Acc<T> Start(Computed<T>) {
    return Acc<T>(kNeutral);
  }
  template <typename T>
  static Acc<T> Combine(Acc<T> total, Computed<T> x) {
    return Op::Apply(total, static_cast<Acc<T>>(x));
  }
  template <typename T>
  static Acc<T> Merge(Acc<T> a, Acc<T> b) {
    return Op::Apply(a, b);
  }
};

constexpr ReduceTable kSumLoops = ReduceLoops<TotalReducer<reductions::sum, 0>>();
constexpr ReduceTable kProdTable = ReduceLoops<TotalReducer<reductions::prod, 1>>();

struct TotalAttributes : ReduceAttributes {
  std::optional<DLDataType> dtype;
};

void InferTotal(const InferCall& call, const TotalAttributes& attributes) {
  const auto& table = *static_cast<const ReduceTable*>(call.data);
  const DLDataType elements = attributes.dtype.value_or(call.in[0].dtype);
  const DLDataType total = table.results[CheckedIndexOfDType(elements)];
  SetReduced(attributes.dtype.value_or(total), ShapeOf(call.in[0]), attributes, call.out);
}

void RunTotal(const RunCall& call, const TotalAttributes& attributes) {
  const auto& table = *static_cast<const ReduceTable*>(call.data);
  const DLTensor& out = call.out[0];
  const DLDataType dtype = attributes.dtype.value_or(call.in[0].dtype);
  const ConvertedElements elements(call.in[0], dtype);
  Reduction r(call.in[0], attributes.axis);
  r.set_reader(elements.reader());
  if (table.results[IndexOfDType(dtype)] == out.dtype) return ReduceInto(table, r, dtype, out);
  CopyCast(Reduce(table, r, dtype, TensorShape(out)).tensor(), out);
}

#define MXNET_REGISTER_TOTAL(Name, Doc, Table)                                                 \
  MXNET_REGISTER_OPERATOR("_npi." Name, TotalAttributes)                                       \
      .describe(Doc                                                                            \
                "\n\nbool and integers give int64 or uint64; float16 and bfloat16 accumulate " \
                "in float32. Of no elements it is the neutral element.")                       \
      .input("a", "Elements to reduce.")                                                       \
      .attribute("axis", &TotalAttributes::axis, nullptr, MXNET_AXIS_DOC)                      \
      .attribute("dtype", &TotalAttributes::dtype, nullptr,                                    \
                 "Type of the result, converted to first; that of out, where it is wider.")    \
      .out()                                                                                   \
      .attribute("keepdims", &TotalAttributes::keepdims, false, MXNET_KEEPDIMS_DOC)            \
      .types(kMXNetTypesNumbersByDType)                                                        \
      .properties(kMXNetOpTypeOfOut)                                                           \
      .release_gil(kReleaseGilBytes)                                                           \
      .data(&(Table))                                                                          \
      .infer(&InferTotal)                                                                      \
      .run(&RunTotal)

MXNET_REGISTER_TOTAL("sum", "Sum of elements over axes.", kSumLoops);
MXNET_REGISTER_TOTAL("prod", "Product of elements over axes.", kProdTable);

}  // namespace

const ReduceTable kSumTable = kSumLoops;

}  // namespace op
}  // namespace mxnet
