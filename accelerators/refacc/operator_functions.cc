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

/*! \brief Runs an operator on memory of the device; what is wrong with that is a Failure. */
void RunOnDevice(const Operator& op, Device* device, const MXTensor* inputs, int32_t num_in,
                 const MXTensor* outputs, int32_t num_out, int64_t slow) {
  constexpr size_t kFew = 8;
  const size_t count = static_cast<size_t>(num_in) + static_cast<size_t>(num_out);
  char* few[kFew];
  std::vector<char*> many;
  if (count > kFew) many.resize(count);
  char** addresses = count > kFew ? many.data() : few;
  Memory& memory = device->memory;
  for (int32_t i = 0; i < num_in; ++i) {
    addresses[i] = memory.AddressFrom(inputs[i].tensor, op.input_spans()[i]);
  }
  for (int32_t i = 0; i < num_out; ++i) {
    addresses[num_in + i] = memory.AddressFrom(outputs[i].tensor, op.output_spans()[i]);
  }
  if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
  op.Run(outputs, addresses);
  for (int32_t i = 0; i < num_out; ++i) memory.CheckZones(outputs[i].tensor);
  device->runs.fetch_add(1, std::memory_order_relaxed);
}

/*! \brief All that a run in a stream needs once the call has returned. */
struct Run {
  const Operator& op;
  Device* device;
  TensorCopies inputs;
  TensorCopies outputs;
  int64_t slow;

  void operator()() const {
    RunOnDevice(op, device, inputs.data(), inputs.size(), outputs.data(), outputs.size(), slow);
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
      return RunOnDevice(op, &device, inputs, num_in, outputs, num_out, slow);
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
