/*!
 * \file movement.cc
 * \brief Operators that move elements: by views, and copies where these do not suffice.
 */
#include <algorithm>
#include <limits>

#include "node_steps.h"

namespace mxacc {
namespace {

void Reshape(NodeSteps& at) { at.Give(at.Reshape(at.Input(0), at.output().shape)); }

void Transpose(NodeSteps& at) {
  const Value x = at.Input(0);
  Extents axes = at.node().Integers("perm");
  if (axes.empty()) {
    for (size_t i = x.ndim(); i-- > 0;) axes.push_back(static_cast<int64_t>(i));
  }
  Extents sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != Range(0, x.ndim())) at.Decline("by what is no order of the axes");
  at.Give(Transposed(x, axes));
}

void Dropout(NodeSteps& at) {
  if (at.Gives(1)) at.Decline("with a mask");
  if (at.Has(2) && at.Number(2, "training_mode", 0) != 0) at.Decline("in training");
  at.Give(at.Input(0));
}

/*! \brief The part of a value between two indices of an axis. */
Value Part(const Value& value, size_t axis, int64_t first, int64_t count) {
  return Sliced(value, axis, first, 1, count);
}

void Concat(NodeSteps& at) {
  const Value first = at.Input(0);
  const size_t axis = at.Axis(at.node().Integer("axis", 0), first.ndim());
  std::vector<Argument> parts;
  for (size_t i = 0; i < at.num_inputs(); ++i) {
    parts.push_back({"seq[" + std::to_string(i) + "]", at.Input(i)});
  }
  at.Give(at.Call("concatenate", parts, {Attribute::Integer("axis", static_cast<int64_t>(axis))},
                  first.dtype, at.output().shape));
}

void Split(NodeSteps& at) {
  const Value x = at.Input(0);
  const size_t axis = at.Axis(at.node().Integer("axis", 0), x.ndim());
  int64_t begin = 0;
  for (size_t i = 0; i < at.num_outputs(); ++i) {
    if (!at.Gives(i)) at.Decline("without an output between others");
    if (at.output(i).shape.size() != x.ndim()) at.Decline("into another number of axes");
    const int64_t count = at.output(i).shape[axis];
    if (count > x.shape[axis] - begin) at.Decline("into more than there is");
    at.Give(Part(x, axis, begin, count), i);
    begin += count;
  }
}

void Slice(NodeSteps& at) {
  Value x = at.Input(0);
  const Extents starts = at.Integers(1, "starts");
  const Extents ends = at.Integers(2, "ends");
  Extents axes = at.Integers(3, "axes");
  Extents steps = at.Integers(4, "steps");
  if (axes.empty()) axes = Range(0, starts.size());
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    at.Decline("of other numbers of starts, ends, axes and steps");
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t axis = at.Axis(axes[i], x.ndim());
    const int64_t extent = x.shape[axis];
    const int64_t step = steps[i];
    // Whose number has no opposite is no step either.
    if (step == 0 || step == std::numeric_limits<int64_t>::min()) at.Decline("by such a step");
    const int64_t lowest = step > 0 ? 0 : -1;
    const int64_t highest = step > 0 ? extent : extent - 1;
    const auto index = [&](int64_t given) {
      return std::clamp(given < 0 ? given + extent : given, lowest, highest);
    };
    const int64_t first = step > 0 ? index(starts[i]) : std::max<int64_t>(index(starts[i]), -1);
    const int64_t distance = step > 0 ? index(ends[i]) - first : first - index(ends[i]);
    const int64_t size = step > 0 ? step : -step;
    const int64_t count = distance <= 0 ? 0 : (distance - 1) / size + 1;
    // Of one element the step does not matter, which may be too large to multiply.
    x = Sliced(x, axis, first, count > 1 ? step : 1, count);
  }
  at.Give(x);
}

void Expand(NodeSteps& at) { at.Give(Expanded(at.Input(0), at.output().shape)); }

void Tile(NodeSteps& at) {
  const Value x = at.Input(0);
  const Extents repeats = at.Integers(1, "repeats");
  if (repeats.size() != x.ndim()) at.Decline("of another number of axes");
  if (std::any_of(repeats.begin(), repeats.end(), [](int64_t count) { return count < 0; })) {
    at.Decline("fewer times than none");
  }
  Extents single;
  Extents repeated;
  for (size_t i = 0; i < x.ndim(); ++i) {
    single.insert(single.end(), {1, x.shape[i]});
    repeated.insert(repeated.end(), {repeats[i], x.shape[i]});
  }
  at.Give(at.Reshape(Expanded(at.Reshape(x, single), repeated), at.output().shape));
}

/*! \brief Those below 0 are cut off. */
Value Cropped(const Value& x, Extents* before, Extents* behind) {
  Value inside = x;
  for (size_t i = 0; i < x.ndim(); ++i) {
    const int64_t first = std::max<int64_t>(0, -(*before)[i]);
    const int64_t last = std::max<int64_t>(0, -(*behind)[i]);
    inside = Part(inside, i, first, std::max<int64_t>(0, x.shape[i] - first - last));
    (*before)[i] = std::max<int64_t>(0, (*before)[i]);
    (*behind)[i] = std::max<int64_t>(0, (*behind)[i]);
  }
  return inside;
}

