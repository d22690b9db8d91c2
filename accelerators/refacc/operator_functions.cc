/*!
 * \file operator_functions.cc
 * \brief The members of the table for operators.
 */
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "library.h"
#include "operator.h"
#include "stream.h"

namespace refacc {
namespace {

/*! \brief What accGetExecutor gives. */
struct Executor {
  Executor(void* asked_self, const MXAccOperator& asked)
      : self(asked_self), dev_id(asked.dev_id), op(FindRuntime(), asked) {}
  void* const self;
  const int32_t dev_id;
  const Operator op;
};

/*! \brief Failure where tensors are not of the layout that was asked for. */
void CheckLayouts(const Layout* layouts, const MXTensor* tensors, size_t count, const char* what) {
  for (size_t i = 0; i < count; ++i) {
    if (layouts[i].IsThatOf(tensors[i].tensor)) continue;
    throw Failure(kMXAccBadArgument,
                  std::string("run: the ") + what + " are not of the layout that was asked for");
  }
}

void CheckLayouts(const Operator& op, const MXTensor* inputs, const MXTensor* outputs) {
  CheckLayouts(op.layouts(), inputs, op.num_in(), "inputs");
  CheckLayouts(op.layouts() + op.num_in(), outputs, op.num_out(), "outputs");
}

/*! \brief The workspace of a run, which no other may have meanwhile; or none. */
class Workspace {
 public:
  Workspace(Device* device, const MXTensor* tensor) : device_(device), tensor_(tensor) {
    if (tensor == nullptr) return;
    address_ = device->memory.AddressOf(tensor->tensor);
    if (!device->workspaces.Enter(tensor->tensor.data)) {
      device->memory.Violate("run: another run has the same workspace");
    }
  }
  ~Workspace() {
    if (tensor_ != nullptr) device_->workspaces.Leave(tensor_->tensor.data);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  char* address() const { return address_; }
  void CheckZones() const {
    if (tensor_ != nullptr) device_->memory.CheckZones(tensor_->tensor);
  }

 private:
  Device* device_;
  const MXTensor* tensor_;
  char* address_{nullptr};
};

/*! \brief Runs an operator on memory of the device; what is wrong with that is a Failure. */
void RunOnDevice(const Operator& op, Device* device, const MXTensor* inputs,
                 const MXTensor* outputs, const MXTensor* workspace_tensor, int64_t slow) {
  constexpr size_t kFew = 8;
  const size_t count = op.num_in() + op.num_out();
  char* few[kFew];
  std::vector<char*> many(count > kFew ? count : 0);
  char** addresses = count > kFew ? many.data() : few;
  Memory& memory = device->memory;
  const Layout* layout = op.layouts();
  char** at = addresses;
  for (size_t i = 0; i < op.num_in(); ++i) {
    *at++ = memory.AddressFrom(inputs[i].tensor, (layout++)->span());
  }
  for (size_t i = 0; i < op.num_out(); ++i) {
    *at++ = memory.AddressFrom(outputs[i].tensor, (layout++)->span());
  }
  const Workspace workspace(device, workspace_tensor);
  if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
  op.Run(outputs, addresses, workspace.address());
  workspace.CheckZones();
  for (size_t i = 0; i < op.num_out(); ++i) memory.CheckZones(outputs[i].tensor);
  device->runs.Add();
}

/*! \brief All that a run in a stream needs once the call has returned. */
struct Run {
  const Operator& op;
  Device* device;
  TensorCopies inputs;
  TensorCopies outputs;
  TensorCopies workspace;
  int64_t slow;

  void operator()() const {
    try {
      RunOnDevice(op, device, inputs.data(), outputs.data(),
                  workspace.size() == 0 ? nullptr : workspace.data(), slow);
    } catch (const Rejection& rejection) {
      throw rejection.InStream();
    }
  }
};

MXAccStatus RunExecutor(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                        int32_t num_out, const MXTensor* workspace, MXAccStream stream) {
  const auto* executor = static_cast<const Executor*>(state);
  const Operator& op = executor->op;
  const int32_t dev_id = executor->dev_id;
  return OnDevice("run", executor->self, dev_id, [&](Device& device, const Settings& settings) {
    op.CheckCount(num_in, num_out);
    CheckLayouts(op, inputs, outputs);
    CheckWorkspace(workspace, op.workspace_bytes());
    const int64_t slow = settings.slow;
    if (stream == nullptr) {
      return RunOnDevice(op, &device, inputs, outputs, workspace, slow);
    }
    auto run = std::make_shared<Run>(
        Run{op, &device, TensorCopies(inputs, num_in), TensorCopies(outputs, num_out),
            TensorCopies(workspace, workspace == nullptr ? 0 : 1), slow});
    GiveWork(stream, outputs[0].work, settings, [run] { (*run)(); });
  });
}

void FreeExecutor(void* state) { delete static_cast<Executor*>(state); }

MXAccStatus SupportsImperative(void* self, int32_t* yes) {
  return StatusOf([&] {
    LibraryOf(self).settings().faults.Reach("supportsImperative");
    *yes = 1;
  });
}

MXAccStatus GetExecutor(void* self, const MXAccOperator* op, MXAccExecutor* out) {
  return OnDevice("accGetExecutor", self, op->dev_id, [&](Device&, const Settings& settings) {
    if (!settings.HasOperator(op->name)) {
      throw Failure(kMXAccUnsupported, std::string(op->name) + " is left out by 'operators'");
    }
    const int32_t operator_set = LibraryOf(self).runtime().operator_set;
    if (op->operator_set != operator_set) {
      throw Failure(kMXAccUnsupported, std::string(op->name) + " of the operator set " +
                                           std::to_string(op->operator_set) + ", this is " +
                                           std::to_string(operator_set));
    }
    auto* executor = new Executor(self, *op);
    out->state = executor;
    out->workspace_bytes = executor->op.workspace_bytes();
    out->run = RunExecutor;
    out->free = FreeExecutor;
    out->flags = kMXAccInPlace;
    if (!settings.one_thread) out->flags |= kMXAccConcurrent;
  });
}

}  // namespace

void SetOperatorFunctions(MXAccApi* api) {
  api->supportsImperative = SupportsImperative;
  api->accGetExecutor = GetExecutor;
}

}  // namespace refacc
