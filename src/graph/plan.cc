#include "graph/plan.h"

#include <mxnet/runtime/signals.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "graph/gradient_memory.h"
#include "graph/large_outputs.h"
#include "graph/mapped_array.h"
#include "graph/shared_arenas.h"
#include "op/parallel/openmp_team.h"
#include "op/parallel/parallel.h"
#include "op/tensor/cast.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace graph {

using op::kUInt8;
using runtime::Context;
using runtime::Error;

namespace {

using Clock = std::chrono::steady_clock;

constexpr Context kHost{kDLCPU, 0};
/*! \brief To begin a region and to wait for its threads takes some microseconds. */
constexpr std::chrono::microseconds kWorthTeam{100};

ShapeView ShapeOf(const PlanArray& array) { return {array.shape.data(), array.shape.size()}; }

/*! \brief Bytes from one slice of an array to the next; 0 where there is one. */
size_t SliceBytes(const PlanArray& array, int64_t slices) {
  if (slices == 1) return 0;
  int64_t bytes = runtime::ItemSize(array.dtype);
  for (int64_t extent : array.shape) bytes *= extent;
  return static_cast<size_t>(bytes / slices);
}

bool Fits(const NDArray& given, const PlanArray& expected) {
  return given.ctx().device_type == kDLCPU && given.dtype() == expected.dtype &&
         given.shape() == ShapeOf(expected);
}

/*! \brief Says what does not fit to what the plan was made for; names the input. */
[[noreturn, gnu::cold]] void ThrowUnfit(const NDArray& given, const PlanArray& expected,
                                        size_t index) {
  if (given.ctx().device_type != kDLCPU) {
    MXNET_THROW("ValueError") << "input " << index << " of the plan: expected an array on the CPU";
  }
  if (given.dtype() != expected.dtype) {
    MXNET_THROW("TypeError") << "input " << index << " of the plan: expected "
                             << DataTypeName(expected.dtype) << ", got "
                             << DataTypeName(given.dtype());
  }
  MXNET_THROW("ValueError") << "input " << index << " of the plan: expected shape "
                            << ShapeOf(expected).str() << ", got " << given.shape().str();
}

}  // namespace

/*! \brief What one run needs for itself: memory, and the tensors as kernels take them. */
struct Plan::Frame {
  /*! \brief A tensor whose address differs from run to run. */
  struct Moving {
    size_t argument;
    Source source;
    int index;
    size_t offset;
    size_t slice_bytes;
  };

  NDArray arena;
  std::vector<DLTensor> arguments; /*!< of all steps, inputs before outputs */
  std::vector<size_t> in_arena;    /*!< arguments that lie there */
  std::vector<Moving> moving;
  std::vector<NDArray> outputs; /*!< of the last run, where the plan keeps all of them */
  const char* base{nullptr};    /*!< where the arena was when those arguments were set */

  /*! \brief Has the arguments lie in another arena. */
  void MoveTo(NDArray other) {
    arena = std::move(other);
    char* const now = arena.data_as<char>();
    if (now == base) return;
    for (const size_t index : in_arena) {
      void*& data = arguments[index].data;
      data = now + (static_cast<const char*>(data) - base);
    }
    base = now;
  }
};

/*! \brief What a run reads and writes. */
struct Plan::Arrays {
  const std::vector<NDArray>* inputs;
  std::vector<NDArray> copies; /*!< of inputs that kernels cannot read as they are; else NULL */
  std::vector<NDArray> outputs;

  const NDArray& input(size_t index) const {
    return copies.empty() || copies[index].get() == nullptr ? (*inputs)[index] : copies[index];
  }
};

Plan::Plan(PlanParts parts) : parts_(std::move(parts)) {
  size_t next = 0;
  for (const PlanStep& step : parts_.steps) {
    first_arguments_.push_back(next);
    next += step.inputs.size() + step.outputs.size();
  }
  for (const PlanArray& output : parts_.outputs) {
    is_large_.push_back(runtime::CheckedBytes(ShapeOf(output), output.dtype) >=
                        LargeOutputs::kLarge);
  }
}

