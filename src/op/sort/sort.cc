/*!
 * \file sort.cc
 * \brief Elements in order: sort, argsort.
 */
#include "op/sort/sort.h"

#include <mxnet/op/operator.h>

#include <cstring>
#include <string_view>

#include "op/kernels/elementwise/gather.h"
#include "op/schema/describe.h"
#include "op/sort/lines.h"
#include "op/tensor/axes.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief The argument `kind`, which is checked, and of no consequence: the sort is stable. */
struct SortKind {};

}  // namespace

template <>
struct AttributeTraits<SortKind> {
  static constexpr ParamType kType{"str | None", kMXNetRoleAttribute};
  static SortKind Read(const MXNetArgValue& arg, MXNetFunctionHandle, int) {
    if (arg.is_null()) return {};
    const auto kind = arg.As<std::string_view>();
    for (const char* known : {"quicksort", "heapsort", "mergesort", "stable"}) {
      if (kind == known) return {};
    }
    MXNET_THROW("ValueError") << arg.text()
                              << " expected 'quicksort', 'heapsort', 'mergesort' or 'stable', got '"
                              << kind << "'";
  }
};

namespace {

struct SortAttributes {
  std::optional<Axis> axis;
  SortKind kind;
};

/*! \brief The lines that an array of a shape is sorted in. */
SortedLines LinesToSort(ShapeView shape, const SortAttributes& attributes) {
  if (!attributes.axis || shape.ndim() == 0) return {1, SizeOf(shape), 1};
  return LinesOf(shape, NormalizeAxis(attributes.axis->value, shape.ndim()));
}

void InferSorted(const InferCall& call, const SortAttributes& attributes, DLDataType dtype,
                 bool flat) {
  const ShapeView shape = ShapeOf(call.in[0]);
  const int64_t axis = attributes.axis ? attributes.axis->value : -1;
  NormalizeAxis(axis, flat ? 1 : shape.ndim());
  if (!flat) return SetSpec(dtype, shape, call.out);
  const int64_t size = SizeOf(shape);
  SetSpec(dtype, ShapeView(&size, 1), call.out);
}

template <bool kPositions>
size_t SortScratch(const InferCall& call, const SortAttributes& attributes) {
  const SortedLines lines = LinesToSort(ShapeOf(call.in[0]), attributes);
  return static_cast<size_t>(ScratchBytes<kPositions>(call.in[0].dtype, lines));
}

void InferSort(const InferCall& call, const SortAttributes& attributes) {
  InferSorted(call, attributes, call.in[0].dtype, !attributes.axis);
}

void RunSort(const RunCall& call, const SortAttributes& attributes) {
  DLTensor copy = call.out[0];
  // What is flattened is copied in the shape that it has.
  copy.ndim = call.in[0].ndim;
  copy.shape = call.in[0].shape;
  copy.strides = nullptr;
  CopyCast(call.in[0], copy);
  NormalizeBools(copy);
  SortInPlace(copy, LinesToSort(TensorShape(copy), attributes), call.workspace);
}

void InferArgSort(const InferCall& call, const SortAttributes& attributes) {
  // As in NumPy, which otherwise wants an axis, a 0-d array counts as one of a single element.
  InferSorted(call, attributes, kInt64, !attributes.axis || call.in[0].ndim == 0);
}

void RunArgSort(const RunCall& call, const SortAttributes& attributes) {
  const DLTensor& a = call.in[0];
  const NDArray copy = IsContiguous(a) ? NDArray() : Contiguous(a);
  SortPositions(copy.defined() ? copy.tensor() : a, LinesToSort(TensorShape(a), attributes),
                static_cast<int64_t*>(TensorData(call.out[0])), call.workspace);
}

/*! \brief A block of scratch memory, on the stack where it is small. */
class Scratch {
 public:
  explicit Scratch(int64_t bytes) {
    if (bytes <= static_cast<int64_t>(sizeof(few_))) return;
    many_ = NDArray::Empty(ShapeView(&bytes, 1), kUInt8);
  }
  void* data() { return many_.defined() ? many_.data() : few_; }

