/*!
 * \file range.cc
 * \brief Evenly spaced numbers.
 */
#include "op/creation/range.h"

#include <mxnet/op/operator.h>

#include <cmath>

#include "op/creation/creation.h"
#include "op/kernels/cpu.h"
#include "op/schema/describe.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

bool IsInteger(const Number& number) { return number.type_code != kMXNetFloat; }

/*! \brief The value of a number that IsInteger; wide enough for sums and differences. */
__int128 WideOf(const Number& number) {
  if (number.type_code == kMXNetUInt) return number.value.v_uint64;
  return number.value.v_int64;
}

double RealOf(const Number& number) {
  if (number.type_code == kMXNetFloat) return number.value.v_float64;
  if (number.type_code == kMXNetUInt) return static_cast<double>(number.value.v_uint64);
  return static_cast<double>(number.value.v_int64);
}

Number NumberOf(int64_t value) {
  Number number;
  number.value.v_int64 = value;
  return number;
}

int64_t CeilOf(double length) {
  if (std::isnan(length)) MXNET_THROW("ValueError") << "cannot compute length";
  length = std::ceil(length);
  if (length >= 0x1p63) MXNET_THROW("ValueError") << "Maximum allowed size exceeded";
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

/*! \brief The numbers of arange: start and step are 0 and 1 unless they are given. */
struct Range {
  Range(const Number& from, const Number& to, const Number& by)
      : start(from),
        stop(to),
        step(by),
        is_integer(IsInteger(start) && IsInteger(stop) && IsInteger(step)) {}
  explicit Range(const RangeAttributes& attributes)
      : Range(attributes.stop ? attributes.start : NumberOf(0),
              attributes.stop.value_or(attributes.start), attributes.step.value_or(NumberOf(1))) {}

  Number start;
  Number stop;
  Number step;
  bool is_integer;
};

/*! \brief Number of elements from start to stop; exact for integers of any size. */
int64_t LengthOf(const Range& range) {
  if (!range.is_integer) {
    const double by = RealOf(range.step);
    if (by == 0) MXNET_THROW("ZeroDivisionError") << "division by zero";
    return CeilOf((RealOf(range.stop) - RealOf(range.start)) / by);
  }
  const __int128 span = WideOf(range.stop) - WideOf(range.start);
  const __int128 by = WideOf(range.step);
  if (by == 0) MXNET_THROW("ZeroDivisionError") << "division by zero";
  // By 1 in most calls, and a division of 128 bits takes long.
  const __int128 length = by == 1 ? span : (span + (by > 0 ? by - 1 : by + 1)) / by;
  if (length > INT64_MAX) MXNET_THROW("ValueError") << "Maximum allowed size exceeded";
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

/*! \brief Of more numbers the positions are no int32, which processors convert many of at a time.
 */
constexpr int64_t kMostCounted = INT32_MAX;

/*! \brief out[i] = start + i * delta, in a real type; two roundings, as NumPy has it. */
template <typename T, typename Real, typename Position>
struct RangeBody {
  static MXNET_ALWAYS_INLINE void Run(T* out, int64_t n, Real start, Real delta) {
    const auto count = static_cast<Position>(n);
    for (Position i = 0; i < count; ++i) out[i] = T(start + static_cast<Real>(i) * delta);
  }
};

/*! \brief The same of integers, which wrap. */
template <typename T>
struct IntegerRangeBody {
  static MXNET_ALWAYS_INLINE void Run(T* out, int64_t n, uint64_t start, uint64_t delta) {
    using U = std::make_unsigned_t<T>;
    auto value = static_cast<U>(start);
    const auto step = static_cast<U>(delta);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(value);
      value = static_cast<U>(value + step);
    }
  }
};

/*!
 * \brief Fills with first, second, and on by their difference, which is taken in the element type.
 *
 * That is how NumPy does it, and what makes the result differ from start + i * step.
 */
template <typename T>
void FillRange(T* out, int64_t n, T first, T second) {
  if constexpr (kIsIntType<T>) {
    static const auto run = ForCpu<IntegerRangeBody<T>>();
    const uint64_t start = static_cast<uint64_t>(first);
    run(out, n, start, static_cast<uint64_t>(second) - start);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (n > 0) out[0] = first;
    if (n > 1) out[1] = second;
  } else if constexpr (kIsComplexType<T>) {
    const T delta = second - first;
    for (int64_t i = 2; i < n; ++i) {
      out[i] = first + static_cast<typename T::value_type>(i) * delta;
    }
    out[0] = first;
    if (n > 1) out[1] = second;
  } else {
    using Real = std::conditional_t<kIsHalfType<T>, float, T>;
    static const auto run = ForCpu<RangeBody<T, Real, int32_t>>();
    static const auto run_many = ForCpu<RangeBody<T, Real, int64_t>>();
    const Real start = static_cast<Real>(first);
    (n <= kMostCounted ? run : run_many)(out, n, start, static_cast<Real>(second) - start);
    out[0] = first;
    if (n > 1) out[1] = second;
  }
}

/*! \brief start + step as a Python number: an exact int where both are ints. */
Number SecondOf(const Range& range) {
  Number sum;
  const bool exact = IsInteger(range.start) && IsInteger(range.step);
  const __int128 wide = exact ? WideOf(range.start) + WideOf(range.step) : 0;
  if (__builtin_expect(exact && wide == static_cast<int64_t>(wide), 1)) {
    sum.value.v_int64 = static_cast<int64_t>(wide);
  } else if (exact && wide > 0 && wide <= UINT64_MAX) {
    sum.type_code = kMXNetUInt;
    sum.value.v_uint64 = static_cast<uint64_t>(wide);
  } else {
    sum.type_code = kMXNetFloat;
    sum.value.v_float64 = RealOf(range.start) + RealOf(range.step);
  }
  return sum;
}

/*! \brief The type of a range for which none is asked: int64, or uint64 beyond it, of integers. */
DLDataType DTypeOf(const Range& range) {
  if (!range.is_integer) return kFloat32;
  const bool is_large = range.start.type_code == kMXNetUInt || range.stop.type_code == kMXNetUInt;
  return is_large ? kUInt64 : kInt64;
}

void CheckLength(int64_t n, DLDataType dtype) {
  if (n <= 2 || !IsBoolDType(dtype)) return;
  MXNET_THROW("TypeError") << "only supported for booleans when the result has at most length 2";
}

/*! \brief A number as an element; what most calls have without the ways of all others. */
template <typename T>
T ElementOf(const Number& number, DLDataType dtype) {
  constexpr bool kIsCommon = std::is_floating_point_v<T> || std::is_same_v<T, int64_t>;
  if constexpr (kIsCommon) {
    if (number.type_code == kMXNetInt) return static_cast<T>(number.value.v_int64);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (number.type_code == kMXNetFloat) return static_cast<T>(number.value.v_float64);
  }
  T element{};
  StoreNumber(number.value, number.type_code, dtype, &element);
  return element;
}

/*! \brief Calls fill with the first two of n numbers as elements, of which further ones are made.
 */
template <typename F>
void WithFirstTwo(const Range& range, int64_t n, DLDataType dtype, F&& fill) {
  if (n == 0) return;
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T first = ElementOf<T>(range.start, dtype);
    fill(first, n > 1 ? ElementOf<T>(SecondOf(range), dtype) : T{});
  });
}

