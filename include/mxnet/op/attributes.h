/*!
 * \file mxnet/op/attributes.h
 * \brief The types that attributes of operators have, and how they are read of arguments.
 *
 * An attribute is a member of a struct, of one of these types: bool, int64_t, double, Number,
 * std::string, DLDataType, Axis, Axes, Extents, Ints; or std::optional of one, for which None is a
 * value.
 */
#ifndef MXNET_OP_ATTRIBUTES_H_
#define MXNET_OP_ATTRIBUTES_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/op/dims.h>
#include <mxnet/runtime/packed_func.h>
#include <mxnet/runtime/registry.h>

#include <optional>
#include <string>
#include <vector>

namespace mxnet {
namespace op {

/*! \brief A real number as Python has it: integers keep values that double has not. */
struct Number {
  MXNetValue value{};
  int32_t type_code{kMXNetInt}; /*!< kMXNetInt, kMXNetUInt, kMXNetBool or kMXNetFloat */
};

/*! \brief An axis, counted from the end where it is negative. */
struct Axis {
  int64_t value{0};
};

/*! \brief Extents, or one, of a shape. */
struct Extents : DimBuffer {};

/*! \brief An int, or any number of them. */
struct Ints {
  std::vector<int64_t> values;
  bool single{false}; /*!< whether it was an int, and no sequence of one */
};

/*! \brief An axis or several. */
struct Axes : DimBuffer {
  bool single{false}; /*!< whether it was an int, and no sequence of one */
};

namespace details MXNET_HIDDEN {

/*! \brief An int, or several, as NumPy takes them; the common forms without a call. */
inline bool ReadInts(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index,
                     DimBuffer* out) {
  const int code = arg.type_code();
  const auto& ints = arg.value().v_ints;
  out->ndim = 0;
  if (code == kMXNetInt) {
    out->push_back(arg.value().v_int64);
    return true;
  }
  if ((code == kMXNetIntTuple || code == kMXNetIntList) && ints.size <= runtime::kMaxNdim) {
    for (size_t i = 0; i < ints.size; ++i) out->push_back(ints.data[i]);
    return false;
  }
  int64_t count = 0;
  int32_t single = 0;
  MXNET_CHECK_CALL(MXNetOperatorReadInts(&arg.value(), code, func, index, out->data,
                                         runtime::kMaxNdim, &count, &single));
  if (count > runtime::kMaxNdim) {
    MXNET_THROW("ValueError") << arg.text() << " has " << count << " items, at most "
                              << runtime::kMaxNdim << " are possible";
  }
  out->ndim = static_cast<int>(count);
  return single != 0;
}

}  // namespace details MXNET_HIDDEN

/*!
 * \brief How an attribute of type T is read, and described: kType has what people read of it.
 *
 * Read gets the argument with the function and the number that it has there, for messages.
 */
template <typename T>
struct AttributeTraits;

template <>
struct AttributeTraits<bool> {
  static constexpr runtime::ParamType kType{"bool", kMXNetRoleAttribute};
  static bool Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle, int) {
    return arg.type_code() == kMXNetInt ? arg.value().v_int64 != 0 : arg.As<bool>();
  }
};

template <>
struct AttributeTraits<int64_t> {
  static constexpr runtime::ParamType kType{"int", kMXNetRoleAttribute};
  static int64_t Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index) {
    if (__builtin_expect(arg.type_code() == kMXNetInt, 1)) return arg.value().v_int64;
    // Arrays without axes count as integers, but a sequence of one does not.
    if (arg.type_code() != kMXNetNDArrayHandle && arg.type_code() != kMXNetArrayHandle &&
        arg.type_code() != kMXNetReadOnlyArray && arg.type_code() != kMXNetBorrowedArray) {
      return arg.As<int64_t>();
    }
    DimBuffer ints;
    return details::ReadInts(arg, func, index, &ints) ? ints[0] : arg.As<int64_t>();
  }
};

template <>
struct AttributeTraits<double> {
  static constexpr runtime::ParamType kType{"int | float", kMXNetRoleAttribute};
  static double Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle, int) {
    return arg.As<double>();
  }
};

template <>
struct AttributeTraits<Number> {
  static constexpr runtime::ParamType kType{"float", kMXNetRoleAttribute};
  static Number Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle, int) {
    const int code = arg.type_code();
    if (code == kMXNetInt || code == kMXNetUInt || code == kMXNetBool) return {arg.value(), code};
    Number number;
    number.type_code = kMXNetFloat;
    number.value.v_float64 = arg.As<double>();
    return number;
  }
};

template <>
struct AttributeTraits<std::string> {
  static constexpr runtime::ParamType kType{"str", kMXNetRoleAttribute};
  static std::string Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle, int) {
    return arg.As<std::string>();
  }
};

template <>
struct AttributeTraits<DLDataType> {
  static constexpr runtime::ParamType kType{"DTypeLike", kMXNetRoleDType};
  static DLDataType Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle, int) {
    return arg.As<DLDataType>();
  }
};

template <>
struct AttributeTraits<Axis> {
  static constexpr runtime::ParamType kType{"int", kMXNetRoleAxes};
  static Axis Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index) {
    if (arg.type_code() == kMXNetBool) {
      MXNET_THROW("TypeError") << arg.text() << " expected int, got bool";
    }
    return {AttributeTraits<int64_t>::Read(arg, func, index)};
  }
};

template <>
struct AttributeTraits<Axes> {
  static constexpr runtime::ParamType kType{"int | Sequence[int]", kMXNetRoleAxes};
  static Axes Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index) {
    Axes axes;
    axes.single = details::ReadInts(arg, func, index, &axes);
    return axes;
  }
};

template <>
struct AttributeTraits<Ints> {
  static constexpr runtime::ParamType kType{"int | Sequence[int] | ndarray", kMXNetRoleAttribute};
  static Ints Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index) {
    Ints ints;
    int64_t count = 1;
    int32_t single = 0;
    do {
      ints.values.resize(static_cast<size_t>(count));
      MXNET_CHECK_CALL(MXNetOperatorReadInts(&arg.value(), arg.type_code(), func, index,
                                             ints.values.data(), count, &count, &single));
    } while (static_cast<size_t>(count) > ints.values.size());
    ints.values.resize(static_cast<size_t>(count));
    ints.single = single != 0;
    return ints;
  }
};

template <>
struct AttributeTraits<Extents> {
  static constexpr runtime::ParamType kType{"int | Sequence[int]", kMXNetRoleShape};
  static Extents Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index) {
    Extents extents;
    details::ReadInts(arg, func, index, &extents);
    return extents;
  }
};

/*! \brief The type of optional attributes, which have None. */
template <typename T>
struct AttributeTraits<std::optional<T>> {
  static constexpr runtime::ParamType kType = AttributeTraits<T>::kType;
  static std::optional<T> Read(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func,
                               int index) {
    if (arg.is_null()) return std::nullopt;
    return AttributeTraits<T>::Read(arg, func, index);
  }
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_ATTRIBUTES_H_
