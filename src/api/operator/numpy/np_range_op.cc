/*!
 * \file np_range_op.cc
 * \brief Evenly spaced numbers.
 */
#include <cmath>
#include <utility>
#include <vector>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/describe.h"
#include "api/common/nested.h"

namespace mxnet {
namespace op {
namespace {

bool IsInteger(const MXNetArgValue& arg) {
  return KindOfNumber(arg.type_code()) == WeakKind::kInt || arg.type_code() == kMXNetBool;
}

/*! \brief The value of an argument that IsInteger; wide enough for sums and differences. */
__int128 WideOf(const MXNetArgValue& arg) {
  if (arg.type_code() == kMXNetUInt) return arg.value().v_uint64;
  return arg.value().v_int64;
}

int64_t CeilOf(double length) {
  if (std::isnan(length)) MXNET_THROW("ValueError") << "cannot compute length";
  length = std::ceil(length);
  if (length >= 0x1p63) MXNET_THROW("ValueError") << "Maximum allowed size exceeded";
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

/*! \brief Number of elements from start to stop; exact for integers of any size. */
int64_t RangeLength(const MXNetArgValue& start, const MXNetArgValue& stop,
                    const MXNetArgValue& step) {
  if (!IsInteger(start) || !IsInteger(stop) || !IsInteger(step)) {
    const double by = step.As<double>();
    if (by == 0) MXNET_THROW("ZeroDivisionError") << "division by zero";
    return CeilOf((stop.As<double>() - start.As<double>()) / by);
  }
  const __int128 span = WideOf(stop) - WideOf(start);
  const __int128 by = WideOf(step);
  if (by == 0) MXNET_THROW("ZeroDivisionError") << "division by zero";
  const __int128 length = (span + (by > 0 ? by - 1 : by + 1)) / by;
  if (length > INT64_MAX) MXNET_THROW("ValueError") << "Maximum allowed size exceeded";
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

/*!
 * \brief Fills with first, second, and on by their difference, which is taken in the element type.
 *
 * That is how NumPy does it, and what makes the result differ from start + i * step.
 */
template <typename T>
void FillRange(T* out, int64_t n, T first, T second) {
  if constexpr (kIsIntType<T>) {
    const uint64_t start = static_cast<uint64_t>(first);
    const uint64_t delta = static_cast<uint64_t>(second) - start;
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(start + static_cast<uint64_t>(i) * delta);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    if (n > 2) {
      MXNET_THROW("TypeError")
          << "only supported for booleans when the result has at most length 2";
    }
    if (n > 0) out[0] = first;
    if (n > 1) out[1] = second;
  } else {
    using Real = std::conditional_t<kIsHalfType<T>, float, T>;
    const Real start = static_cast<Real>(first);
    const Real delta = static_cast<Real>(second) - start;
    out[0] = first;
    if (n > 1) out[1] = second;
    for (int64_t i = 2; i < n; ++i) {
      if constexpr (kIsComplexType<T>) {
        out[i] = start + static_cast<typename T::value_type>(i) * delta;
      } else {
        out[i] = T(start + static_cast<Real>(i) * delta);
      }
    }
  }
}

/*! \brief start + step as a Python number: an exact int where both are ints. */
MXNetValue NextNumber(const MXNetArgValue& start, const MXNetArgValue& step, int* type_code) {
  MXNetValue sum;
  const __int128 exact = IsInteger(start) && IsInteger(step) ? WideOf(start) + WideOf(step) : 0;
  if (!IsInteger(start) || !IsInteger(step) || exact < INT64_MIN || exact > UINT64_MAX) {
    *type_code = kMXNetFloat;
    sum.v_float64 = start.As<double>() + step.As<double>();
  } else if (exact > INT64_MAX) {
    *type_code = kMXNetUInt;
    sum.v_uint64 = static_cast<uint64_t>(exact);
  } else {
    *type_code = kMXNetInt;
    sum.v_int64 = static_cast<int64_t>(exact);
  }
  return sum;
}

/*! \brief The type of a range for which none is asked: int64, or uint64 beyond it, of integers. */
DLDataType RangeDType(const MXNetArgValue& start, const MXNetArgValue& stop,
                      const MXNetArgValue& step) {
  if (!IsInteger(start) || !IsInteger(stop) || !IsInteger(step)) return kFloat32;
  const bool is_large = start.type_code() == kMXNetUInt || stop.type_code() == kMXNetUInt;
  return is_large ? kUInt64 : kInt64;
}

NDArray Range(const MXNetArgValue& start, const MXNetArgValue& stop, const MXNetArgValue& step,
              const MXNetArgValue& dtype_arg, Context ctx) {
  const int64_t n = RangeLength(start, stop, step);
  const DLDataType dtype = dtype_arg.is_null() ? RangeDType(start, stop, step) : DTypeOf(dtype_arg);
  NDArray array = NDArray::Empty(ShapeView(&n, 1), dtype, ctx);
  if (n == 0) return array;
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T first{};
    T second{};
    StoreNumber(start.value(), start.type_code(), dtype, &first);
    if (n > 1) {
      int type_code;
      const MXNetValue next = NextNumber(start, step, &type_code);
      StoreNumber(next, type_code, dtype, &second);
    }
    FillRange<T>(array.data_as<T>(), n, first, second);
  });
  return array;
}

/*! \brief The numbers of linspace, computed as NumPy does, in double. */
struct Spacing {
  Spacing(double from, double to, int64_t num, bool endpoint)
      : start(from), stop(to), count(num), ends(endpoint && num > 1), parts(num - endpoint) {
    delta = stop - start;
    step = delta / static_cast<double>(parts);
  }