 private:
  alignas(64) char few_[1024];
  NDArray many_;
};

/*! \brief Sorts a short line of elements that lie apart, by way of the stack; whether it is one. */
bool SortShortLine(const DLTensor& array) {
  constexpr int64_t kMostBytes = 512;
  const int64_t item = ItemSize(array.dtype);
  if (array.ndim != 1 || IsComplexDType(array.dtype) || !IsAligned(array)) return false;
  const int64_t n = array.shape[0];
  if (n > kMostBytes / item) return false;
  alignas(64) char elements[kMostBytes];
  auto* data = static_cast<char*>(TensorData(array));
  const int64_t step = array.strides[0] * item;
  DLTensor dense = array;
  dense.data = elements;
  dense.byte_offset = 0;
  dense.strides = nullptr;
  GatherStrided(data, step, item, n, elements);
  NormalizeBools(dense);
  const SortedLines lines{1, n, 1};
  SortInPlace(dense, lines, Scratch(ScratchBytes<false>(dense.dtype, lines)).data());
  ScatterStrided(elements, item, n, data, step);
  return true;
}

constexpr char kKindDoc[] =
    "'quicksort', 'heapsort', 'mergesort' or 'stable'; whichever, the sort is stable.";

MXNET_REGISTER_OPERATOR("_npi.sort", SortAttributes)
    .describe("A sorted copy of an array; the sort is stable, NaN comes last.")
    .input("a", "Array of at least one axis.")
    .attribute("axis", &SortAttributes::axis, -1, "The axis; if None a is flattened first.")
    .attribute("kind", &SortAttributes::kind, nullptr, kKindDoc)
    .release_gil(kReleaseBytes)
    .infer(&InferSort)
    .workspace(&SortScratch<false>)
    .run(&RunSort);

MXNET_REGISTER_OPERATOR("_npi.argsort", SortAttributes)
    .describe("The indices that would sort an array; the sort is stable, NaN comes last.")
    .input("a", "Array of at least one axis.")
    .attribute("axis", &SortAttributes::axis, -1, "The axis; if None a is flattened first.")
    .attribute("kind", &SortAttributes::kind, nullptr, kKindDoc)
    .release_gil(kReleaseBytes)
    .infer(&InferArgSort)
    .workspace(&SortScratch<true>)
    .run(&RunArgSort);

}  // namespace

template <bool kPositions>
NDArray SortedLastAxis(const DLTensor& a) {
  const SortedLines lines = LinesOf(TensorShape(a), a.ndim - 1);
  Scratch scratch(ScratchBytes<kPositions>(a.dtype, lines));
  NDArray result = NDArray::Empty(TensorShape(a), kPositions ? kInt64 : a.dtype, a.device);
  if constexpr (kPositions) {
    SortPositions(a, lines, result.data_as<int64_t>(), scratch.data());
  } else {
    std::memcpy(result.data(), TensorData(a),
                static_cast<size_t>(TensorSize(a) * ItemSize(a.dtype)));
    SortInPlace(result.tensor(), lines, scratch.data());
  }
  return result;
}

template NDArray SortedLastAxis<false>(const DLTensor& a);
template NDArray SortedLastAxis<true>(const DLTensor& a);

void SortWhereItIs(const DLTensor& array, int axis) {
  const bool is_dense = IsContiguous(array);
  if (!is_dense && SortShortLine(array)) return;
  const NDArray copy = is_dense ? NDArray() : Contiguous(array);
  const DLTensor& elements = copy.defined() ? copy.tensor() : array;
  const SortedLines lines = LinesOf(TensorShape(elements), axis);
  NormalizeBools(elements);
  SortInPlace(elements, lines, Scratch(ScratchBytes<false>(elements.dtype, lines)).data());
  if (copy.defined()) CopyCast(elements, array);
}

}  // namespace op
}  // namespace mxnet
