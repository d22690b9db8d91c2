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
  Executor(int32_t device_id, const MXAccOperator& asked)
      : dev_id(device_id), op(FindRuntime(), asked) {}
  const int32_t dev_id;
  const Operator op;
};

/*! \brief Tensors of a run. */
struct Tensors {
  const MXTensor* inputs;
  int32_t num_in;
  const MXTensor* outputs;
  int32_t num_out;
};

/*! \brief RunOnDevice with room for the addresses of all tensors. */
void RunAt(char** addresses, const Operator& op, Device* device, const Tensors& tensors,
           int64_t slow) {
  Memory& memory = device->memory;
  char** at = addresses;
  for (int32_t i = 0; i < tensors.num_in; ++i) {
    *at++ = memory.AddressFrom(tensors.inputs[i].tensor, op.input_spans()[i]);
  }
  for (int32_t i = 0; i < tensors.num_out; ++i) {
    *at++ = memory.AddressFrom(tensors.outputs[i].tensor, op.output_spans()[i]);
  }
  if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
  op.Run(tensors.outputs, addresses);
  for (int32_t i = 0; i < tensors.num_out; ++i) memory.CheckZones(tensors.outputs[i].tensor);
  device->runs.Add();
}

/*! \brief Runs an operator on memory of the device; what is wrong with that is a Failure. */
void RunOnDevice(const Operator& op, Device* device, const Tensors& tensors, int64_t slow) {
  constexpr int32_t kFew = 8;
  if (tensors.num_in + tensors.num_out <= kFew) {
    char* addresses[kFew];
    return RunAt(addresses, op, device, tensors, slow);
  }
  std::vector<char*> addresses(static_cast<size_t>(tensors.num_in) +
                               static_cast<size_t>(tensors.num_out));
  RunAt(addresses.data(), op, device, tensors, slow);
}

/*! \brief All that a run in a stream needs once the call has returned. */
struct Run {
  const Operator& op;
  Device* device;
  TensorCopies inputs;
  TensorCopies outputs;
  int64_t slow;

  void operator()() const {
    RunOnDevice(op, device, {inputs.data(), inputs.size(), outputs.data(), outputs.size()}, slow);
  }
};

MXAccStatus RunExecutor(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                        int32_t num_out, MXAccStream stream) {
  const auto* executor = static_cast<const Executor*>(state);
  const Operator& op = executor->op;
  const int32_t dev_id = executor->dev_id;
  return OnDevice("run", dev_id, [&](Device& device) {
    op.CheckGeometry(inputs, num_in, outputs, num_out);
    const int64_t slow = TheLibrary().settings().slow;
    if (stream == nullptr) {
      return RunOnDevice(op, &device, {inputs, num_in, outputs, num_out}, slow);
    }
    auto run = std::make_shared<Run>(
        Run{op, &device, TensorCopies(inputs, num_in), TensorCopies(outputs, num_out), slow});
    FromHandle(stream)->Add([run] { (*run)(); });
  });
}

void FreeExecutor(void* state) { delete static_cast<Executor*>(state); }

MXAccStatus SupportsImperative(int32_t* yes) {
  return StatusOf([&] {
    TheLibrary().settings().faults.Reach("supportsImperative");
    *yes = 1;
  });
}

MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) {
  return OnDevice("accGetExecutor", op->dev_id, [&](Device&) {
    const Settings& settings = TheLibrary().settings();
    if (!settings.HasOperator(op->name)) {
      throw Failure(kMXAccUnsupported, std::string(op->name) + " is left out by 'operators'");
    }
    const int32_t operator_set = TheLibrary().host().operator_set;
    if (op->operator_set != operator_set) {
      throw Failure(kMXAccUnsupported, std::string(op->name) + " of the operator set " +
                                           std::to_string(op->operator_set) + ", this is " +
                                           std::to_string(operator_set));
    }
    out->state = new Executor(op->dev_id, *op);
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
