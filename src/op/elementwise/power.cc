/*!
 * \file power.cc
 * \brief power, of which some exponents are instructions.
 */
#include "op/elementwise/power.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "op/kernels/elementwise/math_loops.h"

namespace mxnet {
namespace op {
namespace {

struct Power : formulas::power {
  static constexpr char kFunction[] = "pow";

  using formulas::power::Apply;
  template <typename Part>
  static std::complex<Part> Apply(std::complex<Part> a, std::complex<Part> b) {
    const std::complex<Part> zero;
    if (b == zero) return 1;
    if (a == zero) {
      const Part nan = std::numeric_limits<Part>::quiet_NaN();
      if (b.real() > 0) return zero;
      return {nan, nan};
    }
    const Part exponent = b.real();
    if (b.imag() == 0 && std::fabs(exponent) < 100 && std::trunc(exponent) == exponent) {
      return IntegerPower(a, static_cast<int>(exponent));
    }
    return std::pow(a, b);
  }

  /*! \brief To the power 2. */
  struct Square {
    template <typename T>
    static T Apply(T x) {
      return x * x;
    }
  };

  /*! \brief To the power 0.5 of one number for all, as in NumPy: of -0 it is -0, of -infinity NaN.
   */
  struct SquareRoot {
    template <typename T>
    static T Apply(T x) {
      return std::sqrt(x);
    }
  };

  /*! \brief To the power 0.5 of one exponent among others: of -0 and of -infinity as pow has it. */
  struct Root {
    template <typename T>
    static T Apply(T x) {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      return x == -kInfinity ? kInfinity : std::sqrt(x + 0);
    }
  };

 private:
  /*! \brief Exact for whole numbers, where exp(b * log(a)) is not. */
  template <typename T>
  static T IntegerPower(T a, int exponent) {
    T result(1);
    for (int left = std::abs(exponent); left != 0; left >>= 1) {
      if ((left & 1) != 0) result *= a;
      a *= a;
    }
    return exponent < 0 ? T(1) / result : result;
  }
};

/*! \brief Powers of floats: all to the power 2 or 0.5 by the instruction for that. */
template <typename RootOf, typename T>
void PowerRun(char* const* data, const int64_t* strides, int64_t n) {
  // The stride of a single exponent may be any.
  if (strides[2] == 0 || std::is_same_v<RootOf, Power::SquareRoot>) {
    static const InnerLoop square = ForCpu<UnaryBody<Power::Square, T>>();
    static const InnerLoop root = ForCpu<UnaryBody<RootOf, T>>();
    const Computed<T> exponent = LoadAt<T>(data[2]);
    if (exponent == 2) return square(data, strides, n);
    if (exponent == Computed<T>(0.5)) return root(data, strides, n);
  }
  MathBinaryRun<Power, T>(data, strides, n);
}

/*!
 * \brief Powers of integers, which wrap: for all of some elements the bits of the exponents one
 * after the other, so that many are multiplied at a time. Squares, the commonest, take one product.
 */
template <typename T>
struct IntegerPowerBody {
  using U = std::make_unsigned_t<T>;
  static constexpr int64_t kChunk = 128;

  static MXNET_ALWAYS_INLINE void Run(char* const* data, const int64_t* strides, int64_t n) {
    for (int64_t done = 0; done < n; done += kChunk) {
      const int64_t count = n - done < kChunk ? n - done : kChunk;
      const char* exponents = data[2] + done * strides[2];
      if (AreTwos(exponents, strides[2], count)) {
        char* const pair[2] = {data[0] + done * strides[0], data[1] + done * strides[1]};
        UnaryBody<formulas::square, T>::Run(pair, strides, count);
        continue;
      }
      U base[kChunk];
      U left[kChunk];
      U result[kChunk];
      Read(data[1] + done * strides[1], strides[1], count, base);
      Read(exponents, strides[2], count, left);
      U any = 0;
      for (int64_t i = 0; i < count; ++i) {
        result[i] = (left[i] & 1) != 0 ? base[i] : U(1);
        any |= left[i];
      }
      while ((any = static_cast<U>(any >> 1)) != 0) {
        for (int64_t i = 0; i < count; ++i) {
          base[i] = Product(base[i], base[i]);
          left[i] = static_cast<U>(left[i] >> 1);
          const U factor = (left[i] & 1) != 0 ? base[i] : U(1);
          result[i] = Product(result[i], factor);
        }
      }
      Write(result, count, data[0] + done * strides[0], strides[0]);
    }
  }

 private:
  static MXNET_ALWAYS_INLINE bool AreTwos(const char* from, int64_t stride, int64_t n) {
    U differs = 0;
    if (stride == sizeof(U)) {
      auto* x = reinterpret_cast<const U*>(from);
      for (int64_t i = 0; i < n; ++i) differs = static_cast<U>(differs | (x[i] ^ U(2)));
    } else {
      for (int64_t i = 0; i < n; ++i) {
        differs = static_cast<U>(differs | (*reinterpret_cast<const U*>(from + i * stride) ^ U(2)));
      }
    }
    return differs == 0;
  }

