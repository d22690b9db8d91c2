/*!
 * \file where.cc
 * \brief Elements by condition: where, nonzero.
 */
#include "op/indexing/where.h"

#include <mxnet/op/operator.h>

#include <utility>
#include <vector>

#include "op/kernels/cpu.h"
#include "op/kernels/select/nonzero.h"
#include "op/schema/describe.h"
#include "op/semantics/input_types.h"
#include "op/tensor/cast.h"
#include "op/tensor/nonzero.h"

namespace mxnet {
namespace op {
namespace {

struct Wide {
  uint64_t parts[2];
};

/*! \brief Elements that follow one another, or one for all. */
template <typename T, bool kDense>
struct Source {
  explicit Source(const char* data) noexcept
      : elements(reinterpret_cast<const T*>(data)), first(*elements) {}
  T operator[](int64_t i) const noexcept {
    if constexpr (kDense) return elements[i];
    return first;
  }

  const T* elements;
  T first;
};

template <typename T, bool kDenseX, bool kDenseY>
MXNET_ALWAYS_INLINE void ChooseDense(char* const* data, int64_t n) {
  auto* out = reinterpret_cast<T*>(data[0]);
  const auto* condition = reinterpret_cast<const uint8_t*>(data[1]);
  const Source<T, kDenseX> x(data[2]);
  const Source<T, kDenseY> y(data[3]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    // Both are read, so that nothing has to be guessed and whole vectors are chosen at a time.
    const T of_x = x[i];
    const T of_y = y[i];
    out[i] = condition[i] != 0 ? of_x : of_y;
  }
}

/*! \brief out[i] = condition[i] ? x[i] : y[i] for elements of the size of T. */
template <typename T>
struct ChooseBody {
  static MXNET_ALWAYS_INLINE void Run(char* const* data, const int64_t* strides, int64_t n) {
    constexpr int64_t kItem = sizeof(T);
    const auto is_plain = [&](int i) { return strides[i] == kItem || strides[i] == 0; };
    if (strides[0] == kItem && strides[1] == 1 && is_plain(2) && is_plain(3)) {
      const bool dense_x = strides[2] != 0;
      const bool dense_y = strides[3] != 0;
      if (dense_x && dense_y) return ChooseDense<T, true, true>(data, n);
      if (dense_x) return ChooseDense<T, true, false>(data, n);
      if (dense_y) return ChooseDense<T, false, true>(data, n);
      return ChooseDense<T, false, false>(data, n);
    }
    char* out = data[0];
    const char* condition = data[1];
    const char* x = data[2];
    const char* y = data[3];
    for (int64_t i = 0; i < n; ++i) {
      const T of_x = *reinterpret_cast<const T*>(x);
      const T of_y = *reinterpret_cast<const T*>(y);
      *reinterpret_cast<T*>(out) = *condition != 0 ? of_x : of_y;
      out += strides[0];
      condition += strides[1];
      x += strides[2];
      y += strides[3];
    }
  }
};

InnerLoop ChooseLoop(int64_t item_size) {
  switch (item_size) {
    case 1:
      return ForCpu<ChooseBody<uint8_t>>();
    case 2:
      return ForCpu<ChooseBody<uint16_t>>();
    case 4:
      return ForCpu<ChooseBody<uint32_t>>();
    case 8:
      return ForCpu<ChooseBody<uint64_t>>();
    default:
      return ForCpu<ChooseBody<Wide>>();
  }
}

}  // namespace

void Choose(const DLTensor& condition, const DLTensor& x, const DLTensor& y, const DLTensor& out) {
  StridedLoop<4> loop(TensorShape(out));
  loop.Set(0, out);
  loop.Set(1, condition);
  loop.Set(2, x);
  loop.Set(3, y);
  loop.RunParallel(ChooseLoop(ItemSize(out.dtype)));
}

namespace {

/*! \brief The indices that measure has found for run. */
struct NonzeroAttributes {
  mutable NDArray positions;
};

void CheckHasAxes(int ndim) {
  if (ndim > 0) return;
  MXNET_THROW("ValueError") << "Calling nonzero on 0d arrays is not allowed. Use "
                            << "np.atleast_1d(scalar).nonzero() instead.";
}

int CountAxes(const InferCall& call, const NonzeroAttributes&) {
  CheckHasAxes(call.in[0].ndim);
  return call.in[0].ndim;
}

void InferNonzero(const InferCall& call, const NonzeroAttributes&) {
  const int64_t count = NewExtent("nonzero");
  for (int i = 0; i < call.num_out; ++i) SetSpec(kInt64, ShapeView(&count, 1), &call.out[i]);
}

void MeasureNonzero(const MeasureCall& call, const NonzeroAttributes& found) {
  found.positions = FlatNonzero(AsMask(call.in[0]));
  const int64_t count = found.positions.size();
  for (int i = 0; i < call.num_out; ++i) SetSpec(kInt64, ShapeView(&count, 1), &call.out[i]);
}

void RunNonzero(const RunCall& call, const NonzeroAttributes& found) {
  int64_t* indices[kMaxNdim];
  for (int i = 0; i < call.num_out; ++i) {
    indices[i] = static_cast<int64_t*>(TensorData(call.out[i]));
  }
  UnravelAscending(found.positions.data_as<int64_t>(), found.positions.size(), call.in[0].shape,
                   call.num_out, indices);
}

void PromoteWhere(MXNetTensorSpec* in, int, const NonzeroAttributes&) {
  in[0].dtype = kBool;
  if (IsGiven(in[1]) != IsGiven(in[2])) {
    MXNET_THROW("ValueError") << "either both or neither of x and y should be given";
  }
  if (IsGiven(in[1])) in[1].dtype = in[2].dtype = CommonOf(TypeOf(in[1]), TypeOf(in[2]));
}

int CountWhere(const InferCall& call, const NonzeroAttributes& found) {
  return IsGiven(call.in[1]) ? MXNET_ONE_OUTPUT : CountAxes(call, found);
}

/*! \brief The spec of what is chosen; Input is a spec or a tensor. */
template <typename Input>
void SetChosen(const Input* in, MXNetTensorSpec* out) {
  const ShapeView shapes[] = {ShapeOf(in[0]), ShapeOf(in[1]), ShapeOf(in[2])};
  DimBuffer shape;
  BroadcastShapes(shapes, 3, &shape);
  SetSpec(in[1].dtype, shape.view(), out);
}

void InferWhere(const InferCall& call, const NonzeroAttributes& found) {
  if (!IsGiven(call.in[1])) return InferNonzero(call, found);
  SetChosen(call.in, call.out);
}

void MeasureWhere(const MeasureCall& call, const NonzeroAttributes& found) {
  if (!IsGiven(call.in[1])) return MeasureNonzero(call, found);
  SetChosen(call.in, call.out);
}

void RunWhere(const RunCall& call, const NonzeroAttributes& found) {
  if (!IsGiven(call.in[1])) return RunNonzero(call, found);
  Choose(call.in[0], call.in[1], call.in[2], call.out[0]);
}

MXNET_REGISTER_OPERATOR("_npi.where", NonzeroAttributes)
    .describe(
        "Elements of x where the condition holds, of y elsewhere.\n\n"
        "The three broadcast together. With the condition alone, the indices at which it holds, "
        "as nonzero gives them.")
    .input("condition", "Where to take from x; an element not zero is true.")
    .optional_input("x", "Elements where the condition holds.")
    .optional_input("y", "Elements where it does not.")
    .returns("ndarray | tuple[ndarray, ...]")
    .types(&PromoteWhere)
    .properties(kMXNetOpElementwise | kMXNetOpInPlace | kMXNetOpStridedOutput)
    .release_gil(kReleaseBytes)
    .outputs(&CountWhere)
    .infer(&InferWhere)
    .measure(&MeasureWhere, false)
    .run(&RunWhere);

MXNET_REGISTER_OPERATOR("_npi.nonzero", NonzeroAttributes)
    .describe("The indices of the elements that are not zero, one array an axis.")
    .input("a", "Array of at least one axis.")
    .returns("tuple[ndarray, ...]")
    .release_gil(kReleaseBytes)
    .outputs(&CountAxes)
    .infer(&InferNonzero)
    .measure(&MeasureNonzero)
    .run(&RunNonzero);

}  // namespace

Tuple Nonzero(const NDArray& array) {
  CheckHasAxes(array.ndim());
  std::vector<Any> items;
  if (array.ndim() == 1) {
    items.push_back(runtime::details::AnyOfObject(LineNonzero(array)));
    return Tuple(std::move(items));
  }
  const NDArray positions = FlatNonzero(AsMask(array));
  for (const NDArray& indices : UnravelPositions(positions, array.shape())) {
    items.push_back(runtime::details::AnyOfObject(indices));
  }
  return Tuple(std::move(items));
}

}  // namespace op
}  // namespace mxnet