void WriteRange(const Range& range, const DLTensor& out) {
  const int64_t n = out.shape[0];
  WithFirstTwo(range, n, out.dtype, [&](auto first, auto second) {
    FillRange(static_cast<decltype(first)*>(TensorData(out)), n, first, second);
  });
}

void InferRange(const InferCall& call, const RangeAttributes& attributes) {
  const Range range(attributes);
  const int64_t n = LengthOf(range);
  const DLDataType dtype = attributes.dtype.value_or(DTypeOf(range));
  SetMade(dtype, ShapeView(&n, 1), call.out);
  CheckLength(n, dtype);
  // Throws where they are no elements of the type.
  WithFirstTwo(range, n, dtype, [](auto, auto) {});
}

void RunRange(const RunCall& call, const RangeAttributes& attributes) {
  WriteRange(Range(attributes), call.out[0]);
}

/*! \brief The numbers of linspace, computed as NumPy does, in double. */
struct Spacing {
  Spacing(double from, double to, int64_t num, bool endpoint)
      : start(from), stop(to), count(num), ends(endpoint && num > 1), parts(num - endpoint) {
    delta = stop - start;
    step = delta / static_cast<double>(parts);
  }

  template <typename Position>
  MXNET_ALWAYS_INLINE double At(Position i) const {
    const auto position = static_cast<double>(i);
    if (parts <= 0) return position * delta + start;
    // A step that underflows would make all numbers equal.
    if (step == 0) return position / static_cast<double>(parts) * delta + start;
    return position * step + start;
  }

  double distance() const { return parts > 0 ? step : std::nan(""); }

  double start;
  double stop;
  int64_t count;
  bool ends;
  int64_t parts;
  double delta;
  double step;
};

Spacing SpacingOf(const SpacingAttributes& attributes) {
  return {attributes.start, attributes.stop, attributes.num, attributes.endpoint};
}

