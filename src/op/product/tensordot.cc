/*!
 * \file tensordot.cc
 * \brief tensordot and the products that are contractions: dot, inner, outer, vdot.
 */
#include <mxnet/op/operator.h>

#include <utility>

#include "op/product/axes.h"
#include "op/product/contract.h"
#include "op/schema/describe.h"
#include "op/schema/items.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

class SummedAxesReader {
 public:
  SummedAxesReader(const MXNetArgValue& arg, MXNetFunctionHandle func, int index) {
    const DLTensor* tensor = nullptr;
    const int code = arg.type_code();
    if (code == kMXNetInt) {
      axes_.count = arg.value().v_int64;
    } else if (code != kMXNetTuple && arg.TryAs(&tensor) == Match::kOk) {
      ReadRows(arg, *tensor);
    } else {
      ReadPair(arg, func, index);
    }
  }

  SummedAxes Take() { return axes_; }

 private:
  /*! \brief An integer array: a count, an axis of each, or a row of axes of each. */
  void ReadRows(const MXNetArgValue& arg, const DLTensor& tensor) {
    const bool is_count = tensor.ndim == 0;
    const bool is_pair = is_count || (tensor.ndim <= 2 && tensor.shape[0] == 2);
    if (!is_pair || !IsIntDType(tensor.dtype)) ThrowNoAxes(arg);
    const NDArray rows = AsType(tensor, kInt64);
    const auto* row = rows.data_as<int64_t>();
    if (is_count) {
      axes_.count = *row;
      return;
    }
    const int64_t count = rows.size() / 2;
    if (count > kMaxNdim) {
      MXNET_THROW("ValueError") << arg.text() << " has " << count << " axes of each array, at most "
                                << kMaxNdim << " are possible";
    }
    axes_.is_count = false;
    axes_.a = DimBuffer(ShapeView(row, static_cast<size_t>(count)));
    axes_.b = DimBuffer(ShapeView(row + count, static_cast<size_t>(count)));
  }

  void ReadPair(const MXNetArgValue& arg, MXNetFunctionHandle func, int index) {
    const MXNetAnyArray pair = PairOf(arg);
    const MXNetArgValue of_a(pair.data[0].value, pair.data[0].type_code, func, index);
    const MXNetArgValue of_b(pair.data[1].value, pair.data[1].type_code, func, index);
    axes_.is_count = false;
    details::ReadInts(of_a, func, index, &axes_.a);
    details::ReadInts(of_b, func, index, &axes_.b);
  }

  MXNetAnyArray PairOf(const MXNetArgValue& arg) {
    MXNetAnyArray items{nullptr, 0};
    if (!ItemsOf(arg.value(), arg.type_code(), &items)) {
      ShapeView ints;
      if (arg.TryAs(&ints) != Match::kOk) ThrowNoAxes(arg);
      if (ints.size() == 2) {
        for (int i = 0; i < 2; ++i) {
          single_[i].type_code = kMXNetInt;
          single_[i].value.v_int64 = ints[static_cast<size_t>(i)];
        }
        items = MXNetAnyArray{single_, 2};
      }
    }
    if (items.size != 2) ThrowNoAxes(arg);
    return items;
  }

  [[noreturn]] static void ThrowNoAxes(const MXNetArgValue& arg) {
    MXNET_THROW("TypeError") << arg.text() << " expected int or a pair of ints or of sequences of "
                             << "ints, got " << arg.type_name();
  }

  SummedAxes axes_;
  MXNetAny single_[2] = {};
};

}  // namespace

SummedAxes AttributeTraits<SummedAxes>::Read(const MXNetArgValue& arg, MXNetFunctionHandle func,
                                             int index) {
  return SummedAxesReader(arg, func, index).Take();
}

AxisPairs::AxisPairs(const SummedAxes& axes, int a_ndim, int b_ndim) {
  constexpr char kRepeated[] = "duplicate axes are not allowed in tensordot";
  if (axes.is_count) {
    SetLast(axes.count, a_ndim, b_ndim);
    return;
  }
  NormalizeAxes(axes.a.view(), a_ndim, &a, kRepeated);
  NormalizeAxes(axes.b.view(), b_ndim, &b, kRepeated);
  if (a.ndim != b.ndim) {
    MXNET_THROW("ValueError") << "shape-mismatch for sum: " << a.ndim << " axes of a and " << b.ndim
                              << " of b";
  }
}

