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

/*! \brief Runs an operator on memory of the device; what is wrong with that is a Failure. */
void RunOnDevice(const Operator& op, Device* device, const MXTensor* inputs,
                 const MXTensor* outputs, int64_t slow) {
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
  if (slow != 0) std::this_thread::sleep_for(std::chrono::microseconds(slow));
  op.Run(outputs, addresses);
  for (size_t i = 0; i < op.num_out(); ++i) memory.CheckZones(outputs[i].tensor);
  device->runs.Add();
}

/*! \brief All that a run in a stream needs once the call has returned. */
struct Run {
  const Operator& op;
  Device* device;
  TensorCopies inputs;
  TensorCopies outputs;
  int64_t slow;

  void operator()() const {
    try {
      RunOnDevice(op, device, inputs.data(), outputs.data(), slow);
    } catch (const Rejection& rejection) {
      throw rejection.InStream();
    }
  }
};

MXAccStatus RunExecutor(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                        int32_t num_out, MXAccStream stream) {
  const auto* executor = static_cast<const Executor*>(state);
  const Operator& op = executor->op;
  const int32_t dev_id = executor->dev_id;
  return OnDevice("run", dev_id, [&](Device& device, const Settings& settings) {
    op.CheckCount(num_in, num_out);
    CheckLayouts(op, inputs, outputs);
    const int64_t slow = settings.slow;
    if (stream == nullptr) {
      return RunOnDevice(op, &device, inputs, outputs, slow);
    }
    auto run = std::make_shared<Run>(
        Run{op, &device, TensorCopies(inputs, num_in), TensorCopies(outputs, num_out), slow});
    GiveWork(stream, outputs[0].work, settings, [run] { (*run)(); });
  });
}

void FreeExecutor(void* state) { delete static_cast<Executor*>(state); }

MXAccStatus SupportsImperative(void*, int32_t* yes) {
  return StatusOf([&] {
    TheLibrary().settings().faults.Reach("supportsImperative");
    *yes = 1;
  });
}

MXAccStatus GetExecutor(void*, const MXAccOperator* op, MXAccExecutor* out) {
  return OnDevice("accGetExecutor", op->dev_id, [&](Device&, const Settings& settings) {
    if (!settings.HasOperator(op->name)) {
      throw Failure(kMXAccUnsupported, std::string(op->name) + " is left out by 'operators'");
    }
    const int32_t operator_set = TheLibrary().runtime().operator_set;
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
