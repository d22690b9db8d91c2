#include "graph/plan_builder.h"

#include <mxnet/runtime/class.h>
#include <mxnet/runtime/extents.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "op/tensor/cast.h"

namespace mxnet {
namespace graph {

using op::KernelInput;
using op::KernelOutput;
using runtime::ItemSize;

namespace {

ShapeView ViewOf(const std::vector<int64_t>& shape) { return {shape.data(), shape.size()}; }

std::vector<int64_t> RowMajor(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  runtime::SetRowMajorStrides(ViewOf(shape), strides.data());
  return strides;
}

/*! \brief Whether elements lie in row-major order without gaps; strides of axes with one element
 * do not matter. */
bool IsRowMajor(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  DLTensor tensor{};
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.shape = const_cast<int64_t*>(shape.data());
  tensor.strides = const_cast<int64_t*>(strides.data());
  return IsContiguous(tensor);
}

/*! \brief Bytes of a row-major tensor. Throws ValueError for negative extents, MemoryError beyond
 * 63 bits. */
size_t BytesOf(const std::vector<int64_t>& shape, DLDataType dtype) {
  for (int64_t extent : shape) {
    if (extent < 0) MXNET_THROW("ValueError") << "a shape of a plan: " << ViewOf(shape).str();
  }
  int64_t bytes = 0;
  if (!runtime::TryBytes(ViewOf(shape), dtype, &bytes)) {
    runtime::details::ThrowNoMemory(ViewOf(shape), dtype);
  }
  return static_cast<size_t>(bytes);
}

/*! \brief Copies elements of any layout to a row-major tensor. */
struct Copy {
  void Run(const DLTensor* in, int, DLTensor* out, int, void*) const {
    op::CopyCast(in[0], out[0]);
  }
};

Ref<Kernel> CopyKernel(const PlanTensor& tensor) {
  return op::MakeKernel("copy", {{KernelInput{tensor.dtype, tensor.shape, true}}},
                        {KernelOutput{tensor.dtype, tensor.shape}}, std::make_unique<Copy>());
}

/*! \brief The first and the end of the bytes that a view shows; equal where it has no elements. */
std::pair<int64_t, int64_t> BytesShown(const std::vector<int64_t>& shape,
                                       const std::vector<int64_t>& strides, int64_t item_size) {
  int64_t begin = 0;
  int64_t end = item_size;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return {0, 0};
    int64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_mul_overflow(reach, item_size, &reach) ||
        __builtin_add_overflow(reach < 0 ? begin : end, reach, reach < 0 ? &begin : &end)) {
      MXNET_THROW("ValueError") << "a view whose strides are beyond 63 bits";
    }
  }
  return {begin, end};
}

}  // namespace

int64_t PlanBuilder::Add(std::vector<int64_t> shape, DLDataType dtype, Root root) {
  std::vector<int64_t> strides = RowMajor(shape);
  const bool is_blocked = root.source == Source::kArena && root.bytes != BytesOf(shape, dtype);
  const PlanTensor tensor{dtype, std::move(shape), std::move(strides), root.source, root.index, 0};
  roots_.push_back(root);
  values_.push_back({tensor, static_cast<int>(roots_.size()) - 1, is_blocked});
  return static_cast<int64_t>(values_.size()) - 1;
}

const PlanBuilder::Value& PlanBuilder::At(int64_t value, const char* what) const {
  if (value < 0 || value >= static_cast<int64_t>(values_.size())) {
    MXNET_THROW("ValueError") << what << ": there is no value " << value << ", but "
                              << values_.size() << " values";
  }
  return values_[static_cast<size_t>(value)];
}

int64_t PlanBuilder::AddInput(const std::vector<int64_t>& shape, DLDataType dtype) {
  const size_t bytes = BytesOf(shape, dtype);
  parts_.inputs.push_back({dtype, shape});
  return Add(shape, dtype, {Source::kInput, static_cast<int>(parts_.inputs.size()) - 1, bytes});
}

int64_t PlanBuilder::AddConstant(const NDArray& array) {
  op::CheckHost(array.ctx());
  const bool as_it_is = IsContiguous(array.tensor()) && op::IsAligned(array.tensor());
  parts_.constants.push_back(as_it_is ? array : op::Contiguous(array.tensor()));
  const std::vector<int64_t> shape(array.shape().begin(), array.shape().end());
  const auto index = static_cast<int>(parts_.constants.size()) - 1;
  return Add(shape, array.dtype(), {Source::kConstant, index, BytesOf(shape, array.dtype())});
}

