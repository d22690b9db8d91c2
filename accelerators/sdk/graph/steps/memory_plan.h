/*!
 * \file memory_plan.h
 * \brief Where in a model's workspace its buffers are.
 */
#ifndef MXACC_SDK_GRAPH_STEPS_MEMORY_PLAN_H_
#define MXACC_SDK_GRAPH_STEPS_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "steps.h"

namespace mxacc {

/*! \brief What the executor of a step says of its memory. */
struct StepMemory {
  uint64_t workspace_bytes = 0;
  bool in_place = false; /*!< the output may be the memory of an input of its spec and layout */
};

/*! \brief Offsets in bytes, which are multiples of 64. */
struct MemoryPlan {
  uint64_t bytes = 0;
  std::vector<uint64_t> buffers;    /*!< of the steps' buffers; 0 for those that are not inner */
  std::vector<uint64_t> workspaces; /*!< of the steps */
};

/*! \brief Memory is used again by what is needed later; memories has an item for each step. */
MemoryPlan PlanMemory(const Steps& steps, const std::vector<StepMemory>& memories);

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_STEPS_MEMORY_PLAN_H_