  double operator[](int64_t i) const {
    if (ends && i == count - 1) return stop;
    const auto position = static_cast<double>(i);
    if (parts <= 0) return position * delta + start;
    // A step that underflows would make all numbers equal.
    if (step == 0) return position / static_cast<double>(parts) * delta + start;
    return position * step + start;
  }

  double start;
  double stop;
  int64_t count;
  bool ends;
  int64_t parts;
  double delta;
  double step;
};

NDArray Linspace(const Spacing& numbers, DLDataType dtype, Context ctx) {
  NDArray array = NDArray::Empty(ShapeView(&numbers.count, 1), dtype, ctx);
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = array.data_as<T>();
    for (int64_t i = 0; i < numbers.count; ++i) {
      const double number = numbers[i];
      out[i] = CastValue<T>(kIsIntType<T> ? std::floor(number) : number);
    }
  });
  return array;
}

MXNET_REGISTER_OP("_npi.arange")
    .describe(
        "Return evenly spaced numbers within the half-open interval [start, stop).\n\n"
        "With one argument, it is the end and the interval starts at 0.")
    .add_argument("start", "float", "First number; or the end, if stop is not given.")
    .add_argument("stop", "float | None", nullptr, "End, which is not included.")
    .add_argument("step", "float | None", 1, "Distance between neighbours, not 0; 1 if None.")
    .add_argument("dtype", kDTypeType, nullptr,
                  "Element type; if None int64 for integers, and float32 else.")
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      MXNetValue numbers[2];
      numbers[0].v_int64 = 0;
      numbers[1].v_int64 = 1;
      const MXNetArgValue zero(numbers[0], kMXNetInt, args.func, 0);
      const MXNetArgValue one(numbers[1], kMXNetInt, args.func, 2);
      const bool from_zero = args[1].is_null();
      *ret = Range(from_zero ? zero : args[0], args[from_zero ? 0 : 1],
                   args[2].is_null() ? one : args[2], args[3], ContextOrCurrent(args[4]));
    });

MXNET_REGISTER_OP("_npi.linspace")
    .describe("Return num evenly spaced numbers over an interval.")
    .add_argument("start", "float", "First number.")
    .add_argument("stop", "float", "Last number, or the end that is not included.")
    .add_argument("num", "int", 50, "How many numbers.")
    .add_argument("endpoint", "bool", true, "Whether stop is the last number.")
    .add_argument("retstep", "bool", false, "Whether to return the distance of neighbours too.")
    .add_argument("dtype", kDTypeType, nullptr, kDTypeDoc)
    .add_argument("ctx", kContextType, nullptr, kContextDoc)
    .returns("ndarray | tuple[ndarray, float]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const int64_t num = ToInt(args[2]);
      if (num < 0) {
        MXNET_THROW("ValueError") << "Number of samples, " << num << ", must be non-negative.";
      }
      const Spacing numbers(args[0].As<double>(), args[1].As<double>(), num, ToFlag(args[3]));
      const Context ctx = ContextOrCurrent(args[6]);
      // With the distance the result is no one array.
      if (ToFlag(args[4])) CheckHost(ctx);
      NDArray array = Linspace(numbers, DTypeOr(args[5], kFloat32), ctx);
      if (!ToFlag(args[4])) {
        *ret = std::move(array);
        return;
      }
      const double step = numbers.parts > 0 ? numbers.step : std::nan("");
      *ret = Tuple(std::vector<Any>{runtime::details::ToAny(array), runtime::details::ToAny(step)});
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
