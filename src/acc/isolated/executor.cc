/*!
 * \file executor.cc
 * \brief Executors in the process that has the library.
 */
#include <utility>

#include "acc/isolated/library.h"
#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {
namespace isolated {

/*! \brief State of an executor: how to ask for it again, and its number in a process. */
struct Library::Executor {
  Library* library;
  Writer request;
  uint64_t number;
  uint64_t generation;
  uint64_t workspace_bytes;
};

MXAccStatus Library::MakeExecutor(Executor* executor, MXAccExecutor* made) {
  Reader answer("");
  if (MXAccStatus status = Ask(executor->request, &answer)) return status;
  executor->number = answer.Number<uint64_t>();
  executor->generation = generation_;
  // Calls of several threads wait for their turn here, where Ctrl-C ends the waiting.
  made->flags = answer.Number<uint32_t>() | kMXAccConcurrent;
  made->workspace_bytes = answer.Number<uint64_t>();
  return nullptr;
}

MXAccStatus Library::GetExecutor(const MXAccOperator* op, MXAccExecutor* out) {
  auto executor = std::make_unique<Executor>();
  executor->library = this;
  executor->request = Writer(Request::kGetExecutor);
  Writer& request = executor->request;
  request.Text(op->name);
  request.Number(op->operator_set);
  request.Number(op->dev_id);
  request.Number(op->num_in);
  request.Number(op->num_out);
  request.Number(op->num_attrs);
  for (int32_t i = 0; i < op->num_in; ++i) request.Tensor(op->inputs[i], 0);
  for (int32_t i = 0; i < op->num_out; ++i) request.Tensor(op->outputs[i], 0);
  for (int32_t i = 0; i < op->num_attrs; ++i) request.Attribute(op->attrs[i]);
  const Turn turn(this);
  if (MXAccStatus status = MakeExecutor(executor.get(), out)) return status;
  executor->workspace_bytes = out->workspace_bytes;
  out->run = &Run;
  out->free = [](void* state) {
    const std::unique_ptr<Executor> freed(static_cast<Executor*>(state));
    Library* library = freed->library;
    std::lock_guard<std::recursive_timed_mutex> hold(library->calls_);
    if (freed->generation != library->generation_) return;
    Writer request(Request::kFreeExecutor);
    request.Number(freed->number);
    library->Tell(request);
  };
  out->state = executor.release();
  return nullptr;
}

MXAccStatus Library::Run(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                         int32_t num_out, const MXTensor* workspace, MXAccStream) {
  auto* executor = static_cast<Executor*>(state);
  Library* library = executor->library;
  const Turn turn(library);
  if (executor->generation != library->generation_) {
    MXAccExecutor made{};
    if (MXAccStatus status = library->MakeExecutor(executor, &made)) return status;
    if (made.workspace_bytes != executor->workspace_bytes) {
      return Failure(kMXAccFailed, "its new process asks for a workspace of another size");
    }
  }
  Writer request(Request::kRun);
  request.Number(executor->number);
  const auto add = [&](const MXTensor& tensor) {
    uint64_t handle;
    MXAccStatus status = library->HandleOf(tensor, &handle);
    request.Number(handle);
    request.Number(tensor.tensor.byte_offset);
    return status;
  };
  for (int32_t i = 0; i < num_in; ++i) {
    if (MXAccStatus status = add(inputs[i])) return status;
  }
  for (int32_t i = 0; i < num_out; ++i) {
    if (MXAccStatus status = add(outputs[i])) return status;
  }
  if (workspace != nullptr) {
    if (MXAccStatus status = add(*workspace)) return status;
  }
  return library->AskOnce(request);
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