Plan::~Plan() { LargeOutputs::Global()->Forget(this); }

std::unique_ptr<Plan::Frame> Plan::TakeFrame() const {
  std::unique_ptr<Frame> frame;
  std::shared_ptr<SharedArenas> arenas;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    arenas = arenas_;
    if (!frames_.empty()) {
      frame = std::move(frames_.back());
      frames_.pop_back();
    }
  }
  if (frame == nullptr) {
    const auto bytes = static_cast<int64_t>(parts_.arena_bytes);
    return MakeFrame(arenas ? arenas->Take() : MappedArray(ShapeView(&bytes, 1), kUInt8));
  }
  if (arenas != nullptr) frame->MoveTo(arenas->Take());
  return frame;
}

std::unique_ptr<Plan::Frame> Plan::MakeFrame(NDArray arena) const {
  auto frame = std::make_unique<Frame>();
  frame->base = arena.data_as<char>();
  frame->arena = std::move(arena);
  for (const PlanStep& step : parts_.steps) {
    for (const std::vector<int>* side : {&step.inputs, &step.outputs}) {
      for (int index : *side) {
        DLTensor argument{};
        argument.ndim = -1;
        if (index >= 0) {
          const PlanTensor& tensor = parts_.tensors[static_cast<size_t>(index)];
          argument = {nullptr,
                      kHost,
                      static_cast<int>(tensor.shape.size()),
                      tensor.dtype,
                      const_cast<int64_t*>(tensor.shape.data()),
                      const_cast<int64_t*>(tensor.strides.data()),
                      0};
          if (tensor.source == Source::kArena) {
            argument.data = frame->arena.data_as<char>() + tensor.offset;
            frame->in_arena.push_back(frame->arguments.size());
          } else if (tensor.source == Source::kConstant) {
            const NDArray& array = parts_.constants[static_cast<size_t>(tensor.index)];
            argument.data = array.data_as<char>() + tensor.offset;
          } else {
            const PlanArray& array = (tensor.source == Source::kInput
                                          ? parts_.inputs
                                          : parts_.outputs)[static_cast<size_t>(tensor.index)];
            frame->moving.push_back({frame->arguments.size(), tensor.source, tensor.index,
                                     tensor.offset, SliceBytes(array, parts_.slices)});
          }
        }
        frame->arguments.push_back(argument);
      }
    }
  }
  return frame;
}

void Plan::ReturnFrame(std::unique_ptr<Frame> frame) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (arenas_ != nullptr) arenas_->Return(std::exchange(frame->arena, NDArray()));
  frames_.push_back(std::move(frame));
}

void Plan::ShareArenas(Plan* other) {
  if (parts_.arena_bytes == 0 || other->parts_.arena_bytes == 0) return;
  auto arenas =
      std::make_shared<SharedArenas>(std::max(parts_.arena_bytes, other->parts_.arena_bytes));
  for (Plan* const plan : {this, other}) {
    const std::lock_guard<std::mutex> lock(plan->mutex_);
    plan->arenas_ = arenas;
    for (const std::unique_ptr<Frame>& frame : plan->frames_) frame->arena = NDArray();
  }
}

void Plan::ShareMemory(Plan* forward, const std::vector<std::pair<int64_t, int64_t>>& saved) {
  if (forward == this || memory_ != nullptr || forward->memory_ != nullptr) {
    MXNET_THROW("ValueError") << "forward: expected another plan, and both without such memory";
  }
  auto memory = std::make_shared<GradientMemory>(forward->parts_, parts_, saved);
  ShareArenas(forward);
  if (memory->shared_bytes() == 0) return;
  memory_ = memory;
  forward->memory_ = memory;
  pass_.store(Pass::kBackward, std::memory_order_release);
  forward->pass_.store(Pass::kForward, std::memory_order_release);
  // What it has saved goes with who reads it.
  const std::lock_guard<std::mutex> lock(forward->mutex_);
  for (const std::unique_ptr<Frame>& frame : forward->frames_) frame->outputs.clear();
}

