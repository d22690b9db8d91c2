#include "plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "threads.h"

namespace onednn {
namespace {

constexpr size_t kAlignment = 64;
/*! \brief Fewer elements are copied by a loop sooner than by a primitive. */
constexpr int64_t kFewElements = 4096;

size_t RoundUp(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

char* FirstByte(const MXTensor& tensor) {
  return static_cast<char*>(tensor.tensor.data) + tensor.tensor.byte_offset;
}

MXAccDLTensor DLTensorOf(const Array& array) {
  MXAccDLTensor dl_tensor{};
  dl_tensor.ndim = array.ndim();
  dl_tensor.dtype = array.dtype;
  dl_tensor.shape = const_cast<int64_t*>(array.shape.data());
  dl_tensor.strides = const_cast<int64_t*>(array.strides.data());
  return dl_tensor;
}

}  // namespace

/*! \brief What one run needs for itself. */
struct Plan::Slot {
  dnnl::stream stream{Engine()};
  std::vector<dnnl::memory> memories;  /*!< of the arguments of the primitives, in order */
  std::vector<dnnl_exec_arg_t> passed; /*!< the same, for oneDNN */
};

Plan::Plan(int threads) : threads_(threads) {}

Plan::~Plan() = default;

Array Plan::Scratch(MXAccDataType dtype, const Dims& shape) {
  const Location location{Location::Kind::kScratch, workspace_size_, 0};
  workspace_size_ += RoundUp(static_cast<size_t>(SizeOf(shape) * ItemSize(dtype)));
  return Array{location, dtype, shape, DenseStrides(shape)};
}

Array Plan::Constant(MXAccDataType dtype, double value, const Dims& shape) {
  const Location location{Location::Kind::kConstant, constants_.size(), 0};
  constants_.resize(constants_.size() + kAlignment);
  if (IsFloat(dtype)) {
    auto single = static_cast<float>(value);
    dnnl::memory from(DenseDesc(kFloat32, {1}), Engine(), &single);
    dnnl::memory to(DenseDesc(dtype, {1}), Engine(), &constants_[location.index]);
    dnnl::stream stream(Engine());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  } else if (value != 0) {
    Unsupported("constants that are no floats");
  }
  return Array{location, dtype, shape, Dims(shape.size(), 0)};
}

float Plan::Rounded(MXAccDataType dtype, double value) {
  Plan plan(1);
  auto single = static_cast<float>(value);
  const Array rounded = plan.Constant(dtype, value, {1});
  dnnl::memory from(DenseDesc(dtype, {1}), Engine(), &plan.constants_[rounded.location.index]);
  dnnl::memory to(DenseDesc(kFloat32, {1}), Engine(), &single);
  dnnl::stream stream(Engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return single;
}

void Plan::Add(const dnnl::primitive_desc_base& desc, const dnnl::primitive& primitive,
               std::vector<Argument> arguments) {
  const auto size = static_cast<int64_t>(desc.scratchpad_desc().get_size());
  if (size != 0) {
    const MXAccDataType byte{kMXAccUInt, 8, 1};
    arguments.push_back({DNNL_ARG_SCRATCHPAD, Scratch(byte, {size})});
  }
  steps_.push_back({primitive, nullptr, std::move(arguments)});
}

bool Plan::AddReorder(const Array& from, const Array& to) {
  const auto is_forward = [](int64_t stride) { return stride >= 0; };
  for (const Array* array : {&from, &to}) {
    if (!std::all_of(array->strides.begin(), array->strides.end(), is_forward)) return false;
    if (!TypeOf(array->dtype) || array->shape.size() > DNNL_MAX_NDIMS) return false;
  }
  // oneDNN takes bool for uint8, and would copy a byte such as 2, which means true.
  if (IsBool(from.dtype) != IsBool(to.dtype)) return false;
  // Where the processor has instructions for bfloat16, oneDNN flushes subnormal results to 0.
  if (to.dtype.code == kMXAccBfloat) return false;
  const dnnl::reorder::primitive_desc desc(Engine(), DescOf(from), Engine(), DescOf(to),
                                           AttributesWith(), true);
  if (!IsFast(desc)) return false;
  // Its implementation "simple" takes more than 100 ns for each element of 16 bits.
  const bool is_simple = std::string(desc.impl_info_str()).rfind("simple", 0) == 0;
  if (is_simple && (from.dtype.bits == 16 || to.dtype.bits == 16)) return false;
  Add(desc, dnnl::reorder(desc), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  return true;
}

void Plan::AddLoop(Loop loop, const Array& from, const Array& to) {
  steps_.push_back({dnnl::primitive(), loop, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
}

void Plan::Copy(const Array& from, const Array& to) {
  if (SizeOf(to.shape) >= kFewElements) {
    const std::vector<Array> joined = Joined({to, from});
    if (AddReorder(joined[1], joined[0])) return;
  }
  AddLoop(nullptr, from, to);
}

void Plan::Convert(const Array& from, const Array& to) {
  const std::vector<Array> joined = Joined({to, from});
  if (AddReorder(joined[1], joined[0])) return;
  const Array target = IsDense(joined[0]) ? joined[0] : Scratch(to.dtype, joined[0].shape);
  AddConversion(Dense(joined[1]), target);
  if (!IsDense(joined[0])) Copy(target, joined[0]);
}

void Plan::AddConversion(const Array& from, const Array& to) {
  if (AddReorder(from, to)) return;
  if (const Loop loop = LoopFor(from.dtype, to.dtype)) return AddLoop(loop, from, to);
  if (!TypeOf(from.dtype) || SameType(from.dtype, kFloat32) || SameType(to.dtype, kFloat32)) {
    Unsupported("oneDNN does not convert these types");
  }
  const Array single = Scratch(kFloat32, from.shape);
  AddConversion(from, single);
  AddConversion(single, to);
}

Array Plan::Dense(const Array& array) {
  if (IsDense(array)) return array;
  const Array dense = Scratch(array.dtype, array.shape);
  Copy(array, dense);
  return dense;
}

std::unique_ptr<Plan::Slot> Plan::TakeSlot() const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!slots_.empty()) {
      std::unique_ptr<Slot> slot = std::move(slots_.back());
      slots_.pop_back();
      return slot;
    }
  }
  auto slot = std::make_unique<Slot>();
  for (const Step& step : steps_) {
    if (!step.primitive) continue;
    for (const Argument& argument : step.arguments) {
      dnnl::memory& memory = slot->memories.emplace_back(DescOf(argument.array), Engine(), nullptr);
      slot->passed.push_back({argument.name, memory.get()});
    }
  }
  return slot;
}

void Plan::ReturnSlot(std::unique_ptr<Slot> slot) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  slots_.push_back(std::move(slot));
}

void Plan::Run(const MXTensor* inputs, const MXTensor* outputs, const MXTensor* workspace) const {
  std::unique_ptr<Slot> slot = TakeSlot();
  const auto address_of = [&](const Location& location) {
    switch (location.kind) {
      case Location::Kind::kInput:
        return FirstByte(inputs[location.index]) + location.offset;
      case Location::Kind::kOutput:
        return FirstByte(outputs[location.index]) + location.offset;
      case Location::Kind::kScratch:
        return FirstByte(*workspace) + location.index + location.offset;
      case Location::Kind::kConstant:
        break;
    }
    return const_cast<char*>(constants_.data()) + location.index;
  };
  const ThreadScope scope(threads_);
  size_t next = 0;
  for (const Step& step : steps_) {
    const std::vector<Argument>& arguments = step.arguments;
    if (!step.primitive) {
      const Array& from = arguments[0].array;
      const Array& to = arguments[1].array;
      char* source = address_of(from.location);
      char* target = address_of(to.location);
      if (step.loop != nullptr) {
        step.loop(source, target, SizeOf(to.shape));
      } else {
        CopyElements(DLTensorOf(to), target, DLTensorOf(from), source);
      }
      continue;
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      slot->memories[next + i].set_data_handle(address_of(arguments[i].array.location));
    }
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(step.primitive.get(), slot->stream.get(),
                               static_cast<int>(arguments.size()), &slot->passed[next]),
        "a primitive failed");
    next += arguments.size();
  }
  slot->stream.wait();
  ReturnSlot(std::move(slot));
}

}  // namespace onednn
