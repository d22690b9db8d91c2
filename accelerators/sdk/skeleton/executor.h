/*!
 * \file executor.h
 * \brief Operators prepared for tensors of one spec and layout, and the members of the table for
 * them.
 *
 * For OperatorMembers a backend has
 *
 *   Executor(&device, op)     with Run, flags() and workspace_bytes(); Failure where the operator
 * is not done
 *
 * which may be ExecutorOf<Backend>: then it has what copies need, see memory.h, and
 *
 *   MakeWork(&device, op)     the Work of an operator; Failure where there is none
 */
#ifndef MXACC_SDK_SKELETON_EXECUTOR_H_
#define MXACC_SDK_SKELETON_EXECUTOR_H_

#include <initializer_list>
#include <memory>
#include <vector>

#include "../operators/movement.h"
#include "../tensor.h"
#include "devices.h"

namespace mxacc {

/*! \brief Gives an executor with Run, flags and workspace_bytes to MXNet, which frees it. */
template <typename Executor>
void GiveExecutor(Executor* executor, MXAccExecutor* out) {
  out->state = executor;
  out->run = [](void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                int32_t num_out, const MXTensor* workspace, MXAccStream stream) {
    return StatusOf([&] {
      auto* run = static_cast<Executor*>(state);
      CheckWorkspace(workspace, run->workspace_bytes());
      run->Run(inputs, num_in, outputs, num_out, workspace, stream);
    });
  };
  out->free = [](void* state) { delete static_cast<Executor*>(state); };
  out->flags = executor->flags();
  out->workspace_bytes = executor->workspace_bytes();
}

/*! \brief What an operator does to the memory that it is given. Any thread may call. */
template <typename Commands, typename Location>
class WorkOn {
 public:
  virtual ~WorkOn() = default;
  /*! \brief locations are of the inputs, the output and, where it has bytes, the workspace, which
   * counts by bytes. Memory is NULL where there are no elements. */
  virtual void Run(Commands* commands, const Location* locations) = 0;
  /*! \brief Memory that each run needs for itself. */
  virtual uint64_t workspace_bytes() const { return 0; }
  /*! \brief Whether the output may be the memory of an input. */
  virtual bool in_place() const { return false; }
};

/*! \brief Leaves the output as it is, whose elements may be anything. */
template <typename Commands, typename Location>
class NoWork : public WorkOn<Commands, Location> {
 public:
  void Run(Commands*, const Location*) override {}
};

/*! \brief Copies each input to its part of the output. */
template <typename Commands, typename Location>
class CopyWork : public WorkOn<Commands, Location> {
 public:
  CopyWork(int64_t item, std::vector<Movement> parts) : item_(item), parts_(std::move(parts)) {}

  void Run(Commands* commands, const Location* locations) override {
    Location out = locations[parts_.size()];
    const int64_t first = out.first;
    for (size_t i = 0; i < parts_.size(); ++i) {
      out.first = first + parts_[i].first;
      CopyOnDevice(commands, item_, parts_[i].axes, out, locations[i]);
    }
  }

 private:
  const int64_t item_;
  const std::vector<Movement> parts_;
};

/*! \brief The work of an operator by the first maker that has one, the others giving NULL; Failure
 * where none has. */
template <typename Work, typename Request>
std::unique_ptr<Work> FirstWork(
    const Request& request,
    std::initializer_list<std::unique_ptr<Work> (*)(const Request& request)> makers) {
  for (const auto make : makers) {
    if (std::unique_ptr<Work> work = make(request)) return work;
  }
  Unsupported("there is no kernel for " + request.name());
}

/*! \brief What accGetExecutor gives, of an operator with one output. */
template <typename Backend>
class ExecutorOf {
 public:
  using Device = typename Backend::Device;
  using Commands = typename Backend::Commands;
  using Location = typename Backend::Location;

  ExecutorOf(Device* device, const MXAccOperator& op) : device_(device) {
    for (int32_t i = 0; i < op.num_in; ++i) spans_.push_back(SpanOf(op.inputs[i].tensor));
    work_ = Backend::MakeWork(device, op);
    spans_.push_back(SpanOf(op.outputs[0].tensor));
  }

  void Run(const MXTensor* inputs, int32_t num_in, const MXTensor* outputs, int32_t num_out,
           const MXTensor* workspace, MXAccStream stream) const {
    if (num_out != 1 || static_cast<size_t>(num_in) + 1 != spans_.size()) {
      throw Failure(kMXAccBadArgument, "run: other tensors than the executor was asked for");
    }
    std::vector<Location> locations;
    locations.reserve(spans_.size() + 1);
    for (size_t i = 0; i < spans_.size(); ++i) {
      locations.push_back(
          LocationOf((i + 1 == spans_.size() ? outputs[0] : inputs[i]).tensor, spans_[i]));
    }
    if (workspace_bytes() != 0) {
      const Span all{0, static_cast<int64_t>(workspace_bytes())};
      locations.push_back(LocationOf(workspace->tensor, all));
    }
    [[maybe_unused]] const auto entered = device_->Enter();
    Commands commands(device_, reinterpret_cast<typename Backend::Stream*>(stream),
                      outputs[0].work);
    work_->Run(&commands, locations.data());
    commands.Finish();
  }
  uint64_t workspace_bytes() const { return work_->workspace_bytes(); }
  /*! \brief Runs may overlap. */
  uint32_t flags() const {
    return kMXAccConcurrent | (work_->in_place() ? static_cast<uint32_t>(kMXAccInPlace) : 0);
  }

 private:
  Location LocationOf(const MXAccDLTensor& tensor, const Span& span) const {
    return {device_->memory.Find(tensor, span),
            static_cast<int64_t>(tensor.byte_offset) / ItemSize(tensor.dtype)};
  }

  Device* device_;
  std::vector<Span> spans_; /*!< of the inputs and the output */
  std::unique_ptr<WorkOn<Commands, Location>> work_;
};

template <typename Backend>
struct OperatorMembers {
  using Device = typename Backend::Device;

  static MXAccStatus GetExecutor(void* self, const MXAccOperator* op, MXAccExecutor* out) {
    return OnDevice<Backend>(self, op->dev_id, [&](Device& device) {
      GiveExecutor(new typename Backend::Executor(&device, *op), out);
    });
  }

  static void Set(MXAccApi* api) {
    api->supportsImperative = SupportsImperative;
    api->accGetExecutor = GetExecutor;
  }
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_EXECUTOR_H_
