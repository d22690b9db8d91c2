/*!
 * \file np_tensordot_op.cc
 * \brief tensordot and the products that are contractions: dot, inner, outer, vdot.
 */
#include <algorithm>
#include <utility>

#include "api/common/arguments.h"
#include "api/common/cast.h"
#include "api/common/contract.h"
#include "api/common/describe.h"
#include "api/operator/numpy/np_elemwise.h"

namespace mxnet {
namespace op {
namespace {

int64_t ExtentOf(const Operand& operand, int axis) {
  return operand.shape()[static_cast<size_t>(axis)];
}

[[noreturn]] void ThrowNotAligned(const Operand& a, int a_axis, const Operand& b, int b_axis) {
  MXNET_THROW("ValueError") << "shapes " << CompactShape(a.shape()) << " and "
                            << CompactShape(b.shape()) << " not aligned: " << ExtentOf(a, a_axis)
                            << " (dim " << a_axis << ") != " << ExtentOf(b, b_axis) << " (dim "
                            << b_axis << ")";
}

/*! \brief Sums over one axis of each; ValueError where their extents differ. */
NDArray SumOverPair(Operand* a, int a_axis, Operand* b, int b_axis) {
  if (ExtentOf(*a, a_axis) != ExtentOf(*b, b_axis)) ThrowNotAligned(*a, a_axis, *b, b_axis);
  const int64_t axes[] = {a_axis, b_axis};
  return Contract(a, ShapeView(axes, 1), b, ShapeView(axes + 1, 1));
}

/*! \brief The axes argument of tensordot: the summed axes of both operands. */
class SummedAxes {
 public:
  SummedAxes(const MXNetArgs& args, int index, int a_ndim, int b_ndim) {
    const MXNetArgValue arg = args[index];
    const DLTensor* tensor = nullptr;
    const int code = arg.type_code();
    if (code == kMXNetInt) {
      SetCount(arg.As<int64_t>(), a_ndim, b_ndim);
    } else if (code != kMXNetTuple && arg.TryAs(&tensor) == Match::kOk) {
      SetRows(arg, *tensor, a_ndim, b_ndim);
    } else {
      SetPair(args, index, a_ndim, b_ndim);
    }
    if (a_.ndim != b_.ndim) {
      MXNET_THROW("ValueError") << "shape-mismatch for sum: " << a_.ndim << " axes of a and "
                                << b_.ndim << " of b";
    }
  }

  ShapeView a() const noexcept { return a_.view(); }
  ShapeView b() const noexcept { return b_.view(); }

 private:
  /*! \brief The last count axes of a with the first of b; none at all if count is negative. */
  void SetCount(int64_t count, int a_ndim, int b_ndim) {
    if (count > a_ndim || count > b_ndim) {
      MXNET_THROW("IndexError") << count << " axes cannot be summed of arrays "
                                << "with " << a_ndim << " and " << b_ndim << " dimensions";
    }
    for (int64_t i = 0; i < count; ++i) {
      a_.push_back(a_ndim - count + i);
      b_.push_back(i);
    }
  }

  /*! \brief An integer array: a count, an axis of each, or a row of axes of each. */
  void SetRows(const MXNetArgValue& arg, const DLTensor& tensor, int a_ndim, int b_ndim) {
    if (tensor.ndim == 0) return SetCount(ToInt(arg), a_ndim, b_ndim);
    if (!IsIntDType(tensor.dtype) || tensor.ndim > 2 || tensor.shape[0] != 2) ThrowNoAxes(arg);
    const NDArray rows = AsType(tensor, kInt64);
    const size_t count = static_cast<size_t>(rows.size() / 2);
    NormalizeAxes(ShapeView(rows.data_as<int64_t>(), count), a_ndim, &a_, kRepeated);
    NormalizeAxes(ShapeView(rows.data_as<int64_t>() + count, count), b_ndim, &b_, kRepeated);
  }

  void SetPair(const MXNetArgs& args, int index, int a_ndim, int b_ndim) {
    const MXNetAnyArray pair = PairOf(args[index]);
    const MXNetArgValue of_a(pair.data[0].value, pair.data[0].type_code, args.func, index);
    const MXNetArgValue of_b(pair.data[1].value, pair.data[1].type_code, args.func, index);
    NormalizeAxes(IntsArgument(of_a).view(), a_ndim, &a_, kRepeated);
    NormalizeAxes(IntsArgument(of_b).view(), b_ndim, &b_, kRepeated);
  }

  MXNetAnyArray PairOf(const MXNetArgValue& arg) {
    MXNetAnyArray run{nullptr, 0};
    if (!ItemsOf(arg.value(), arg.type_code(), &run)) {
      ShapeView ints;
      if (arg.TryAs(&ints) != Match::kOk) ThrowNoAxes(arg);
      if (ints.size() == 2) {
        for (int i = 0; i < 2; ++i) {
          single_[i].type_code = kMXNetInt;
          single_[i].value.v_int64 = ints[static_cast<size_t>(i)];
        }
        run = MXNetAnyArray{single_, 2};
      }
    }
    if (run.size != 2) ThrowNoAxes(arg);
    return run;
  }

