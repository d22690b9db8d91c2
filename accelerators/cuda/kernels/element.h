/*!
 * \file element.h
 * \brief Elements in memory, and what kernels compute in: one wide type for each kind.
 */
#ifndef CUDAACC_ELEMENT_H_
#define CUDAACC_ELEMENT_H_

#include <mxnet/op/conversions.h>
#include <mxnet/op/narrow_floats.h>

#include <cstdint>
#include <type_traits>

#include "../../sdk/operators/dtype.h"
#include "../../sdk/operators/number.h"
#include "host_device.h"

namespace cudaacc {

using mxacc::DType;
using mxacc::Number;
namespace narrow = mxnet::op::narrow_floats;

/*! \brief A location in memory of a device, in elements. */
struct Location {
  void* data;
  int64_t first;
};

/*! \brief The address of a location, which counts elements of item bytes. */
inline char* AddressOf(const Location& location, int64_t item) {
  return static_cast<char*>(location.data) + location.first * item;
}

/*! \brief Elements of one type, counted from position first of data. */
struct Slot {
  void* data;
  int64_t first;
  DType dtype;

  void Set(const Location& location) {
    data = location.data;
    first = location.first;
  }
};

/* ---- conversions, as the CPU does them ---- */

/*! \brief x, an int64_t, uint64_t, float or double, as an element of the type. */
template <typename C, typename From>
CUDAACC_BOTH C Convert(From x, DType to) {
  if constexpr (std::is_same_v<C, double>) {
    return static_cast<double>(x);
  } else if constexpr (std::is_same_v<C, float>) {
    if (to == DType::kFloat32) return static_cast<float>(x);
    // A condition, which rounding would make 0 where it is small.
    if (to == DType::kBool) return x != 0 ? 1.0f : 0.0f;
    float single;
    if constexpr (std::is_same_v<From, double>) {
      single = narrow::odd_float_of_double(x);
    } else {
      single = static_cast<float>(x);
    }
    return to == DType::kFloat16 ? narrow::float_of_float16(narrow::float16_of_float(single))
                                 : narrow::float_of_bfloat16(narrow::bfloat16_of_float(single));
  } else {
    const auto as = [x](auto element) {
      using To = decltype(element);
      if constexpr (std::is_floating_point_v<From>) {
        return static_cast<C>(mxnet::op::IntegerOfFloat<To>(x));
      } else {
        return static_cast<C>(static_cast<To>(x));
      }
    };
    switch (to) {
      case DType::kBool:
        return as(bool{});
      case DType::kInt8:
        return as(int8_t{});
      case DType::kInt16:
        return as(int16_t{});
      case DType::kInt32:
        return as(int32_t{});
      case DType::kUInt8:
        return as(uint8_t{});
      case DType::kUInt16:
        return as(uint16_t{});
      case DType::kUInt32:
        return as(uint32_t{});
      case DType::kUInt64:
        return as(uint64_t{});
      default:
        return as(int64_t{});
    }
  }
}

/* ---- memory ---- */

/*! \brief x where no conversion is needed, as the stored type is the one that is wanted. */
template <typename C, typename From>
CUDAACC_BOTH C ConvertFrom(DType stored, From x, DType wanted) {
  return stored == wanted ? static_cast<C>(x) : Convert<C>(x, wanted);
}

/*! \brief Element i, converted to a type that is computed in C. */
template <typename C>
CUDAACC_BOTH C Load(const Slot& slot, int64_t i, DType wanted) {
  const DType stored = slot.dtype;
  const auto at = [&](auto zero) { return static_cast<const decltype(zero)*>(slot.data)[i]; };
  const auto of_int = [&](int64_t x) { return ConvertFrom<C>(stored, x, wanted); };
  switch (stored) {
    case DType::kBool:
      return of_int(at(uint8_t{}) != 0 ? 1 : 0);
    case DType::kInt8:
      return of_int(at(int8_t{}));
    case DType::kInt16:
      return of_int(at(int16_t{}));
    case DType::kInt32:
      return of_int(at(int32_t{}));
    case DType::kInt64:
      return of_int(at(int64_t{}));
    case DType::kUInt8:
      return of_int(at(uint8_t{}));
    case DType::kUInt16:
      return of_int(at(uint16_t{}));
    case DType::kUInt32:
      return of_int(at(uint32_t{}));
    case DType::kUInt64:
      return ConvertFrom<C>(stored, at(uint64_t{}), wanted);
    case DType::kFloat16:
      return ConvertFrom<C>(stored, narrow::float_of_float16(at(uint16_t{})), wanted);
    case DType::kBFloat16:
      return ConvertFrom<C>(stored, narrow::float_of_bfloat16(at(uint16_t{})), wanted);
    case DType::kFloat32:
      return ConvertFrom<C>(stored, at(float{}), wanted);
    default:
      return ConvertFrom<C>(stored, at(double{}), wanted);
  }
}

/*! \brief Converts to the stored type: integers lose their upper bits, floats are rounded. */
template <typename C>
CUDAACC_BOTH void Store(const Slot& slot, int64_t i, C x) {
  const auto put = [&](auto element) { static_cast<decltype(element)*>(slot.data)[i] = element; };
  switch (slot.dtype) {
    case DType::kBool:
      return put(static_cast<uint8_t>(x != 0));
    case DType::kFloat16:
      return put(narrow::float16_of_float(static_cast<float>(x)));
    case DType::kBFloat16:
      return put(narrow::bfloat16_of_float(static_cast<float>(x)));
    case DType::kFloat32:
      return put(static_cast<float>(x));
    case DType::kFloat64:
      return put(static_cast<double>(x));
    default:
      break;
  }
  // Results of floats are floats or bool.
  if constexpr (std::is_integral_v<C>) {
    switch (slot.dtype) {
      case DType::kInt8:
      case DType::kUInt8:
        return put(static_cast<uint8_t>(x));
      case DType::kInt16:
      case DType::kUInt16:
        return put(static_cast<uint16_t>(x));
      case DType::kInt32:
      case DType::kUInt32:
        return put(static_cast<uint32_t>(x));
      default:
        return put(static_cast<uint64_t>(x));
    }
  }
}

/*! \brief A number among elements of a type. */
template <typename C>
CUDAACC_BOTH C NumberAs(const Number::Value& value, DType dtype) {
  if constexpr (std::is_same_v<C, double>) {
    return value.real;
  } else if constexpr (std::is_same_v<C, float>) {
    return Convert<C>(value.single, dtype);
  } else {
    return static_cast<C>(value.integer);
  }
}

/*! \brief Calls body with a value of the type that elements of a type are computed in. */
template <typename Body>
void WithComputeType(DType dtype, Body&& body) {
  if (dtype == DType::kFloat64) return body(double{});
  if (mxacc::IsFloat(dtype)) return body(float{});
  if (mxacc::ClassOf(dtype) == mxacc::Class::kUnsigned) return body(uint64_t{});
  body(int64_t{});
}

}  // namespace cudaacc

#endif  // CUDAACC_ELEMENT_H_
