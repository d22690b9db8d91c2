/*!
 * \file split.cc
 * \brief One array as several: split, array_split.
 */
#include <mxnet/op/operator.h>

#include <algorithm>
#include <limits>

#include "op/schema/describe.h"
#include "op/tensor/axes.h"

namespace mxnet {
namespace op {
namespace {

constexpr char kSplitDoc[] = "Into how many parts; or the positions at which parts begin.";

struct SplitAttributes {
  Ints indices_or_sections;
  Axis axis;
};

/*! \brief Whether the parts have to be of one length, which is what the two operators differ in. */
constexpr bool kEqual = true;
constexpr bool kUnequal = false;

int CountParts(const InferCall& call, const SplitAttributes& attributes) {
  const Ints& given = attributes.indices_or_sections;
  if (!given.single) return static_cast<int>(given.values.size()) + 1;
  const int64_t parts = given.values[0];
  const bool equal = *static_cast<const bool*>(call.data);
  if (parts == 0 && equal) MXNET_THROW("ZeroDivisionError") << "split into 0 parts";
  if (parts <= 0) {
    MXNET_THROW("ValueError") << "number sections must be larger than 0, got " << parts;
  }
  if (parts > std::numeric_limits<int>::max()) {
    MXNET_THROW("MemoryError") << "there is no room for " << parts << " parts";
  }
  return static_cast<int>(parts);
}

/*! \brief A range of an axis. */
struct Part {
  int64_t start;
  int64_t length;
};

/*! \brief The range from one position to the next, read as a slice reads them. */
Part PartBetween(int64_t start, int64_t stop, int64_t extent) {
  const auto clamp = [extent](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  const int64_t first = clamp(start);
  return {first, std::max<int64_t>(0, clamp(stop) - first)};
}

/*! \brief The range of part i, of an extent that is known. */
Part PartOf(const Ints& given, int64_t extent, int i) {
  const auto& values = given.values;
  const auto at = static_cast<size_t>(i);
  if (!given.single) {
    const int64_t stop = at < values.size() ? values[at] : extent;
    return PartBetween(i == 0 ? 0 : values[at - 1], stop, extent);
  }
  const int64_t length = extent / values[0];
  const int64_t longer = extent % values[0];
  return {i * length + std::min<int64_t>(i, longer), length + (i < longer ? 1 : 0)};
}

/*! \brief How far a negative position is from the end; of the least int, as far as any extent is.
 */
int64_t Distance(int64_t at) { return -std::max(at, -INT64_MAX); }

/*! \brief A position of a symbolic extent, read as a slice reads it. */
int64_t PositionIn(int64_t extent, int64_t at) {
  return at >= 0 ? MinExtent(extent, at) : MonusExtent(extent, Distance(at));
}

/*! \brief The extent of part i, where that of the axis is a symbol. */
int64_t SymbolicExtent(const Ints& given, int64_t extent, bool equal, int i) {
  const auto& values = given.values;
  if (given.single) {
    // As many of the parts as are left over are longer by one.
    return DivideExtent(equal ? extent : AddExtent(extent, values[0] - 1 - i), values[0]);
  }
  const auto at = static_cast<size_t>(i);
  const int64_t start = i == 0 ? 0 : values[at - 1];
  const bool is_last = at == values.size();
  if (i == 0) return is_last ? extent : PositionIn(extent, values[0]);
  // What the general form below comes to, in fewer terms.
  if (is_last) return start >= 0 ? MonusExtent(extent, start) : MinExtent(extent, Distance(start));
  if (start >= 0 && values[at] >= start) {
    return SubtractExtent(PositionIn(extent, values[at]), PositionIn(extent, start));
  }
  if (values[at] >= 0 && values[at] <= start) return 0;
  return MonusExtent(PositionIn(extent, values[at]), PositionIn(extent, start));
}

void InferSplit(const InferCall& call, const SplitAttributes& attributes) {
  const MXNetTensorSpec& in = call.in[0];
  const int axis = NormalizeAxis(attributes.axis.value, in.ndim);
  const Ints& given = attributes.indices_or_sections;
  const int64_t extent = in.shape[axis];
  const bool equal = *static_cast<const bool*>(call.data);
  if (given.single && equal && !IsSymbolic(extent) && extent % given.values[0] != 0) {
    MXNET_THROW("ValueError") << "array split does not result in an equal division: " << extent
                              << " elements in " << given.values[0] << " parts";
  }
  for (int i = 0; i < call.num_out; ++i) {
    SetSpec(in.dtype, ShapeOf(in), &call.out[i]);
    call.out[i].shape[axis] = IsSymbolic(extent) ? SymbolicExtent(given, extent, equal, i)
                                                 : PartOf(given, extent, i).length;
  }
}

MXNetViewKind ViewParts(const ViewCall& call, const SplitAttributes& attributes) {
  const DLTensor& in = call.in;
  const int axis = NormalizeAxis(attributes.axis.value, in.ndim);
  const int64_t step = in.strides[axis] * ItemSize(in.dtype);
  for (int i = 0; i < call.num_out; ++i) {
    DLTensor& out = call.out[i];
    std::copy(in.strides, in.strides + in.ndim, out.strides);
    const Part part = PartOf(attributes.indices_or_sections, in.shape[axis], i);
    const int64_t offset = part.length > 0 ? part.start * step : 0;
    out.byte_offset = static_cast<uint64_t>(offset);
  }
  return kMXNetViewMade;
}

#define MXNET_REGISTER_SPLIT(Name, Doc, Equal)                                            \
  MXNET_REGISTER_OPERATOR("_npi." Name, SplitAttributes)                                  \
      .describe(Doc)                                                                      \
      .input("ary", kArrayDoc)                                                            \
      .attribute("indices_or_sections", &SplitAttributes::indices_or_sections, kSplitDoc) \
      .attribute("axis", &SplitAttributes::axis, 0, "The axis that is split.")            \
      .returns("tuple[ndarray, ...]")                                                     \
      .data(&(Equal))                                                                     \
      .outputs(&CountParts)                                                               \
      .infer(&InferSplit)                                                                 \
      .view(&ViewParts)

MXNET_REGISTER_SPLIT("split",
                     "Views of the parts of an array along an axis; they must be of one length.",
                     kEqual);
MXNET_REGISTER_SPLIT(
    "array_split", "Views of the parts of an array along an axis; their lengths may differ by one.",
    kUnequal);

}  // namespace
}  // namespace op
}  // namespace mxnet
