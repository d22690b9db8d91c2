/*!
 * \file plan.h
 * \brief A plan: kernels in order, and where in memory each reads and writes. Runs without Python.
 */
#ifndef MXNET_SRC_GRAPH_PLAN_H_
#define MXNET_SRC_GRAPH_PLAN_H_

#include <mxnet/op/kernel.h>
#include <mxnet/runtime/ndarray.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace mxnet {
namespace graph {

using op::Kernel;
using runtime::DataTypeName;
using runtime::IsContiguous;
using runtime::NDArray;
using runtime::Ref;
using runtime::ShapeView;
using runtime::operator==;
using runtime::operator!=;

/*! \brief Where the memory of a tensor comes from. */
enum class Source {
  kInput,    /*!< an array that run is given */
  kConstant, /*!< an array that the plan holds */
  kArena,    /*!< the plan's own memory */
  kOutput    /*!< an array that run makes */
};

/*! \brief A tensor of a plan. */
struct PlanTensor {
  DLDataType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  Source source;
  int index;     /*!< among the inputs, constants or outputs */
  size_t offset; /*!< in bytes from the beginning of that memory */
};

/*! \brief A kernel with the tensors that it reads and writes; -1 for one that is not given. */
struct PlanStep {
  Ref<Kernel> kernel;
  std::string name; /*!< of the node that it is of */
  std::vector<int> inputs;
  std::vector<int> outputs;
  size_t workspace_offset; /*!< in the arena */
};

/*! \brief An array that run is given or makes. */
struct PlanArray {
  DLDataType dtype;
  std::vector<int64_t> shape;
};

/*! \brief Memory of the arena that is needed from one step to another, both included. */
struct PlanBlock {
  size_t bytes;
  int first;
  int last;
  size_t offset;
  bool is_workspace; /*!< of a kernel, and of nothing else */
};

/*! \brief What a plan is made of; PlanBuilder gives it. */
struct PlanParts {
  std::vector<PlanTensor> tensors;
  std::vector<PlanStep> steps;
  std::vector<PlanArray> inputs;
  std::vector<PlanArray> outputs;
  std::vector<NDArray> constants;
  std::vector<int> stored; /*!< numbers of the inputs that a run writes */
  std::vector<PlanBlock> blocks;
  size_t arena_bytes{0};
  /*!
   * \brief How often the steps are run, each time for the next part of the first axis of all inputs
   * and outputs, several at once. What has a shape of its own above has that of one slice, but for
   * the inputs and outputs.
   */
  int64_t slices{1};
};

class GradientMemory;
class SharedArenas;

/*!
 * \brief Several threads may run it at once, each with memory of its own.
 *
 * The slices of one that has several are shared among the threads of the pool, and the kernels of a
 * slice stay on its thread. So no thread waits for others after each step of a batch, and what a
 * step has written is read from a cache by the next.
 */
class Plan {
 public:
  explicit Plan(PlanParts parts);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /*!
   * \brief The outputs for these inputs, as arrays that nobody else has. Inputs that the plan
   * stores to are written.
   *
   * TypeError or ValueError where inputs are not those that the plan was made for. What a kernel
   * throws names its step.
   */
  std::vector<NDArray> Run(const std::vector<NDArray>& inputs) const;
  /*! \brief Whether these are inputs that the plan was made for. */
  bool Takes(const std::vector<NDArray>& inputs) const;
  /*! \brief As Run; sets *times to the nanoseconds that each step took, as a share of the run where
   * several threads were at it. */
  std::vector<NDArray> Profile(const std::vector<NDArray>& inputs,
                               std::vector<int64_t>* times) const;

  const PlanParts& parts() const { return parts_; }

  /*!
   * \brief Has runs write all outputs, and not large ones alone, to the arrays of an earlier run
   * that nobody has any more, so that memory is not given back and asked for again. They are kept
   * until the plan goes.
   */
  void KeepOutputs() { keeps_outputs_ = true; }

  /*! \brief Has long runs take the threads of the OpenMP of the library that calls it, where these
   * are awake, see op::OpenMPTeam. */
  void RunBesideOpenMP() { is_beside_openmp_ = true; }

  /*!
   * \brief Has this backward plan write gradients where the values lie that a forward plan has
   * saved for it, see GradientMemory, and work where that works; once, before it runs. Both keep
   * their outputs.
   *
   * `saved` are pairs of an output of the forward plan and an input of this one. ValueError for
   * others, and where one of the plans has such memory already.
   */
  void ShareMemory(Plan* forward, const std::vector<std::pair<int64_t, int64_t>>& saved);
  /*! \brief As Run for inputs of which those that are saved values may be written to: nobody reads
   * them any more. */
  std::vector<NDArray> RunLast(const std::vector<NDArray>& inputs) const;
  /*! \brief Of intermediate results, that a run takes on all its threads. */
  int64_t MostBytes() const;

 private:
  struct Frame;
  struct Arrays;
  /*! \brief Which of the two plans with one memory of gradients it is. */
  enum class Pass { kNone, kForward, kBackward };

  std::unique_ptr<Frame> TakeFrame() const;
  std::unique_ptr<Frame> MakeFrame(NDArray arena) const;
  /*! \brief Has both take memory of intermediate results from what they share. */
  void ShareArenas(Plan* other);
  void ReturnFrame(std::unique_ptr<Frame> frame) const;
  /*! \brief An array for an output: a part of a span of memory that is given, else another. */
  NDArray OutputOf(size_t index, const NDArray& span, Frame* frame) const;
  /*! \brief The memory of gradients for a run, if it is free. */
  NDArray SpanFor(const std::vector<NDArray>& inputs, bool gives_up) const;
  std::vector<NDArray> Execute(const std::vector<NDArray>& inputs, std::vector<int64_t>* times,
                               bool gives_up = false) const;
  void RunSlice(int64_t slice, const Arrays& arrays, Frame* frame,
                std::vector<int64_t>* times) const;
  void RunSlices(const Arrays& arrays, Frame* frame, std::vector<int64_t>* times) const;
  void RunSteps(const Arrays& arrays, Frame* frame, std::vector<int64_t>* times) const;
  void RunStep(size_t index, Frame* frame) const;

  PlanParts parts_;
  std::atomic<bool> keeps_outputs_{false};
  std::atomic<bool> is_beside_openmp_{false};
  mutable std::atomic<bool> is_long_{false}; /*!< the last run beside OpenMP */
  std::shared_ptr<GradientMemory> memory_;   /*!< what is written before pass_ is */
  std::atomic<Pass> pass_{Pass::kNone};
  std::vector<bool> is_large_;          /*!< of each output */
  std::vector<size_t> first_arguments_; /*!< of each step, in Frame::arguments */

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> frames_;
  std::shared_ptr<SharedArenas> arenas_; /*!< where these have none of their own */
};

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_PLAN_H_