  static MXNET_ALWAYS_INLINE U Product(U a, U b) {
    return static_cast<U>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }

  static MXNET_ALWAYS_INLINE void Read(const char* from, int64_t stride, int64_t n, U* to) {
    auto* x = reinterpret_cast<const U*>(from);
    if (stride == sizeof(U)) {
      for (int64_t i = 0; i < n; ++i) to[i] = x[i];
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const U*>(from + i * stride);
    }
  }

  static MXNET_ALWAYS_INLINE void Write(const U* from, int64_t n, char* to, int64_t stride) {
    auto* out = reinterpret_cast<U*>(to);
    if (stride == sizeof(U)) {
      for (int64_t i = 0; i < n; ++i) out[i] = from[i];
    } else {
      for (int64_t i = 0; i < n; ++i) *reinterpret_cast<U*>(to + i * stride) = from[i];
    }
  }
};

/*! \brief Powers of integers: all to the power 2 by one product. */
template <typename T>
void IntegerPowerRun(char* const* data, const int64_t* strides, int64_t n) {
  static const InnerLoop square = ForWideCpu<UnaryBody<formulas::square, T>>();
  static const InnerLoop power = ForWideCpu<IntegerPowerBody<T>>();
  const bool squares = n > 0 && strides[2] == 0 && LoadAt<T>(data[2]) == 2;
  (squares ? square : power)(data, strides, n);
}

template <typename... Ts>
void FillIntegerPowers(LoopTable* table, TypeList<Ts...>) {
  ((table->loops[internal::DTypeIndexOf<Ts>::value] = &IntegerPowerRun<Ts>), ...);
}

template <typename RootOf>
LoopTable PowerLoops() {
  LoopTable table = BinaryLoops<Power, ComplexTypes>();
  FillIntegerPowers(&table, SignedTypes{});
  FillIntegerPowers(&table, UnsignedTypes{});
  table.loops[kIndexFloat16] = &PowerRun<RootOf, Half>;
  table.loops[kIndexBFloat16] = &PowerRun<RootOf, BFloat16>;
  table.loops[kIndexFloat32] = &PowerRun<RootOf, float>;
  table.loops[kIndexFloat64] = &PowerRun<RootOf, double>;
  return table;
}

/*! \brief Whether any of some integers is negative. */
template <typename T>
struct AnyNegative {
  static MXNET_ALWAYS_INLINE bool Run(const char* x, int64_t stride, int64_t n) {
    // Of all of them or-ed the sign is that of any.
    T all(0);
    auto* numbers = reinterpret_cast<const T*>(x);
    // Steps that the compiler knows it can vectorize.
    if (stride == sizeof(T)) {
      for (int64_t i = 0; i < n; ++i) all = static_cast<T>(all | numbers[i]);
    } else if (stride == 2 * sizeof(T)) {
      for (int64_t i = 0; i < n; ++i) all = static_cast<T>(all | numbers[2 * i]);
    } else {
      for (int64_t i = 0; i < n; ++i, x += stride) {
        all = static_cast<T>(all | *reinterpret_cast<const T*>(x));
      }
    }
    return all < T(0);
  }
};

void RejectNegative(const BinaryOp&, const DLTensor& x2) {
  if (x2.dtype.code == kDLUInt) return;
  StridedLoop<1> walk(TensorShape(x2));
  walk.Set(0, x2);
  DispatchDType(x2.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsIntType<T>) {
      static const auto is_any = ForWideCpu<AnyNegative<T>>();
      std::atomic<bool> found{false};
      walk.RunParallel([&](char* const* data, const int64_t* strides, int64_t n) {
        if (is_any(data[0], strides[0], n)) found.store(true, std::memory_order_relaxed);
      });
      if (!found) return;
      MXNET_THROW("ValueError") << "Integers to negative integer powers are not allowed.";
    }
  });
}

}  // namespace

const BinaryOp kPower{PowerLoops<Power::Root>(), Power::kRule, Power::kResult, "", &RejectNegative};
const BinaryOp kPowerOfOne{PowerLoops<Power::SquareRoot>(), Power::kRule, Power::kResult, "",
                           &RejectNegative};

namespace {

/*! \brief RunBinary of power: with one exponent the power 0.5 is the square root. */
void RunPower(const RunCall& call, const NoAttributes& none) {
  RunCall own = call;
  own.data = TensorSize(call.in[1]) == 1 ? &kPowerOfOne : &kPower;
  RunBinary(own, none);
}

MXNET_REGISTER_BINARY(
    "power",
    "Raises x1 to the power x2. Integers wrap; a negative exponent of an integer is a "
    "ValueError. With one exponent for all the power 0.5 is the square root.",
    kPower)
    .check(&CheckBinary)
    .run(&RunPower);

}  // namespace
}  // namespace op
}  // namespace mxnet