NDArray Plan::SpanFor(const std::vector<NDArray>& inputs, bool gives_up) const {
  const Pass pass = pass_.load(std::memory_order_acquire);
  if (pass == Pass::kNone) return {};
  return pass == Pass::kForward ? memory_->ForForward() : memory_->ForBackward(inputs, gives_up);
}

NDArray Plan::OutputOf(size_t index, const NDArray& span, Frame* frame) const {
  const PlanArray& expected = parts_.outputs[index];
  if (span.get() != nullptr) {
    const bool is_forward = pass_.load(std::memory_order_relaxed) == Pass::kForward;
    const int64_t offset = is_forward ? memory_->OfForward(index) : memory_->OfBackward(index);
    if (offset >= 0) {
      if (index < frame->outputs.size()) frame->outputs[index] = NDArray();
      std::vector<int64_t> strides(expected.shape.size());
      runtime::SetRowMajorStrides(ShapeOf(expected), strides.data());
      return span.View(span.data_as<char>() + offset, ShapeOf(expected),
                       ShapeView(strides.data(), strides.size()), expected.dtype);
    }
  }
  const auto make = [&] { return NDArray::Empty(ShapeOf(expected), expected.dtype); };
  if (!keeps_outputs_) {
    if (!is_large_[index]) return make();
    return LargeOutputs::Global()->Take(this, index, parts_.outputs.size(), make);
  }
  frame->outputs.resize(parts_.outputs.size());
  NDArray& kept = frame->outputs[index];
  const bool is_forward = pass_.load(std::memory_order_acquire) == Pass::kForward;
  if (is_forward && !memory_->IsSaved(index)) {
    // A result, whose memory the backward pass may have as soon as the loss has read it.
    kept = NDArray();
    return make();
  }
  if (kept.get() == nullptr) {
    kept = MappedArray(ShapeOf(expected), expected.dtype);
  } else if (!IsOnlyKept(kept)) {
    kept = make();  // of a caller that has the last one, too, and so may come for one each time
  }
  return kept;
}

void Plan::RunStep(size_t index, Frame* frame) const {
  const PlanStep& step = parts_.steps[index];
  const MXNetKernel& kernel = step.kernel->kernel();
  DLTensor* in = frame->arguments.data() + first_arguments_[index];
  const auto num_in = static_cast<int>(step.inputs.size());
  void* workspace =
      kernel.workspace_bytes == 0 ? nullptr : frame->arena.data_as<char>() + step.workspace_offset;
  const int status = kernel.run(kernel.state, in, num_in, in + num_in,
                                static_cast<int>(step.outputs.size()), workspace);
  if (__builtin_expect(status != 0, 0)) throw Error::FromLast().In(step.name);
}

void Plan::RunSlice(int64_t slice, const Arrays& arrays, Frame* frame,
                    std::vector<int64_t>* times) const {
  for (const Frame::Moving& moving : frame->moving) {
    const auto index = static_cast<size_t>(moving.index);
    const NDArray& array =
        moving.source == Source::kInput ? arrays.input(index) : arrays.outputs[index];
    frame->arguments[moving.argument].data =
        static_cast<char*>(runtime::TensorData(array.tensor())) + moving.offset +
        static_cast<size_t>(slice) * moving.slice_bytes;
  }
  for (size_t i = 0; i < parts_.steps.size(); ++i) {
    // Not before the first step: who calls that often looks for signals, and the clock would take
    // longer than many a step.
    if (i != 0) runtime::CheckSignals();
    if (times == nullptr) {
      RunStep(i, frame);
      continue;
    }
    const Clock::time_point begin = Clock::now();
    RunStep(i, frame);
    (*times)[i] =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  }
}