void PlanBuilder::CheckInputs(const Kernel& kernel, const std::vector<int64_t>& inputs,
                              const std::string& name) const {
  if (!kernel.inputs()) {
    for (int64_t input : inputs) {
      if (input != -1) At(input, "an input of a step");
    }
    return;
  }
  const std::vector<KernelInput>& expected = *kernel.inputs();
  if (inputs.size() != expected.size()) {
    MXNET_THROW("ValueError") << name << ": the kernel takes " << expected.size() << " inputs, got "
                              << inputs.size();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = At(inputs[i], "an input of a step");
    const PlanTensor& tensor = value.tensor;
    if (tensor.dtype != expected[i].dtype || tensor.shape != expected[i].shape) {
      MXNET_THROW("ValueError") << name << ": input " << i << " of the kernel: expected "
                                << DataTypeName(expected[i].dtype)
                                << ViewOf(expected[i].shape).str() << ", got "
                                << DataTypeName(tensor.dtype) << ViewOf(tensor.shape).str();
    }
    const bool is_plain = !value.is_blocked && IsRowMajor(tensor.shape, tensor.strides);
    if (!is_plain && !expected[i].any_layout) {
      MXNET_THROW("ValueError") << name << ": input " << i << " of the kernel has to be row-major";
    }
    // Strides of a view were checked when it was added; a layout of the kernel's own has none.
    const size_t given = roots_[static_cast<size_t>(value.root)].bytes - tensor.offset;
    if (given < expected[i].bytes) {
      MXNET_THROW("ValueError") << name << ": input " << i << " of the kernel: expected "
                                << expected[i].bytes << " bytes in the layout of the kernel, got "
                                << given;
    }
  }
}

int64_t PlanBuilder::AddStep(const Ref<Kernel>& kernel, const std::vector<int64_t>& inputs,
                             std::string name) {
  PlanStep step{kernel, std::move(name), {}, {}, 0};
  CheckInputs(*kernel, inputs, step.name);
  step.inputs.assign(inputs.begin(), inputs.end());
  const auto index = static_cast<int>(parts_.steps.size());
  const auto first = static_cast<int64_t>(values_.size());
  for (const KernelOutput& output : kernel->outputs()) {
    const size_t dense = BytesOf(output.shape, output.dtype);
    const size_t bytes = output.bytes == 0 ? dense : output.bytes;
    const int64_t value =
        Add(output.shape, output.dtype, {Source::kArena, -1, bytes, index, index});
    step.outputs.push_back(static_cast<int>(value));
  }
  for (int input : step.inputs) {
    if (input >= 0)
      roots_[static_cast<size_t>(values_[static_cast<size_t>(input)].root)].last = index;
  }
  parts_.steps.push_back(std::move(step));
  return first;
}

int64_t PlanBuilder::AddView(int64_t of, const std::vector<int64_t>& shape,
                             const std::vector<int64_t>& strides, int64_t byte_offset) {
  const Value& source = At(of, "a view");
  if (source.is_blocked) {
    MXNET_THROW("ValueError") << "a view of value " << of << ", whose layout is blocked";
  }
  if (shape.size() != strides.size()) {
    MXNET_THROW("ValueError") << "a view of " << shape.size() << " extents has " << strides.size()
                              << " strides";
  }
  BytesOf(shape, source.tensor.dtype);
  const auto [begin, end] = BytesShown(shape, strides, ItemSize(source.tensor.dtype));
  const Root& root = roots_[static_cast<size_t>(source.root)];
  const int64_t offset = static_cast<int64_t>(source.tensor.offset) + byte_offset;
  if (begin != end && (offset + begin < 0 || offset + end > static_cast<int64_t>(root.bytes))) {
    MXNET_THROW("ValueError") << "a view of value " << of << " shows bytes " << offset + begin
                              << " to " << offset + end << " of " << root.bytes;
  }
  Value view = source;
  view.tensor.shape = shape;
  view.tensor.strides = strides;
  view.tensor.offset = begin == end ? 0 : static_cast<size_t>(offset);
  values_.push_back(std::move(view));
  return static_cast<int64_t>(values_.size()) - 1;
}

std::vector<int64_t> PlanBuilder::Strides(int64_t value) const {
  return At(value, "strides").tensor.strides;
}

bool PlanBuilder::IsWhole(const Value& value) const {
  const PlanTensor& tensor = value.tensor;
  return !value.is_blocked && tensor.offset == 0 && IsRowMajor(tensor.shape, tensor.strides) &&
         BytesOf(tensor.shape, tensor.dtype) == roots_[static_cast<size_t>(value.root)].bytes;
}

void PlanBuilder::BindOutput(int64_t number, int index) {
  const Value value = At(number, "an output of a plan");
  if (value.is_blocked) {
    MXNET_THROW("ValueError") << "output " << index << " of a plan has a blocked layout";
  }
  parts_.outputs.push_back({value.tensor.dtype, value.tensor.shape});
  const int root = RootOf(InArena(number, "output " + std::to_string(index)));
  roots_[static_cast<size_t>(root)].source = Source::kOutput;
  roots_[static_cast<size_t>(root)].index = index;
}