void Pad(NodeSteps& at) {
  const Value x = at.Input(0);
  if (at.Text("mode", "constant") != "constant") at.Decline("with what is no constant");
  const Extents pads = at.Integers(1, "pads");
  at.NeedSmall(pads);
  Extents axes = at.Integers(3, "axes");
  if (axes.empty()) axes = Range(0, x.ndim());
  if (pads.size() != 2 * axes.size()) at.Decline("with other than two numbers for each axis");
  Extents before(x.ndim());
  Extents behind(x.ndim());
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = at.Axis(axes[i], x.ndim());
    before[axis] = pads[i];
    behind[axis] = pads[axes.size() + i];
  }
  const Operand number =
      at.Has(2) ? Operand(at.Reshape(at.Input(2), {})) : Operand(at.node().Number("value", 0));
  at.Give(at.Pad(Cropped(x, &before, &behind), before, behind, number));
}

/*! \brief One index that is known is a view. */
void Gather(NodeSteps& at) {
  const Value x = at.Input(0);
  const Value indices = at.Input(1);
  const size_t axis = at.Axis(at.node().Integer("axis", 0), x.ndim());
  const GraphEntry& entry = at.entry(1);
  if (entry.weight != nullptr && indices.count() == 1) {
    const double given = at.Number(1, "", 0);
    const auto extent = static_cast<double>(x.shape[axis]);
    if (!(given >= -extent && given < extent)) at.Decline("of an index that is out of range");
    const auto index = static_cast<int64_t>(given < 0 ? given + extent : given);
    return at.Give(at.Reshape(Part(x, axis, index, 1), at.output().shape));
  }
  at.Give(at.Call(
      "take", {{"a", x}, {"indices", indices}},
      {Attribute::Integer("axis", static_cast<int64_t>(axis)), Attribute::Text("mode", "raise")},
      x.dtype, at.output().shape));
}

/*! \brief The blocks of a picture become channels, or the other way round. */
void MoveBlocks(NodeSteps& at, const Extents& shape, const Extents& order) {
  at.Give(at.Reshape(Transposed(at.Reshape(at.Input(0), shape), order), at.output().shape));
}

void DepthToSpace(NodeSteps& at) {
  const Extents n = at.Input(0).shape;
  const int64_t size = at.node().Integer("blocksize", 1);
  at.NeedSmall({size});
  if (n.size() != 4 || size < 1) at.Decline("of what is no picture");
  const int64_t depth = n[1] / (size * size);
  if (at.Text("mode", "DCR") == "CRD") {
    return MoveBlocks(at, {n[0], depth, size, size, n[2], n[3]}, {0, 1, 4, 2, 5, 3});
  }
  MoveBlocks(at, {n[0], size, size, depth, n[2], n[3]}, {0, 3, 4, 1, 5, 2});
}

void SpaceToDepth(NodeSteps& at) {
  const Extents n = at.Input(0).shape;
  const int64_t size = at.node().Integer("blocksize", 1);
  at.NeedSmall({size});
  if (n.size() != 4 || size < 1) at.Decline("of what is no picture");
  const bool mixes = at.Text("mode", "DCR") == "CRD";
  MoveBlocks(at, {n[0], n[1], n[2] / size, size, n[3] / size, size},
             mixes ? Extents{0, 1, 3, 5, 2, 4} : Extents{0, 3, 5, 1, 2, 4});
}

/*! \brief To the nearest element, by whole factors: each one is repeated. */
void Resize(NodeSteps& at) {
  const Value x = at.Input(0);
  const std::string mode = at.Text("mode", "nearest");
  const std::string by = at.Text("coordinate_transformation_mode", "half_pixel");
  const std::string rounded = at.Text("nearest_mode", "round_prefer_floor");
  const bool centers = by == "half_pixel" && rounded.rfind("round_prefer", 0) == 0;
  const bool corners = by == "asymmetric" && rounded == "floor";
  const std::vector<float> scales = at.Floats(2);
  const bool fits = mode == "nearest" && (centers || corners) &&
                    at.Text("keep_aspect_ratio_policy", "stretch") == "stretch" &&
                    at.output().shape.size() == x.ndim();
  if (!fits || at.node().Find("axes") != nullptr) at.Decline("other than to whole multiples");
  Extents single;
  Extents repeated;
  for (size_t i = 0; i < x.ndim(); ++i) {
    const int64_t extent = x.shape[i];
    const int64_t wanted = at.output().shape[i];
    const bool is_whole =
        extent != 0 && wanted % extent == 0 &&
        (scales.size() != x.ndim() || scales[i] == static_cast<float>(wanted / extent));
    if (!is_whole) at.Decline("other than to whole multiples");
    single.insert(single.end(), {extent, 1});
    repeated.insert(repeated.end(), {extent, wanted / extent});
  }
  at.Give(at.Reshape(Expanded(at.Reshape(x, single), repeated), at.output().shape));
}

}  // namespace

void AddMovementRules(Rules* to) {
  Rules& rules = *to;
  for (const char* onnx : {"Reshape", "Identity", "Flatten", "Squeeze", "Unsqueeze"}) {
    rules[onnx] = Reshape;
  }
  rules["Transpose"] = Transpose;
  rules["Dropout"] = Dropout;
  rules["Concat"] = Concat;
  rules["Split"] = Split;
  rules["Slice"] = Slice;
  rules["Expand"] = Expand;
  rules["Tile"] = Tile;
  rules["Pad"] = Pad;
  rules["Gather"] = Gather;
  rules["DepthToSpace"] = DepthToSpace;
  rules["SpaceToDepth"] = SpaceToDepth;
  rules["Resize"] = Resize;
}

}  // namespace mxacc
