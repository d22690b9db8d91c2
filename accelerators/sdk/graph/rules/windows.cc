/*!
 * \file windows.cc
 * \brief Convolutions and pooling: what moves over a picture is a view of it.
 */
#include <algorithm>
#include <limits>

#include "node_steps.h"

namespace mxacc {
namespace {

/*! \brief How windows lie on a padded picture, along each of its axes but batch and channels. */
struct Windows {
  Extents kernel;
  Extents strides;
  Extents dilations;
  Extents before; /*!< elements that are padded, of all axes */
  Extents behind;
  Extents counts; /*!< how many windows there are */
  bool leaves;    /*!< some reach further than what the operator pads */

  size_t ndim() const { return kernel.size(); }
  bool is_padded() const {
    const auto pads = [](int64_t count) { return count != 0; };
    return std::any_of(before.begin(), before.end(), pads) ||
           std::any_of(behind.begin(), behind.end(), pads);
  }
};

Windows FindWindows(NodeSteps& at, const Extents& x, const Extents& kernel) {
  const GraphNode& node = at.node();
  const size_t ndim = kernel.size();
  if (ndim == 0 || x.size() != ndim + 2 || at.output().shape.size() != ndim + 2) {
    at.Decline("of a kernel with another number of axes");
  }
  const auto list = [&](const char* name, size_t count, int64_t otherwise) {
    Extents given = node.Integers(name);
    if (given.empty()) given.assign(count, otherwise);
    if (given.size() != count) at.Decline(std::string("with other numbers of ") + name);
    return given;
  };
  Windows windows;
  windows.kernel = kernel;
  windows.strides = list("strides", ndim, 1);
  windows.dilations = list("dilations", ndim, 1);
  const Extents pads = list("pads", 2 * ndim, 0);
  for (const Extents& numbers :
       {kernel, windows.strides, windows.dilations, pads, at.output().shape}) {
    at.NeedSmall(numbers);
  }
  const std::string padding = at.Text("auto_pad", "NOTSET");
  windows.before.assign(ndim + 2, 0);
  windows.behind.assign(ndim + 2, 0);
  windows.leaves = false;
  for (size_t i = 0; i < ndim; ++i) {
    const int64_t count = at.output().shape[i + 2];
    const int64_t extent = x[i + 2];
    const bool is_right = windows.strides[i] > 0 && windows.dilations[i] > 0 && kernel[i] > 0;
    if (!is_right || count < 1) at.Decline("of windows without elements");
    const int64_t last =
        (count - 1) * windows.strides[i] + (kernel[i] - 1) * windows.dilations[i] + 1;
    const int64_t missing = std::max<int64_t>(0, last - extent);
    int64_t before = pads[i];
    int64_t behind = pads[ndim + i];
    if (padding != "NOTSET") {
      before = padding == "SAME_UPPER" ? missing / 2 : (missing + 1) / 2;
      behind = missing - before;
    }
    if (before < 0 || behind < 0) at.Decline("with pads below 0");
    windows.before[i + 2] = before;
    windows.behind[i + 2] = std::max<int64_t>(0, last - extent - before);
    windows.leaves = windows.leaves || windows.behind[i + 2] > behind;
    windows.counts.push_back(count);
  }
  return windows;
}

/*! \brief Of a padded picture: its batch and channels, the windows, and the elements of each. */
Value View(const Value& padded, const Windows& windows) {
  Value view = padded;
  view.shape.resize(2);
  view.strides.resize(2);
  for (size_t i = 0; i < windows.ndim(); ++i) {
    view.shape.push_back(windows.counts[i]);
    view.strides.push_back(padded.strides[i + 2] * windows.strides[i]);
  }
  for (size_t i = 0; i < windows.ndim(); ++i) {
    view.shape.push_back(windows.kernel[i]);
    view.strides.push_back(padded.strides[i + 2] * windows.dilations[i]);
  }
  return view;
}

Value Reduced(NodeSteps& at, const char* function, const Value& padded, const Windows& windows) {
  return at.Reduce(function, View(padded, windows),
                   Range(2 + windows.ndim(), 2 + 2 * windows.ndim()), false);
}

/*! \brief The windows of each group, as columns of a matrix, times the weights' rows. */
void Conv(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  const Value weights = at.Input(1);
  const int64_t groups = at.node().Integer("group", 1);
  if (weights.ndim() < 3 || x.count() == 0 || weights.count() == 0) {
    at.Decline("without elements, or axes to convolve");
  }
  const Windows windows =
      FindWindows(at, x.shape, Extents(weights.shape.begin() + 2, weights.shape.end()));
  const int64_t channels = weights.shape[1];
  at.NeedSmall({groups});
  if (groups < 1 || x.shape[1] / groups != channels || x.shape[1] % groups != 0 ||
      weights.shape[0] % groups != 0) {
    at.Decline("of other numbers of channels");
  }
  const size_t ndim = windows.ndim();
  const Value view = View(at.Pad(x, windows.before, windows.behind, 0.0), windows);
  Extents order{0, 1};
  for (const int64_t axis : Range(2 + ndim, 2 + 2 * ndim)) order.push_back(axis);
  for (const int64_t axis : Range(2, 2 + ndim)) order.push_back(axis);
  const int64_t rows = channels * CountOf(windows.kernel);
  const Value columns =
      at.Reshape(Transposed(view, order), {x.shape[0], groups, rows, CountOf(windows.counts)});
  const Value kernels = at.Reshape(weights, {groups, weights.shape[0] / groups, rows});
  Value out = at.Reshape(at.MatMul(kernels, columns), at.output().shape);
  if (at.Has(2)) {
    Extents shape(ndim + 1, 1);
    shape[0] = weights.shape[0];
    out = at.Binary("add", out, at.Reshape(at.Input(2), shape));
  }
  at.Give(out);
}

double LowestOf(MXAccDataType dtype) {
  if (IsFloatType(dtype)) return -std::numeric_limits<double>::infinity();
  return dtype.code == kMXAccUInt ? 0 : -static_cast<double>(uint64_t{1} << (dtype.bits - 1));
}

void MaxPool(NodeSteps& at) {
  const Value x = at.Input(0);
  if (at.Gives(1)) at.Decline("with indices");
  if (x.count() == 0) at.Decline("without elements");
  const Windows windows = FindWindows(at, x.shape, at.node().Integers("kernel_shape"));
  const Value padded = at.Pad(x, windows.before, windows.behind, LowestOf(x.dtype));
  at.Give(Reduced(at, "max", padded, windows));
}

void AveragePool(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  if (x.count() == 0) at.Decline("without elements");
  const Windows windows = FindWindows(at, x.shape, at.node().Integers("kernel_shape"));
  const bool counts_all = at.node().Integer("count_include_pad", 0) != 0;
  if (counts_all && windows.leaves) at.Decline("that counts pads, with windows beyond them");
  const Value padded = at.Pad(x, windows.before, windows.behind, 0.0);
  if (counts_all || !windows.is_padded()) return at.Give(Reduced(at, "mean", padded, windows));
  Extents single = x.shape;
  single[0] = single[1] = 1;
  const Value ones = at.Pad(at.Full(x.dtype, single, 1.0), windows.before, windows.behind, 0.0);
  const Value counts = Reduced(at, "sum", ones, windows);
  at.Give(at.Binary("divide", Reduced(at, "sum", padded, windows), counts));
}

void GlobalPool(NodeSteps& at, const char* function) {
  const Value x = at.Input(0);
  if (x.ndim() < 3 || x.count() == 0) at.Decline("of what is no picture");
  at.Give(at.Reduce(function, x, Range(2, x.ndim()), true));
}

/*! \brief Divides by a power of the squares of the channels around each. */
void LRN(NodeSteps& at) {
  at.NeedFloats();
  const Value x = at.Input(0);
  const GraphNode& node = at.node();
  const int64_t size = node.Integer("size", 1);
  at.NeedSmall({size});
  if (x.ndim() < 2 || size < 1 || x.count() == 0) at.Decline("of what has no channels");
  Extents before(x.ndim());
  Extents behind(x.ndim());
  before[1] = (size - 1) / 2;
  behind[1] = size / 2;
  Value view = at.Pad(at.Unary("square", x), before, behind, 0.0);
  view.shape = x.shape;
  view.shape.push_back(size);
  view.strides.push_back(view.strides[1]);
  const Value sums = at.Reduce("sum", view, {static_cast<int64_t>(x.ndim())}, false);
  const double share = node.Number("alpha", 0.0001) / static_cast<double>(size);
  const Value base = at.Binary("add", at.Binary("multiply", sums, share), node.Number("bias", 1));
  at.Give(at.Binary("divide", x, at.Binary("power", base, node.Number("beta", 0.75))));
}

}  // namespace

void AddWindowRules(Rules* to) {
  Rules& rules = *to;
  rules["Conv"] = Conv;
  rules["MaxPool"] = MaxPool;
  rules["AveragePool"] = AveragePool;
  rules["GlobalMaxPool"] = [](NodeSteps& at) { GlobalPool(at, "max"); };
  rules["GlobalAveragePool"] = [](NodeSteps& at) {
    at.NeedFloats();
    GlobalPool(at, "mean");
  };
  rules["LRN"] = LRN;
}

}  // namespace mxacc