int64_t PlanBuilder::InArena(int64_t number, const std::string& name) {
  const Value value = At(number, "an output of a plan");
  const bool is_its_own =
      roots_[static_cast<size_t>(value.root)].source == Source::kArena && IsWhole(value);
  return is_its_own ? number : AddStep(CopyKernel(value.tensor), {number}, name);
}

void PlanBuilder::CheckStore(int64_t number, int64_t input) const {
  const Value& value = At(number, "a value that is stored");
  if (input < 0 || input >= static_cast<int64_t>(parts_.inputs.size())) {
    MXNET_THROW("ValueError") << "a plan of " << parts_.inputs.size()
                              << " inputs has no input number " << input << " to store to";
  }
  const PlanArray& expected = parts_.inputs[static_cast<size_t>(input)];
  if (value.is_blocked || value.tensor.dtype != expected.dtype ||
      value.tensor.shape != expected.shape) {
    MXNET_THROW("ValueError") << "input " << input << " of a plan is "
                              << DataTypeName(expected.dtype) << ViewOf(expected.shape).str()
                              << ", a value that is stored there "
                              << DataTypeName(value.tensor.dtype)
                              << ViewOf(value.tensor.shape).str();
  }
}

void PlanBuilder::BindStore(int64_t number, int64_t input) {
  const auto is_input = [&](const Root& root) {
    return root.source == Source::kInput && root.index == input && root.first == kNever;
  };
  const auto found = std::find_if(roots_.begin(), roots_.end(), is_input);
  const auto given = static_cast<int>(found - roots_.begin());
  const Root& made = roots_[static_cast<size_t>(RootOf(number))];
  bool is_read_later = found->last > made.first;
  if (found->last == made.first) {
    // The step may write to what it reads, if it reads that once and says so.
    const PlanStep& step = parts_.steps[static_cast<size_t>(made.first)];
    const auto reads = [&](int value) { return value >= 0 && RootOf(value) == given; };
    const auto first = std::find_if(step.inputs.begin(), step.inputs.end(), reads);
    const auto output = std::find(step.outputs.begin(), step.outputs.end(), number);
    const auto index = static_cast<size_t>(output - step.outputs.begin());
    is_read_later = output == step.outputs.end() ||
                    std::count_if(step.inputs.begin(), step.inputs.end(), reads) != 1 ||
                    !IsWhole(values_[static_cast<size_t>(*first)]) ||
                    step.kernel->outputs()[index].in_place != first - step.inputs.begin();
  }
  if (is_read_later || made.source != Source::kArena) {
    const PlanTensor tensor = values_[static_cast<size_t>(number)].tensor;
    number = AddStep(CopyKernel(tensor), {number}, "input " + std::to_string(input));
  }
  Root& root = roots_[static_cast<size_t>(RootOf(number))];
  root.source = Source::kInput;
  root.index = static_cast<int>(input);
  parts_.stored.push_back(static_cast<int>(input));
}

/*!
 * \brief Lets outputs take over the memory of inputs that nobody reads afterwards.
 *
 * Roots are in the order of their first steps, so that one that is merged is merged for good.
 */
void PlanBuilder::MergeInPlace() {
  for (size_t i = 0; i < parts_.steps.size(); ++i) {
    const PlanStep& step = parts_.steps[i];
    const std::vector<KernelOutput>& outputs = step.kernel->outputs();
    for (size_t k = 0; k < outputs.size(); ++k) {
      const int chosen = outputs[k].in_place;
      if (chosen < 0 || chosen >= static_cast<int>(step.inputs.size())) continue;
      const int input = step.inputs[static_cast<size_t>(chosen)];
      if (input < 0) continue;
      const Value& from = values_[static_cast<size_t>(input)];
      Root& root = roots_[static_cast<size_t>(values_[static_cast<size_t>(step.outputs[k])].root)];
      int owner = from.root;
      const Root& read = roots_[static_cast<size_t>(owner)];
      const bool is_read_once =
          1 == std::count_if(step.inputs.begin(), step.inputs.end(), [&](int other) {
            return other >= 0 && values_[static_cast<size_t>(other)].root == owner;
          });
      // What an output is computed from in place is in the memory of the output from the start.
      const bool is_output = root.source == Source::kOutput;
      const bool fits = (is_output || root.source == Source::kArena) &&
                        read.source == Source::kArena && read.bytes == root.bytes &&
                        (from.is_blocked || IsWhole(from));
      if (!fits || !is_read_once || read.last != static_cast<int>(i)) continue;
      while (roots_[static_cast<size_t>(owner)].merged >= 0) {
        owner = roots_[static_cast<size_t>(owner)].merged;
      }
      Root& kept = roots_[static_cast<size_t>(owner)];
      if (is_output) {
        kept.source = Source::kOutput;
        kept.index = root.index;
      }
      root.merged = owner;
      kept.last = std::max(kept.last, root.last);
    }
  }
}

