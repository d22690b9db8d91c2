/*!
 * \file operators.cc
 * \brief The members of the table for operators.
 */
#include <algorithm>

#include "accelerators/sdk/library.h"
#include "device.h"
#include "executor.h"
#include "fault.h"
#include "stream.h"

namespace planted {
namespace {

using mxacc::TensorCopies;

/*! \brief Allocates, in a way that no compiler leaves out. */
void Lose(size_t size) { asm volatile("" : : "r"(new char[size]) : "memory"); }

/*! \brief A tensor with its byte_offset as the fault has it. */
uint64_t OffsetOf(const Executor& executor, const MXAccDLTensor& tensor, bool is_output,
                  int32_t number) {
  const uint64_t offset = tensor.byte_offset;
  if (is_output && Has("byte_offset of outputs")) return 0;
  if (!is_output && number == 1 && Has("byte_offset of x2")) return 0;
  if (Has("unaligned offsets")) return offset / 64 * 64;
  if (executor.is_product() && offset > 4096 && Has("views of products")) return 0;
  return offset;
}

Slot SlotOf(const Executor& executor, const MXAccDLTensor& tensor, bool is_output, int32_t number) {
  const DType dtype = mxacc::DTypeOf(tensor.dtype);
  char* begin = MemoryOf(executor.dev_id).Begin(tensor);
  if (begin == nullptr) return {nullptr, 0, dtype};
  return {begin + OffsetOf(executor, tensor, is_output, number), 0, dtype};
}

/*! \brief Where the workspace is, with what is wrong with it. */
char* WorkspaceOf(Executor* executor, const TensorCopies& workspace) {
  if (workspace.size() == 0) return nullptr;
  const MXAccDLTensor& tensor = workspace.data()[0].tensor;
  char* data = MemoryOf(executor->dev_id).Begin(tensor) + tensor.byte_offset;
  if (Has("before the workspace")) data[-1] ^= 1;
  if (Has("behind the workspace")) data[executor->workspace_bytes()] ^= 1;
  if (!Has("the first workspace")) return data;
  if (executor->first_workspace == nullptr) executor->first_workspace = data;
  return executor->first_workspace;
}

void RunNow(Executor* executor, const TensorCopies& inputs, const TensorCopies& outputs,
            const TensorCopies& workspace, bool in_stream) {
  Slots slots{{}, in_stream, WorkspaceOf(executor, workspace)};
  for (int32_t i = 0; i < inputs.size(); ++i) {
    slots.all.push_back(SlotOf(*executor, inputs.data()[i].tensor, false, i));
  }
  slots.all.push_back(SlotOf(*executor, outputs.data()[0].tensor, true, 0));
  Slot& output = slots.all.back();
  if (Has("cached pointers")) {
    char*& first = executor->first_output;
    if (first == nullptr) first = static_cast<char*>(output.data);
    output.data = first;
  }
  executor->Compute(slots);
  if (executor->dev_id == 1 && Has("device 1") && output.data != nullptr) {
    static_cast<char*>(output.data)[0] ^= 1;
  }
  if (Has("256 bytes lost by each run")) Lose(256);
  if (Has("memory of the device lost")) MemoryOf(executor->dev_id).Alloc(64, 64);
}

MXAccStatus Run(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                int32_t num_out, const MXTensor* workspace, MXAccStream stream) {
  return StatusOf([&] {
    auto* executor = static_cast<Executor*>(state);
    auto in = std::make_shared<TensorCopies>(inputs, num_in);
    auto out = std::make_shared<TensorCopies>(outputs, num_out);
    mxacc::CheckWorkspace(workspace, executor->workspace_bytes());
    auto room = std::make_shared<TensorCopies>(workspace, workspace == nullptr ? 0 : 1);
    const bool in_stream = stream != nullptr;
    const bool now = executor->is_product() && Has("products before their turn");
    Give(now ? nullptr : stream, outputs->work,
         [=] { RunNow(executor, *in, *out, *room, in_stream); });
  });
}

void FreeExecutor(void* state) { delete static_cast<Executor*>(state); }

MXAccStatus GetExecutor(void*, const MXAccOperator* op, MXAccExecutor* out) {
  return StatusOf([&] {
    MemoryOf(op->dev_id);
    const Request request(*op);
    std::unique_ptr<Executor> made = MakeElementwise(request);
    if (made == nullptr) made = MakeReduction(request);
    if (made == nullptr) made = MakeTake(request);
    if (made == nullptr) mxacc::Unsupported(request.name() + " is not done here");
    if (Has("10 KB lost by each executor")) Lose(10 << 10);
    made->dev_id = op->dev_id;
    out->flags = kMXAccConcurrent;
    if (made->in_place()) out->flags |= kMXAccInPlace;
    out->run = Run;
    out->free = FreeExecutor;
    out->workspace_bytes = made->workspace_bytes();
    out->state = made.release();
  });
}

}  // namespace

void SetOperatorFunctions(MXAccApi* api) {
  api->supportsImperative = mxacc::SupportsImperative;
  api->accGetExecutor = GetExecutor;
}

}  // namespace planted
