/*!
 * \file np_where_op.cc
 * \brief Elements by condition: where, nonzero, clip.
 */
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/nested.h"
#include "api/common/nonzero.h"
#include "api/common/operand.h"
#include "api/operator/numpy/np_elemwise.h"

namespace mxnet {
namespace op {
namespace {

struct Wide {
  uint64_t parts[2];
};

/*! \brief out[i] = condition[i] ? x[i] : y[i] for elements of the size of T. */
template <typename T>
void ChooseRun(char* const* data, const int64_t* strides, int64_t n) {
  char* out = data[0];
  const char* condition = data[1];
  const char* x = data[2];
  const char* y = data[3];
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<T*>(out) = *reinterpret_cast<const T*>(*condition != 0 ? x : y);
    out += strides[0];
    condition += strides[1];
    x += strides[2];
    y += strides[3];
  }
}

InnerLoop ChooseLoop(int64_t item_size) {
  switch (item_size) {
    case 1:
      return &ChooseRun<uint8_t>;
    case 2:
      return &ChooseRun<uint16_t>;
    case 4:
      return &ChooseRun<uint32_t>;
    case 8:
      return &ChooseRun<uint64_t>;
    default:
      return &ChooseRun<Wide>;
  }
}

NDArray Where(Operand* condition, Operand* x, Operand* y) {
  const DLDataType dtype = ResultType(*x, *y);
  const ShapeView shapes[] = {condition->shape(), x->shape(), y->shape()};
  DimBuffer shape;
  BroadcastShapes(shapes, 3, &shape);
  Context ctx = ContextOf(*x, *y);
  if (condition->is_array() && IsMeta(condition->tensor())) ctx = condition->ctx();
  NDArray out = NDArray::Empty(shape.view(), dtype, ctx);
  StridedLoop<4> loop(shape.view());
  loop.Set(0, out.tensor());
  loop.Set(1, condition->TensorAs(kBool));
  loop.Set(2, x->TensorAs(dtype));
  loop.Set(3, y->TensorAs(dtype));
  loop.Run(ChooseLoop(ItemSize(dtype)));
  return out;
}

Tuple Nonzero(const NDArray& array) {
  if (array.ndim() == 0) {
    MXNET_THROW("ValueError") << "Calling nonzero on 0d arrays is not allowed. Use "
                              << "np.atleast_1d(scalar).nonzero() instead.";
  }
  const NDArray positions = FlatNonzero(AsMask(array));
  std::vector<Any> items;
  for (const NDArray& indices : UnravelPositions(positions, array.shape())) {
    items.push_back(runtime::details::AnyOfObject(indices));
  }
  return Tuple(std::move(items));
}

/*! \brief Calls a registered operator of two arguments, to a new array or to `out`. */
Any CallBinary(const PackedFunc& func, const Any& a, const MXNetArgValue& b, const Any& out) {
  const MXNetValue values[] = {a.value(), b.value(), out.value()};
  const int type_codes[] = {a.type_code(), b.type_code(), out.type_code()};
  return func.CallPacked(values, type_codes, 3).any();
}

/*! \brief Whether a limit is None, or a Python int that no value of an integer type is beyond. */
bool IsNoLimit(const MXNetArgValue& limit, DLDataType dtype, bool lower) {
  if (limit.is_null()) return true;
  if (!IsIntDType(dtype)) return false;
  const bool is_unsigned = dtype.code == kDLUInt;
  if (limit.type_code() == kMXNetUInt) return !lower && !(is_unsigned && dtype.bits == 64);
  if (limit.type_code() != kMXNetInt) return false;
  const int64_t value = limit.value().v_int64;
  if (lower) return value <= (is_unsigned ? 0 : INT64_MIN >> (64 - dtype.bits));
  if (is_unsigned) return dtype.bits < 64 && value >= (int64_t{1} << dtype.bits) - 1;
  return value >= INT64_MAX >> (64 - dtype.bits);
}

/*! \brief The type of an array and its limits, of which arrays count before Python numbers. */
DLDataType ClippedDType(const Operand& a, const MXNetArgValue& low, const MXNetArgValue& high) {
  CommonType arrays;
  arrays.Add(a.dtype());
  WeakKind kind = WeakKind::kNone;
  for (const MXNetArgValue* limit : {&low, &high}) {
    const DLTensor* tensor = nullptr;
    if (limit->TryAs(&tensor) == Match::kOk) {
      arrays.Add(tensor->dtype);
    } else {
      kind = std::max(kind, KindOfNumber(limit->type_code()));
    }
  }
  // Of a bool and an integer that limits nothing it stays bool. Numbers have no type to widen.
  const bool is_typed = a.is_array() && a.kind_of_numbers() == WeakKind::kNone;
  if (!is_typed || kind < WeakKind::kFloat) return arrays.dtype();
  return PromoteWeak(arrays.dtype(), kind);
}

/*! \brief What clipping to limits one after the other gives. */
void AnnounceClipped(const Operand& a, const MXNetArgValue& low, bool no_low,
                     const MXNetArgValue& high, bool no_high) {
  if (!a.is_array() || !IsMeta(a.tensor())) return;
  DLDataType dtype = ClippedDType(a, low, high);
  DimBuffer shape(a.shape());
  for (const MXNetArgValue* limit : {no_low ? nullptr : &low, no_high ? nullptr : &high}) {
    if (limit == nullptr) continue;
    const Operand b(*limit);
    // A list of numbers has no type of its own: that takes the elements.
    if (b.kind_of_numbers() != WeakKind::kNone) CheckHost(a.tensor());
    dtype = ResultType(dtype, WeakKind::kNone, b.dtype(), b.kind());
    const DimBuffer own(shape.view());
    const ShapeView shapes[] = {own.view(), b.shape()};
    BroadcastShapes(shapes, 2, &shape);
  }
  AnnounceResult(shape.view(), dtype, a.ctx());
}

/*! \brief A limit by whichever of its two names it was given. */
MXNetArgValue LimitOf(const MXNetArgValue& limit, const MXNetArgValue& alias) {
  if (limit.is_null()) return alias;
  if (!alias.is_null()) {
    MXNET_THROW("ValueError") << limit.text() << " is given again by " << alias.text();
  }
  return limit;
}

MXNET_REGISTER_OP("_npi.where")
    .describe(
        "Elements of x where the condition holds, of y elsewhere.\n\n"
        "The three broadcast together. With the condition alone, the indices at which it holds, "
        "as nonzero gives them.")
    .add_argument("condition", kArrayType, "Where to take from x; an element not zero is true.")
    .add_argument("x", kOptionalArrayType, nullptr, "Elements where the condition holds.")
    .add_argument("y", kOptionalArrayType, nullptr, "Elements where it does not.")
    .returns("ndarray | tuple[ndarray, ...]")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      if (args[1].is_null() != args[2].is_null()) {
        MXNET_THROW("ValueError") << "either both or neither of x and y should be given";
      }
      if (args[1].is_null()) {
        *ret = Nonzero(ToArray(args[0]));
        return;
      }
      Operand condition(args[0]);
      Operand x(args[1]);
      Operand y(args[2]);
      *ret = Where(&condition, &x, &y);
    });

