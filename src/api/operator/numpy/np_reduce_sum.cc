/*!
 * \file np_reduce_sum.cc
 * \brief sum and prod.
 */
#include "api/common/arguments.h"
#include "api/common/describe.h"
#include "api/operator/numpy/np_reduce.h"

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

struct SumFold {
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
    return Acc<T>(0);
  }
  template <typename T>
  static Acc<T> Combine(Acc<T> total, Computed<T> x) {
    return total + static_cast<Acc<T>>(x);
  }
  template <typename T>
  static Acc<T> Merge(Acc<T> a, Acc<T> b) {
    return a + b;
  }
};

struct ProdFold {
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
    return Acc<T>(1);
  }
  template <typename T>
  static Acc<T> Combine(Acc<T> total, Computed<T> x) {
    return Merge<T>(total, static_cast<Acc<T>>(x));
  }
  template <typename T>
  static Acc<T> Merge(Acc<T> a, Acc<T> b) {
    if constexpr (kIsComplexType<T>) {
      return T(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    } else {
      return a * b;
    }
  }
};

constexpr FoldTable kProdTable = FoldLoops<ProdFold>();

/*! \brief Body of a reduction with arguments a, axis, dtype, out, keepdims. */
void RunTotal(const FoldTable& table, const MXNetArgs& args, MXNetRetValue* ret) {
  Operand a(args[0]);
  const bool converts = !args[2].is_null();
  const DLDataType dtype = converts ? DTypeOf(args[2]) : a.dtype();
  const ConvertedElements elements(&a, dtype);
  Reduction r(elements.tensor(), args[1], ToFlag(args[4]));
  r.set_reader(elements.reader());
  if (converts) AnnounceResult(r.out_shape(), dtype, a.ctx());
  NDArray total = Fold(table, r, dtype, r.out_shape(), a.ctx());
  if (converts && total.dtype() != dtype) total = AsType(total.tensor(), dtype);
  ReturnInto(std::move(total), args[3], ret);
}

#define MXNET_REGISTER_TOTAL(Name, Doc, Table)                                                 \
  MXNET_REGISTER_OP("_npi." Name)                                                              \
      .describe(Doc                                                                            \
                "\n\nbool and integers give int64 or uint64; float16 and bfloat16 accumulate " \
                "in float32. Of no elements it is the neutral element.")                       \
      .add_argument("a", kArrayType, "Elements to fold.")                                      \
      .add_argument("axis", kOptionalAxesType, nullptr, MXNET_AXIS_DOC)                        \
      .add_argument("dtype", kDTypeType, nullptr, "Type of the result, converted to first.")   \
      .add_argument("out", "ndarray | None", nullptr, MXNET_OUT_DOC)                           \
      .written()                                                                               \
      .add_argument("keepdims", "bool", false, MXNET_KEEPDIMS_DOC)                             \
      .release_gil(kReleaseGilBytes)                                                           \
      .set_body([](MXNetArgs args, MXNetRetValue* ret) { RunTotal(Table, args, ret); })

MXNET_REGISTER_TOTAL("sum", "Sum of elements over axes.", kSumTable);
MXNET_REGISTER_TOTAL("prod", "Product of elements over axes.", kProdTable);

}  // namespace

constexpr FoldTable kSumLoops = FoldLoops<SumFold>();
const FoldTable kSumTable = kSumLoops;

}  // namespace op
}  // namespace mxnet
