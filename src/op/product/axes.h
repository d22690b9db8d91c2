/*!
 * \file axes.h
 * \brief Which axes tensordot, dot and inner sum products over.
 */
#ifndef MXNET_SRC_OP_PRODUCT_AXES_H_
#define MXNET_SRC_OP_PRODUCT_AXES_H_

#include <mxnet/op/attributes.h>

#include <algorithm>

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief The axes argument of tensordot, before it is known how many axes the arrays have. */
struct SummedAxes {
  bool is_count{true};
  int64_t count{0}; /*!< the last axes of a with the first of b; none at all if negative */
  DimBuffer a;
  DimBuffer b;
};

template <>
struct AttributeTraits<SummedAxes> {
  static constexpr runtime::ParamType kType{"int | tuple[int | Sequence[int], int | Sequence[int]]",
                                            kMXNetRoleAttribute};
  static SummedAxes Read(const MXNetArgValue& arg, MXNetFunctionHandle func, int index);
};

/*! \brief The summed axes of both arrays, counted from the front. */
struct AxisPairs {
  AxisPairs(const SummedAxes& axes, int a_ndim, int b_ndim);

  DimBuffer a;
  DimBuffer b;

 private:
  void SetLast(int64_t count, int a_ndim, int b_ndim);
};

/*! \brief The axes of dot and inner: the last of a with one of b, or none where one has none. */
struct LastAxes {
  LastAxes(int a_ndim, int b_ndim, int b_axis_from_end)
      : a(a_ndim - 1),
        b(std::max(0, b_ndim - b_axis_from_end)),
        count(a_ndim == 0 || b_ndim == 0 ? 0 : 1) {}
  ShapeView of_a() const { return {&a, count}; }
  ShapeView of_b() const { return {&b, count}; }

  int64_t a;
  int64_t b;
  size_t count;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_PRODUCT_AXES_H_