void AxisPairs::SetLast(int64_t count, int a_ndim, int b_ndim) {
  if (count > a_ndim || count > b_ndim) {
    MXNET_THROW("IndexError") << count << " axes cannot be summed of arrays "
                              << "with " << a_ndim << " and " << b_ndim << " dimensions";
  }
  for (int64_t i = 0; i < count; ++i) {
    a.push_back(a_ndim - count + i);
    b.push_back(i);
  }
}

namespace {

struct TensorDotAttributes {
  SummedAxes axes;
};

void InferTensorDot(const InferCall& call, const TensorDotAttributes& attributes) {
  const AxisPairs axes(attributes.axes, call.in[0].ndim, call.in[1].ndim);
  InferContract(call.in[0], axes.a.view(), call.in[1], axes.b.view(), call.out);
}

int64_t TensorDotOperations(const InferCall& call, const TensorDotAttributes& attributes) {
  const AxisPairs axes(attributes.axes, call.in[0].ndim, call.in[1].ndim);
  return ContractOperations(call.in[0], call.in[1], axes.b.view());
}

void RunTensorDot(const RunCall& call, const TensorDotAttributes& attributes) {
  const AxisPairs axes(attributes.axes, call.in[0].ndim, call.in[1].ndim);
  Contract(call.in[0], axes.a.view(), call.in[1], axes.b.view(), call.out[0]);
}

[[noreturn]] void ThrowNotAligned(ShapeView a, int64_t a_axis, ShapeView b, int64_t b_axis) {
  MXNET_THROW("ValueError") << "shapes " << CompactShape(a) << " and " << CompactShape(b)
                            << " not aligned: " << a[static_cast<size_t>(a_axis)] << " (dim "
                            << a_axis << ") != " << b[static_cast<size_t>(b_axis)] << " (dim "
                            << b_axis << ")";
}

template <int kBAxisFromEnd>
void InferDot(const InferCall& call, const NoAttributes&) {
  const MXNetTensorSpec& a = call.in[0];
  const MXNetTensorSpec& b = call.in[1];
  const LastAxes axes(a.ndim, b.ndim, kBAxisFromEnd);
  if (axes.count != 0 && AreDifferent(a.shape[axes.a], b.shape[axes.b])) {
    ThrowNotAligned(ShapeOf(a), axes.a, ShapeOf(b), axes.b);
  }
  InferContract(a, axes.of_a(), b, axes.of_b(), call.out);
}

template <int kBAxisFromEnd>
int64_t DotOperations(const InferCall& call, const NoAttributes&) {
  const LastAxes axes(call.in[0].ndim, call.in[1].ndim, kBAxisFromEnd);
  return ContractOperations(call.in[0], call.in[1], axes.of_b());
}

template <int kBAxisFromEnd>
void RunDot(const RunCall& call, const NoAttributes&) {
  const LastAxes axes(call.in[0].ndim, call.in[1].ndim, kBAxisFromEnd);
  Contract(call.in[0], axes.of_a(), call.in[1], axes.of_b(), call.out[0]);
}

/*! \brief An operand's elements as one axis: a copy where they do not lie so, or to conjugate. */
class Flat {
 public:
  explicit Flat(const DLTensor& tensor, bool conjugate = false)
      : size_(TensorSize(tensor)), tensor_(tensor) {
    const bool conjugates = conjugate && IsComplexDType(tensor.dtype);
    // One axis is one already.
    if (!conjugates && tensor.ndim == 1) return;
    if (conjugates || !IsContiguous(tensor)) {
      own_ = Contiguous(tensor);
      tensor_ = own_.tensor();
    }
    if (conjugates) Conjugate();
    tensor_.ndim = 1;
    tensor_.shape = &size_;
    tensor_.strides = nullptr;
  }
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;

  const DLTensor& tensor() const noexcept { return tensor_; }

 private:
  void Conjugate() {
    DispatchDType(own_.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsComplexType<T>) {
        T* data = own_.data_as<T>();
        for (int64_t i = 0; i < size_; ++i) data[i] = std::conj(data[i]);
      }
    });
  }

  int64_t size_;
  NDArray own_;
  DLTensor tensor_;
};