/*! \brief The distance of neighbours is a second output. */
int CountSpaced(const InferCall&, const SpacingAttributes& attributes) {
  return attributes.retstep ? 2 : 1;
}

void CheckCount(int64_t num) {
  if (num >= 0) return;
  MXNET_THROW("ValueError") << "Number of samples, " << num << ", must be non-negative.";
}

void InferSpaced(const InferCall& call, const SpacingAttributes& attributes) {
  CheckCount(attributes.num);
  SetMade(attributes.dtype.value_or(kFloat32), ShapeView(&attributes.num, 1), &call.out[0]);
  if (attributes.retstep) SetSpec(kFloat64, ShapeView(), &call.out[1]);
}

template <typename T>
MXNET_ALWAYS_INLINE T SpacedElement(double number) {
  return CastValue<T>(kIsIntType<T> ? std::floor(number) : number);
}

template <typename T, typename Position>
struct SpacedBody {
  static MXNET_ALWAYS_INLINE void Run(T* out, const Spacing* given) {
    const Spacing numbers = *given;
    const auto count = static_cast<Position>(numbers.count);
    for (Position i = 0; i < count; ++i) out[i] = SpacedElement<T>(numbers.At(i));
  }
};

void WriteSpaced(const Spacing& numbers, const DLTensor& array) {
  DispatchDType(array.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    static const auto run = ForCpu<SpacedBody<T, int32_t>>();
    static const auto run_many = ForCpu<SpacedBody<T, int64_t>>();
    T* out = static_cast<T*>(TensorData(array));
    (numbers.count <= kMostCounted ? run : run_many)(out, &numbers);
    if (numbers.ends) out[numbers.count - 1] = SpacedElement<T>(numbers.stop);
  });
}

void RunSpaced(const RunCall& call, const SpacingAttributes& attributes) {
  const Spacing numbers = SpacingOf(attributes);
  WriteSpaced(numbers, call.out[0]);
  if (attributes.retstep) *static_cast<double*>(TensorData(call.out[1])) = numbers.distance();
}

MXNET_REGISTER_OPERATOR("_npi.arange", RangeAttributes)
    .describe(
        "Return evenly spaced numbers within the half-open interval [start, stop).\n\n"
        "With one argument, it is the end and the interval starts at 0.")
    .attribute("start", &RangeAttributes::start, "First number; or the end, if stop is not given.")
    .attribute("stop", &RangeAttributes::stop, nullptr, "End, which is not included.")
    .attribute("step", &RangeAttributes::step, 1, "Distance between neighbours, not 0; 1 if None.")
    .attribute("dtype", &RangeAttributes::dtype, nullptr,
               "Element type; if None int64 for integers, and float32 else.")
    .context()
    .infer(&InferRange)
    .run(&RunRange);

MXNET_REGISTER_OPERATOR("_npi.linspace", SpacingAttributes)
    .describe("Return num evenly spaced numbers over an interval.")
    .attribute("start", &SpacingAttributes::start, "First number.")
    .attribute("stop", &SpacingAttributes::stop, "Last number, or the end that is not included.")
    .attribute("num", &SpacingAttributes::num, 50, "How many numbers.")
    .attribute("endpoint", &SpacingAttributes::endpoint, true, "Whether stop is the last number.")
    .attribute("retstep", &SpacingAttributes::retstep, false,
               "Whether to return the distance of neighbours too.")
    .attribute("dtype", &SpacingAttributes::dtype, nullptr, kDTypeDoc)
    .context()
    .returns("ndarray | tuple[ndarray, float]")
    .outputs(&CountSpaced)
    .infer(&InferSpaced)
    .run(&RunSpaced);

}  // namespace

NDArray MakeRange(const RangeAttributes& attributes, Context ctx) {
  const Range range(attributes);
  const int64_t n = LengthOf(range);
  const DLDataType dtype = attributes.dtype ? *attributes.dtype : DTypeOf(range);
  if (attributes.dtype) CheckedIndexOfDType(dtype);
  NDArray made = NDArray::Empty(ShapeView(&n, 1), dtype, ctx);
  CheckLength(n, dtype);
  WriteRange(range, made.tensor());
  return made;
}

NDArray MakeSpaced(const SpacingAttributes& attributes, Context ctx, double* distance) {
  CheckCount(attributes.num);
  const DLDataType dtype = attributes.dtype.value_or(kFloat32);
  if (attributes.dtype) CheckedIndexOfDType(dtype);
  const Spacing numbers = SpacingOf(attributes);
  NDArray made = NDArray::Empty(ShapeView(&attributes.num, 1), dtype, ctx);
  WriteSpaced(numbers, made.tensor());
  *distance = numbers.distance();
  return made;
}

}  // namespace op
}  // namespace mxnet