  [[noreturn]] static void ThrowNoAxes(const MXNetArgValue& arg) {
    MXNET_THROW("TypeError") << arg.text() << " expected int or a pair of ints or of sequences of "
                             << "ints, got " << arg.type_name();
  }

  static constexpr char kRepeated[] = "duplicate axes are not allowed in tensordot";

  DimBuffer a_;
  DimBuffer b_;
  MXNetAny single_[2] = {};
};

/*! \brief A copy of an operand's elements as one axis, converted to dtype. */
NDArray Flat(Operand* operand, DLDataType dtype) {
  const NDArray dense = Contiguous(operand->TensorAs(dtype));
  const int64_t size = dense.size();
  const int64_t stride = 1;
  return dense.View(dense.data(), ShapeView(&size, 1), ShapeView(&stride, 1), dense.dtype());
}

void Conjugate(const NDArray& array) {
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplexType<T>) {
      T* data = array.data_as<T>();
      for (int64_t i = 0; i < array.size(); ++i) data[i] = std::conj(data[i]);
    }
  });
}

MXNetArgValue ArgumentOf(const NDArray& array, MXNetValue* value) {
  value->v_handle = array.get();
  return MXNetArgValue(*value, kMXNetNDArrayHandle, nullptr, 0);
}

/*! \brief The product over all of two arrays of one axis each: their sum, or their table. */
NDArray FlatProduct(const NDArray& a, const NDArray& b, bool summed) {
  MXNetValue values[2];
  Operand left(ArgumentOf(a, &values[0]));
  Operand right(ArgumentOf(b, &values[1]));
  if (summed) return SumOverPair(&left, 0, &right, 0);
  return Contract(&left, ShapeView(), &right, ShapeView());
}

MXNET_REGISTER_OP("_npi.tensordot")
    .describe(
        "Sum products of two arrays over pairs of axes.\n\n"
        "The result has the axes of a that are not summed, then those of b.")
    .add_argument("a", kArrayType, "First array.")
    .add_argument("b", kArrayType, "Second array.")
    .add_argument("axes", "int | tuple[int | Sequence[int], int | Sequence[int]]", 2,
                  "The axes of a and those of b that are summed, pair by pair; or N for the last N "
                  "of a and the first N of b.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      Operand a(args[0]);
      Operand b(args[1]);
      const SummedAxes axes(args, 2, a.shape().ndim(), b.shape().ndim());
      *ret = Contract(&a, axes.a(), &b, axes.b());
    });

/*! \brief The product over the last axis of a and one of b, or of all with a scalar. */
NDArray SumOverLast(Operand* a, Operand* b, int b_axis_from_end) {
  const int a_ndim = a->shape().ndim();
  const int b_ndim = b->shape().ndim();
  if (a_ndim == 0 || b_ndim == 0) return Contract(a, ShapeView(), b, ShapeView());
  return SumOverPair(a, a_ndim - 1, b, std::max(0, b_ndim - b_axis_from_end));
}

MXNET_REGISTER_OP("_npi.dot")
    .describe(
        "Dot product of two arrays.\n\n"
        "Over the last axis of a and the last but one of b (the only one of a 1-d b); an "
        "elementwise product where one of them has no axes.")
    .add_argument("a", kArrayType, "First array.")
    .add_argument("b", kArrayType, "Second array.")
    .add_argument("out", kOutType, nullptr, kOutDoc)
    .written()
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      Operand a(args[0]);
      Operand b(args[1]);
      ReturnInto(SumOverLast(&a, &b, 2), args[2], ret);
    });

MXNET_REGISTER_OP("_npi.inner")
    .describe("Sum products of two arrays over their last axes.")
    .add_argument("a", kArrayType, "First array.")
    .add_argument("b", kArrayType, "Second array, whose last axis is as long as that of a.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      Operand a(args[0]);
      Operand b(args[1]);
      *ret = SumOverLast(&a, &b, 1);
    });

MXNET_REGISTER_OP("_npi.outer")
    .describe("All products of an element of a and one of b, as a 2-d array.")
    .add_argument("a", kArrayType, "First array; its elements in row-major order.")
    .add_argument("b", kArrayType, "Second array; its elements in row-major order.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      Operand a(args[0]);
      Operand b(args[1]);
      const DLDataType dtype = ResultType(a, b);
      const int64_t shape[] = {TensorSize(a.TensorAs(dtype)), TensorSize(b.TensorAs(dtype))};
      AnnounceResult(ShapeView(shape, 2), dtype, ContextOf(a, b));
      *ret = FlatProduct(Flat(&a, dtype), Flat(&b, dtype), false);
    });

MXNET_REGISTER_OP("_npi.vdot")
    .describe("Sum of products of the elements of two arrays, those of a conjugated.")
    .add_argument("a", kArrayType, "First array; its elements in row-major order.")
    .add_argument("b", kArrayType, "Second array, with as many elements as a.")
    .release_gil(kReleaseBytes)
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      Operand a(args[0]);
      Operand b(args[1]);
      const DLDataType dtype = ResultType(a, b);
      AnnounceResult(ShapeView(), dtype, ContextOf(a, b));
      const NDArray left = Flat(&a, dtype);
      Conjugate(left);
      *ret = FlatProduct(left, Flat(&b, dtype), true);
    });

}  // namespace
}  // namespace op
}  // namespace mxnet