void Plan::RunSlices(const Arrays& arrays, Frame* frame, std::vector<int64_t>* times) const {
  std::atomic<Frame*> unused{frame};
  std::atomic<bool> has_failed{false};
  std::mutex mutex;  // of what follows
  std::exception_ptr failure;
  std::vector<int64_t> sums(times == nullptr ? 0 : times->size());
  op::ForEachItem(parts_.slices, [&](int64_t slice) {
    if (has_failed) return;
    try {
      std::unique_ptr<Frame> taken;
      Frame* own = unused.exchange(nullptr);
      if (own == nullptr) {
        taken = TakeFrame();
        own = taken.get();
      }
      std::vector<int64_t> of_slice(sums.size());
      RunSlice(slice, arrays, own, times == nullptr ? nullptr : &of_slice);
      taken != nullptr ? ReturnFrame(std::move(taken)) : unused.store(own);
      if (times == nullptr) return;
      const std::lock_guard<std::mutex> lock(mutex);
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += of_slice[i];
    } catch (...) {
      has_failed = true;
      const std::lock_guard<std::mutex> lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
  });
  if (failure != nullptr) std::rethrow_exception(failure);
  const int64_t threads = std::min<int64_t>(op::NumThreads(), parts_.slices);
  for (size_t i = 0; i < sums.size(); ++i) (*times)[i] = sums[i] / threads;
}

void Plan::RunSteps(const Arrays& arrays, Frame* frame, std::vector<int64_t>* times) const {
  const auto run = [&] {
    parts_.slices == 1 ? RunSlice(0, arrays, frame, times) : RunSlices(arrays, frame, times);
  };
  if (!is_beside_openmp_) return run();
  const Clock::time_point begin = Clock::now();
  const bool takes_team = is_long_ && op::NumThreads() > 1 && op::OpenMPTeam::IsAwake();
  takes_team ? op::OpenMPTeam::Run(run) : run();
  is_long_ = Clock::now() - begin > kWorthTeam;
}

std::vector<NDArray> Plan::Execute(const std::vector<NDArray>& inputs, std::vector<int64_t>* times,
                                   bool gives_up) const {
  if (inputs.size() != parts_.inputs.size()) {
    MXNET_THROW("ValueError") << "a plan of " << parts_.inputs.size() << " inputs is given "
                              << inputs.size();
  }
  Arrays arrays{&inputs, {}, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!Fits(inputs[i], parts_.inputs[i])) ThrowUnfit(inputs[i], parts_.inputs[i], i);
    const DLTensor& tensor = inputs[i].tensor();
    if (IsContiguous(tensor) && op::IsAligned(tensor)) continue;
    arrays.copies.resize(inputs.size());
    arrays.copies[i] = op::Contiguous(tensor);
  }
  std::unique_ptr<Frame> frame = TakeFrame();
  arrays.outputs.reserve(parts_.outputs.size());
  {
    const NDArray span = SpanFor(inputs, gives_up);
    for (size_t i = 0; i < parts_.outputs.size(); ++i) {
      arrays.outputs.push_back(OutputOf(i, span, frame.get()));
    }
  }
  if (times != nullptr) times->assign(parts_.steps.size(), 0);
  RunSteps(arrays, frame.get(), times);
  ReturnFrame(std::move(frame));
  for (int stored : parts_.stored) {
    const NDArray& array = inputs[static_cast<size_t>(stored)];
    const NDArray& written = arrays.input(static_cast<size_t>(stored));
    const bool is_copy =
        runtime::TensorData(array.tensor()) != runtime::TensorData(written.tensor());
    if (is_copy) op::CopyCast(written.tensor(), array.tensor());
  }
  return std::move(arrays.outputs);
}

int64_t Plan::MostBytes() const {
  const int64_t threads = std::min<int64_t>(op::NumThreads(), parts_.slices);
  return static_cast<int64_t>(parts_.arena_bytes) * threads;
}

bool Plan::Takes(const std::vector<NDArray>& inputs) const {
  return std::equal(inputs.begin(), inputs.end(), parts_.inputs.begin(), parts_.inputs.end(), Fits);
}

std::vector<NDArray> Plan::Run(const std::vector<NDArray>& inputs) const {
  return Execute(inputs, nullptr);
}

std::vector<NDArray> Plan::RunLast(const std::vector<NDArray>& inputs) const {
  return Execute(inputs, nullptr, true);
}

std::vector<NDArray> Plan::Profile(const std::vector<NDArray>& inputs,
                                   std::vector<int64_t>* times) const {
  return Execute(inputs, times);
}

}  // namespace graph
}  // namespace mxnet
