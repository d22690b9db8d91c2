/*!
 * \file blocks.cc
 * \brief Converts the inputs of a block, computes it, and converts what is written.
 */
#include "api/call/blocks.h"

#include <mxnet/op/operator.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "api/call/operator_call.h"
#include "api/call/outputs.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Fewer elements are converted as a whole: they stay in the cache anyway. */
constexpr int64_t kFewForBlocks = 2048;
/*! \brief What the converted elements of a block take at most: a part of the second cache. */
constexpr int64_t kBytesOfBlock = 1 << 16;
/*! \brief Few enough that an operator does not share them with other threads. */
constexpr int64_t kMostOfBlock = kFewForThreads / 4;
constexpr int kMostInputs = 5;

/*! \brief The out and the inputs of a walk. */
constexpr int kOperands = 1 + kMostInputs;
using Operands = StridedLoop<kOperands>;

bool Converts(const BlockCall& call, int i) {
  return IsGiven(call.inputs[i]) && call.inputs[i].dtype != call.specs[i].dtype;
}

/*! \brief Whether each element of two tensors of one shape begins at the same address. */
bool AreOverEachOther(const DLTensor& a, const DLTensor& b) {
  if (TensorData(a) != TensorData(b) || TensorShape(a) != TensorShape(b)) return false;
  int64_t strides[2][kMaxNdim];
  StridesOf(a, strides[0]);
  StridesOf(b, strides[1]);
  for (int d = 0; d < a.ndim; ++d) {
    const bool differs = strides[0][d] * ItemSize(a.dtype) != strides[1][d] * ItemSize(b.dtype);
    if (a.shape[d] > 1 && differs) return false;
  }
  return true;
}

/*! \brief Whether several indices are of one element. */
bool Repeats(const DLTensor& tensor) {
  bool repeats = false;
  for (int d = 0; d < tensor.ndim && tensor.strides != nullptr; ++d) {
    repeats |= tensor.strides[d] == 0 && tensor.shape[d] > 1;
  }
  return repeats;
}

/*! \brief Whether no block writes what is read for another: they are executed in any order. */
bool ReadsOwnElements(const BlockCall& call, const DLTensor& out) {
  for (int i = 0; i < call.num_in; ++i) {
    const DLTensor& input = call.inputs[i];
    if (IsGiven(input) && MayOverlap(input, out) && !AreOverEachOther(input, out)) return false;
  }
  return true;
}

/*! \brief Whether run writes to out, rather than to memory of which that is converted. */
bool WritesToOut(const BlockCall& call, const DLTensor& out) {
  DLTensor kept[kMostInputs];
  for (int i = 0; i < call.num_in; ++i) {
    kept[i] = call.inputs[i];
    if (Converts(call, i)) kept[i].ndim = -1;
  }
  return CanWriteTo(out, call.result, call.op, kept, call.num_in);
}

/*! \brief What goes wrong on any thread, first of all. */
class FirstError {
 public:
  template <typename Body>
  void Catch(const Body& body) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      body();
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }
  void Throw() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

/*! \brief A tensor over an operand's elements of a block, or over memory for them. */
class BlockTensor {
 public:
  DLTensor* get() { return &tensor_; }

  /*! \brief The elements where they are. */
  void Show(const DLTensor& whole, const Block& block, int operand) {
    Describe(block.shape, whole.dtype, block.data[operand]);
    for (int d = 0; d < tensor_.ndim; ++d) {
      strides_[d] = block.strides[operand][d] / ItemSize(whole.dtype);
    }
  }

  /*! \brief Row-major elements in memory; one for all along axes of which `like` repeats. */
  void Lay(const DLTensor& like, DLDataType dtype, char* memory) {
    Describe(TensorShape(like), dtype, memory);
    int64_t step = 1;
    for (int d = tensor_.ndim - 1; d >= 0; --d) {
      const bool repeats = like.strides[d] == 0;
      strides_[d] = repeats ? 0 : step;
      if (!repeats) step *= tensor_.shape[d];
    }
  }

 private:
  void Describe(ShapeView shape, DLDataType dtype, char* data) {
    tensor_ = DLTensor{
        data, Context{kDLCPU, 0}, shape.ndim(), dtype, const_cast<int64_t*>(shape.data()), strides_,
        0};
  }

  DLTensor tensor_;
  int64_t strides_[kMaxNdim];
};

/*! \brief Converts the elements of a tensor that differ into others, both with the same strides of
 * 0. */
void ConvertEach(const DLTensor& from, const DLTensor& to) {
  DLTensor each[2] = {from, to};
  DimBuffer shape(TensorShape(from));
  for (int d = 0; d < from.ndim; ++d) {
    if (to.strides[d] == 0) shape[d] = 1;
  }
  each[0].shape = each[1].shape = shape.data;
  CopyCast(each[0], each[1]);
}