MXNET_REGISTER_ELEMENTS_OP("_npi.nonzero")
    .describe("The indices of the elements that are not zero, one array an axis.")
    .add_argument("a", kArrayType, "Array of at least one axis.")
    .returns("tuple[ndarray, ...]")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = Nonzero(ToArray(args[0])); });

MXNET_REGISTER_OP("_npi.clip")
    .describe("Limit the elements of an array to a range.")
    .add_argument("a", kArrayType, kArrayDoc)
    .add_argument("a_min", kOptionalArrayType, nullptr, "Lower limit; none if None.")
    .add_argument("a_max", kOptionalArrayType, nullptr, "Upper limit; none if None.")
    .add_argument("out", kOutType, nullptr, kOutDoc)
    .written()
    .add_argument("min", kOptionalArrayType, nullptr, "Another name of a_min.")
    .add_argument("max", kOptionalArrayType, nullptr, "Another name of a_max.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      static const PackedFunc maximum = PackedFunc::GetGlobal("_npi.maximum");
      static const PackedFunc minimum = PackedFunc::GetGlobal("_npi.minimum");
      const Operand a(args[0]);
      const DLDataType dtype = a.dtype();
      const MXNetArgValue low = LimitOf(args[1], args[4]);
      const MXNetArgValue high = LimitOf(args[2], args[5]);
      const bool no_minimum = IsNoLimit(low, dtype, true);
      const bool no_maximum = IsNoLimit(high, dtype, false);
      if (no_minimum && no_maximum) {
        AnnounceResult(a.shape(), dtype, a.ctx());
        return ReturnInto(Contiguous(ToArray(args[0]).tensor()), args[3], ret);
      }
      AnnounceClipped(a, low, no_minimum, high, no_maximum);
      Any clipped = args[0].As<Any>();
      const DLDataType common = ClippedDType(a, low, high);
      if (a.is_array() && common != dtype) {
        clipped = runtime::details::ToAny(AsType(a.tensor(), common));
      }
      if (!no_minimum) clipped = CallBinary(maximum, clipped, low, Any());
      if (!no_maximum) {
        // What the lower limit made is nobody's yet, and takes the elements again.
        const bool stays = !no_minimum && common == dtype && IsNumber(high.type_code()) &&
                           PromoteWeak(dtype, KindOfNumber(high.type_code())) == dtype;
        clipped = CallBinary(minimum, clipped, high, stays ? clipped : Any());
      }
      ReturnInto(clipped.As<NDArray>(), args[3], ret);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