void InferOuter(const InferCall& call, const NoAttributes&) {
  const int64_t shape[] = {SizeOf(ShapeOf(call.in[0])), SizeOf(ShapeOf(call.in[1]))};
  SetSpec(call.in[0].dtype, ShapeView(shape, 2), call.out);
}

int64_t OuterOperations(const InferCall& call, const NoAttributes&) {
  return MultiplyExtent(SizeOf(ShapeOf(call.in[0])), SizeOf(ShapeOf(call.in[1])));
}

void RunOuter(const RunCall& call, const NoAttributes&) {
  const Flat a(call.in[0]);
  const Flat b(call.in[1]);
  Contract(a.tensor(), ShapeView(), b.tensor(), ShapeView(), call.out[0]);
}

void InferVDot(const InferCall& call, const NoAttributes&) {
  const int64_t a = SizeOf(ShapeOf(call.in[0]));
  const int64_t b = SizeOf(ShapeOf(call.in[1]));
  if (AreDifferent(a, b)) ThrowNotAligned(ShapeView(&a, 1), 0, ShapeView(&b, 1), 0);
  SetSpec(call.in[0].dtype, ShapeView(), call.out);
}

int64_t VDotOperations(const InferCall& call, const NoAttributes&) {
  return MultiplyExtent(2, SizeOf(ShapeOf(call.in[0])));
}

void RunVDot(const RunCall& call, const NoAttributes&) {
  const Flat a(call.in[0], true);
  const Flat b(call.in[1]);
  const int64_t axis = 0;
  Contract(a.tensor(), ShapeView(&axis, 1), b.tensor(), ShapeView(&axis, 1), call.out[0]);
}

MXNET_REGISTER_OPERATOR("_npi.tensordot", TensorDotAttributes)
    .describe(
        "Sum products of two arrays over pairs of axes.\n\n"
        "The result has the axes of a that are not summed, then those of b.")
    .input("a", "First array.")
    .input("b", "Second array.")
    .attribute("axes", &TensorDotAttributes::axes, 2,
               "The axes of a and those of b that are summed, pair by pair; or N for the last N "
               "of a and the first N of b.")
    .types(kMXNetTypesCommon)
    .release_gil(kReleaseBytes)
    .infer(&InferTensorDot)
    .operations(&TensorDotOperations)
    .run(&RunTensorDot);

MXNET_REGISTER_OPERATOR("_npi.dot", NoAttributes)
    .describe(
        "Dot product of two arrays.\n\n"
        "Over the last axis of a and the last but one of b (the only one of a 1-d b); an "
        "elementwise product where one of them has no axes.")
    .input("a", "First array.")
    .input("b", "Second array.")
    .out()
    .types(kMXNetTypesCommon)
    .release_gil(kReleaseBytes)
    .infer(&InferDot<2>)
    .operations(&DotOperations<2>)
    .run(&RunDot<2>);

MXNET_REGISTER_OPERATOR("_npi.inner", NoAttributes)
    .describe("Sum products of two arrays over their last axes.")
    .input("a", "First array.")
    .input("b", "Second array, whose last axis is as long as that of a.")
    .types(kMXNetTypesCommon)
    .release_gil(kReleaseBytes)
    .infer(&InferDot<1>)
    .operations(&DotOperations<1>)
    .run(&RunDot<1>);

MXNET_REGISTER_OPERATOR("_npi.outer", NoAttributes)
    .describe("All products of an element of a and one of b, as a 2-d array.")
    .input("a", "First array; its elements in row-major order.")
    .input("b", "Second array; its elements in row-major order.")
    .types(kMXNetTypesCommon)
    .release_gil(kReleaseBytes)
    .infer(&InferOuter)
    .operations(&OuterOperations)
    .run(&RunOuter);

MXNET_REGISTER_OPERATOR("_npi.vdot", NoAttributes)
    .describe("Sum of products of the elements of two arrays, those of a conjugated.")
    .input("a", "First array; its elements in row-major order.")
    .input("b", "Second array, with as many elements as a.")
    .types(kMXNetTypesCommon)
    .release_gil(kReleaseBytes)
    .infer(&InferVDot)
    .operations(&VDotOperations)
    .run(&RunVDot);

}  // namespace
}  // namespace op
}  // namespace mxnet
