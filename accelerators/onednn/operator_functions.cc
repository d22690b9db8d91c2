/*!
 * \file operator_functions.cc
 * \brief The members of the table for operators.
 */
#include "library.h"
#include "operators.h"

namespace onednn {
namespace {

/*! \brief What oneDNN throws, as what this library does. */
template <typename Body>
MXAccStatus StatusOfOneDnn(Body&& body) {
  return StatusOf([&] {
    try {
      body();
    } catch (const dnnl::error& error) {
      const bool unsupported =
          error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments;
      const bool memory = error.status == dnnl_out_of_memory;
      throw Failure(unsupported ? kMXAccUnsupported
                    : memory    ? kMXAccOutOfMemory
                                : kMXAccFailed,
                    std::string("oneDNN: ") + error.what());
    }
  });
}

struct Executor {
  std::unique_ptr<Plan> plan;
  int32_t num_in;
  int32_t num_out;
};

MXAccStatus RunExecutor(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                        int32_t num_out, MXAccStream) {
  return StatusOfOneDnn([&] {
    const auto* executor = static_cast<const Executor*>(state);
    if (num_in != executor->num_in || num_out != executor->num_out) {
      throw Failure(kMXAccBadArgument, "run: another number of tensors than was asked for");
    }
    executor->plan->Run(inputs, outputs);
    TheLibrary().runs.fetch_add(1, std::memory_order_relaxed);
  });
}

void FreeExecutor(void* state) { delete static_cast<Executor*>(state); }

MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) {
  return StatusOfOneDnn([&] {
    CheckDevice(op->dev_id);
    TheLibrary();
    try {
      uint32_t flags = 0;
      std::unique_ptr<Plan> plan = MakePlan(*op, &flags);
      out->state = new Executor{std::move(plan), op->num_in, op->num_out};
      out->flags = flags;
    } catch (const Failure& failure) {
      throw Failure(failure.code(), std::string(op->name) + ": " + failure.what());
    }
    out->run = RunExecutor;
    out->free = FreeExecutor;
  });
}

}  // namespace

void SetOperatorFunctions(MXAccApi* api) {
  api->supportsImperative = SupportsImperative;
  api->accGetExecutor = GetExecutor;
}

}  // namespace onednn