/*! \brief Executes blocks of a call. */
class BlockRun {
 public:
  BlockRun(const BlockCall& call, const DLTensor& out)
      : call_(call), out_(out), writes_to_out_(WritesToOut(call, out)) {
    int64_t bytes = writes_to_out_ ? 0 : ItemSize(call.result);
    for (int i = 0; i < call.num_in; ++i) {
      if (Converts(call, i)) bytes += ItemSize(call.specs[i].dtype);
    }
    gains_ = bytes > 0;
    if (gains_) most_ = std::min(kMostOfBlock, kBytesOfBlock / bytes / 64 * 64);
  }

  /*! \brief Whether anything is converted. */
  bool gains() const { return gains_; }

  void Run() const {
    if (call_.op.check != nullptr) ForBlocks([&](const Block& block) { Execute(block, true); });
    ForBlocks([&](const Block& block) { Execute(block, false); });
  }

 private:
  /*! \brief Whether an input is walked along, and is not one element for all. */
  bool IsWalked(int i) const {
    return IsGiven(call_.inputs[i]) && TensorSize(call_.inputs[i]) != 1;
  }

  template <typename Body>
  void ForBlocks(const Body& body) const {
    Operands walk(TensorShape(out_));
    walk.Set(0, out_);
    for (int i = 0; i < kMostInputs; ++i) {
      if (i < call_.num_in && IsWalked(i)) {
        walk.Set(i + 1, call_.inputs[i]);
      } else {
        walk.SetScalar(i + 1, nullptr);
      }
    }
    FirstError error;
    walk.RunBlocks(most_, [&](const Block& block) { error.Catch([&] { body(block); }); });
    error.Throw();
  }

  void Execute(const Block& block, bool only_checks) const {
    alignas(64) char memory[kBytesOfBlock];
    char* next = memory;
    BlockTensor given[kMostInputs];
    BlockTensor converted[kMostInputs];
    DLTensor inputs[kMostInputs];
    for (int i = 0; i < call_.num_in; ++i) {
      inputs[i] = call_.inputs[i];
      if (!IsGiven(inputs[i])) continue;
      if (!IsWalked(i)) {
        // One element, of no more axes than the block has.
        inputs[i].ndim = 0;
        continue;
      }
      given[i].Show(call_.inputs[i], block, i + 1);
      inputs[i] = *given[i].get();
      if (!Converts(call_, i)) continue;
      converted[i].Lay(inputs[i], call_.specs[i].dtype, next);
      next += most_ * ItemSize(call_.specs[i].dtype);
      ConvertEach(inputs[i], *converted[i].get());
      inputs[i] = *converted[i].get();
    }
    if (only_checks) {
      return Check(call_.op.check(call_.op.self, inputs, call_.num_in, call_.attributes));
    }
    BlockTensor out;
    BlockTensor result;
    out.Show(out_, block, 0);
    if (!writes_to_out_) result.Lay(*out.get(), call_.result, next);
    DLTensor* const written = writes_to_out_ ? out.get() : result.get();
    Check(call_.op.run(call_.op.self, inputs, call_.num_in, call_.attributes, written, 1, nullptr));
    if (!writes_to_out_) CopyCast(*written, *out.get());
  }

  const BlockCall& call_;
  const DLTensor& out_;
  bool writes_to_out_;
  bool gains_;
  int64_t most_{0};
};

}  // namespace

bool IsForBlocks(const MXNetOperator& op, const MXNetTensorSpec& output) {
  constexpr uint64_t kPlaced = kMXNetOpZeroed | kMXNetOpDataDependent;
  const bool is_plain = (op.properties & (kMXNetOpElementwise | kPlaced)) == kMXNetOpElementwise &&
                        op.workspace == nullptr;
  if (!is_plain) return false;
  // Of more elements than 64 bits count there is no memory for the output, which is the error then.
  int64_t size = 1;
  for (int64_t extent : ShapeOf(output)) {
    size = std::min<int64_t>(size, kFewForBlocks) * std::min<int64_t>(extent, kFewForBlocks);
  }
  return size >= kFewForBlocks;
}

bool ConvertsInputs(const BlockCall& call) {
  bool any = false;
  for (int i = 0; i < call.num_in; ++i) any |= Converts(call, i);
  return any;
}

bool TryInBlocks(const BlockCall& call, const DLTensor& out) {
  if (call.num_in > kMostInputs || !IsHost(out.device) || Repeats(out)) return false;
  if (!ReadsOwnElements(call, out)) return false;
  const BlockRun run(call, out);
  if (!run.gains()) return false;
  run.Run();
  return true;
}

}  // namespace op
}  // namespace mxnet
