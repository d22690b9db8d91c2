/*!
 * \file plan_builder.h
 * \brief Makes a plan of inputs, constants, steps and views, which are added in order.
 */
#ifndef MXNET_SRC_GRAPH_PLAN_BUILDER_H_
#define MXNET_SRC_GRAPH_PLAN_BUILDER_H_

#include <mxnet/op/kernel.h>
#include <mxnet/runtime/ndarray.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/memory_plan.h"
#include "graph/plan.h"

namespace mxnet {
namespace graph {

/*! \brief Values are known by their numbers, from 0 on, in the order in which they are added. */
class PlanBuilder {
 public:
  int64_t AddInput(const std::vector<int64_t>& shape, DLDataType dtype);
  /*! \brief An array whose elements do not change any more. */
  int64_t AddConstant(const NDArray& array);
  /*!
   * \brief A kernel with the values that it reads, -1 for those that are not given. Returns the
   * number of its first output; the others follow.
   */
  int64_t AddStep(const Ref<Kernel>& kernel, const std::vector<int64_t>& inputs, std::string name);
  /*!
   * \brief The elements of another value in another layout; byte_offset is from the first one of
   * that value.
   */
  int64_t AddView(int64_t of, const std::vector<int64_t>& shape,
                  const std::vector<int64_t>& strides, int64_t byte_offset);
  /*! \brief Strides of a value, in elements. */
  std::vector<int64_t> Strides(int64_t value) const;
  /*! \brief Plans the memory; the builder is used up. */
  Ref<Plan> Build(const std::vector<int64_t>& outputs) { return BuildStoring(outputs, {}); }
  /*!
   * \brief The same; a run also writes values to the memory of inputs.
   *
   * `stores` has pairs of a value and the number of an input of its shape and type. What reads the
   * input reads its elements from before the run.
   */
  Ref<Plan> BuildStoring(const std::vector<int64_t>& outputs,
                         const std::vector<std::pair<int64_t, int64_t>>& stores);

  /*!
   * \brief A plan that is run for so many slices: of the steps that were added, its inputs and
   * outputs have only the shapes of one slice, and each slice of the outputs is what they give for
   * that of the inputs.
   */
  Ref<Plan> BuildSliced(const std::vector<int64_t>& outputs, int64_t slices);

 private:
  static constexpr int kNever = -1;

  /*! \brief Memory that one value has made, and others may be views of. */
  struct Root {
    Source source;
    int index;         /*!< among the inputs, constants or outputs */
    size_t bytes;      /*!< of which views must stay within */
    int first{kNever}; /*!< the step that writes it */
    int last{kNever};  /*!< the last step that reads it, or any of its views */
    int merged{-1};    /*!< the root whose memory it takes over */
    size_t offset{0};
  };
  struct Value {
    PlanTensor tensor;
    int root;
    bool is_blocked; /*!< its memory is no row-major tensor: only kernels know what it is */
  };

  int64_t Add(std::vector<int64_t> shape, DLDataType dtype, Root root);
  /*! \brief Throws where values are not what the kernel takes. */
  void CheckInputs(const Kernel& kernel, const std::vector<int64_t>& inputs,
                   const std::string& name) const;
  const Value& At(int64_t value, const char* what) const;
  /*! \brief Whether a value is all of its root's memory, row by row. */
  bool IsWhole(const Value& value) const;
  /*! \brief The value that output `index` is written to, for which a step that copies may be added.
   */
  void BindOutput(int64_t value, int index);
  /*! \brief A value that is all of its own memory in the arena, or a copy of it that is. */
  int64_t InArena(int64_t value, const std::string& name);
  int RootOf(int64_t value) const { return values_[static_cast<size_t>(value)].root; }
  /*! \brief Throws where a value cannot be written to an input. */
  void CheckStore(int64_t value, int64_t input) const;
  void BindStore(int64_t value, int64_t input);
  void MergeInPlace();
  void PackArena();

  std::vector<Root> roots_;
  std::vector<Value> values_;
  PlanParts parts_;
  bool built_{false};
};

}  // namespace graph
}  // namespace mxnet

#endif  // MXNET_SRC_GRAPH_PLAN_BUILDER_H_