void PlanBuilder::PackArena() {
  constexpr int kWorkspace = -1;
  std::vector<std::pair<Block, int>> blocks;  // with the root that it is of
  for (size_t i = 0; i < roots_.size(); ++i) {
    const Root& root = roots_[i];
    if (root.source != Source::kArena || root.merged >= 0) continue;
    blocks.push_back({{root.bytes, root.first, root.last, 0}, static_cast<int>(i)});
  }
  for (size_t i = 0; i < parts_.steps.size(); ++i) {
    const size_t bytes = parts_.steps[i].kernel->kernel().workspace_bytes;
    const auto step = static_cast<int>(i);
    if (bytes != 0) blocks.push_back({{bytes, step, step, 0}, kWorkspace});
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const auto& a, const auto& b) { return a.first.first < b.first.first; });
  std::vector<Block> packed;
  for (const auto& block : blocks) packed.push_back(block.first);
  parts_.arena_bytes = PackBlocks(&packed);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool is_workspace = blocks[i].second == kWorkspace;
    parts_.blocks.push_back(
        {packed[i].bytes, packed[i].first, packed[i].last, packed[i].offset, is_workspace});
    if (is_workspace) {
      parts_.steps[static_cast<size_t>(packed[i].first)].workspace_offset = packed[i].offset;
    } else {
      roots_[static_cast<size_t>(blocks[i].second)].offset = packed[i].offset;
    }
  }
  for (Value& value : values_) {
    int owner = value.root;
    while (roots_[static_cast<size_t>(owner)].merged >= 0) {
      owner = roots_[static_cast<size_t>(owner)].merged;
    }
    const Root& root = roots_[static_cast<size_t>(owner)];
    value.tensor.source = root.source;
    value.tensor.index = root.index;
    if (root.source == Source::kArena) value.tensor.offset += root.offset;
  }
}

Ref<Plan> PlanBuilder::BuildStoring(const std::vector<int64_t>& outputs,
                                    const std::vector<std::pair<int64_t, int64_t>>& stores) {
  if (built_) MXNET_THROW("ValueError") << "this builder has made its plan";
  for (int64_t output : outputs) At(output, "an output of a plan");
  std::vector<int64_t> written;
  for (const auto& [value, input] : stores) {
    CheckStore(value, input);
    written.push_back(input);
  }
  std::sort(written.begin(), written.end());
  if (std::adjacent_find(written.begin(), written.end()) != written.end()) {
    MXNET_THROW("ValueError") << "two values are stored to one input of a plan";
  }
  built_ = true;
  for (size_t i = 0; i < outputs.size(); ++i) BindOutput(outputs[i], static_cast<int>(i));
  // All copies that read inputs come before anything is known to write them.
  std::vector<std::pair<int64_t, int64_t>> made;
  for (const auto& [value, input] : stores) {
    made.emplace_back(InArena(value, "input " + std::to_string(input)), input);
  }
  for (const auto& [value, input] : made) BindStore(value, input);
  MergeInPlace();
  PackArena();
  for (Value& value : values_) parts_.tensors.push_back(std::move(value.tensor));
  for (std::vector<PlanArray>* arrays : {&parts_.inputs, &parts_.outputs}) {
    for (PlanArray& array : *arrays) {
      if (parts_.slices == 1) continue;
      array.shape.front() *= parts_.slices;
      BytesOf(array.shape, array.dtype);
    }
  }
  return Ref<Plan>::Make(std::move(parts_));
}

Ref<Plan> PlanBuilder::BuildSliced(const std::vector<int64_t>& outputs, int64_t slices) {
  if (slices < 1) MXNET_THROW("ValueError") << "a plan of " << slices << " slices";
  std::vector<const std::vector<int64_t>*> shapes;
  for (const PlanArray& input : parts_.inputs) shapes.push_back(&input.shape);
  for (int64_t output : outputs) shapes.push_back(&At(output, "an output of a plan").tensor.shape);
  for (const std::vector<int64_t>* shape : shapes) {
    int64_t extent = 0;
    if (shape->empty() || __builtin_mul_overflow(shape->front(), slices, &extent)) {
      MXNET_THROW("ValueError") << "a plan of " << slices
                                << " slices: an input or output has the shape "
                                << ViewOf(*shape).str();
    }
  }
  parts_.slices = slices;
  return Build(outputs);
}

}  // namespace graph
}  // namespace mxnet
