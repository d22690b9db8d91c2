/*!
 * \file executor.h
 * \brief What accGetExecutor gives.
 */
#ifndef PLANTED_EXECUTOR_H_
#define PLANTED_EXECUTOR_H_

#include <memory>
#include <vector>

#include "accelerators/cuda/kernels/element.h"
#include "accelerators/sdk/operators/axes.h"
#include "accelerators/sdk/operators/request.h"

namespace planted {

using cudaacc::Slot;
using mxacc::Axes;
using mxacc::DType;
using mxacc::Request;

/*! \brief Where the tensors of a run are; the output is the last. */
struct Slots {
  std::vector<Slot> all;
  bool in_stream;
  char* workspace; /*!< NULL where the executor asks for none */

  const Slot& output() const { return all.back(); }
};

/*! \brief An operator for tensors of one spec and layout. Runs may overlap. */
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Compute(const Slots& slots) = 0;
  virtual bool in_place() const { return false; }
  virtual bool is_product() const { return false; }
  virtual uint64_t workspace_bytes() const { return 0; }

  int32_t dev_id = 0;
  char* first_workspace = nullptr; /*!< as first_output */
  char* first_output = nullptr;    /*!< of the first run; only a fault looks at it */
};

/*! \brief NULL where the operator is none of theirs. */
std::unique_ptr<Executor> MakeElementwise(const Request& request);
std::unique_ptr<Executor> MakeReduction(const Request& request);
std::unique_ptr<Executor> MakeTake(const Request& request);

/*!
 * \brief Calls body(slots, index) for each index of the axes in row-major order: of each tensor,
 * how many elements from its first, and the number along each axis. Stops where body returns false.
 */
template <typename Body>
void Walk(const Axes& axes, Body&& body) {
  const size_t ndim = axes.shape.size();
  const size_t tensors = axes.strides.size();
  std::vector<int64_t> index(ndim, 0);
  std::vector<int64_t> at(tensors, 0);
  if (axes.count() == 0) return;
  while (body(at.data(), index.data())) {
    size_t axis = ndim;
    while (axis-- > 0) {
      for (size_t k = 0; k < tensors; ++k) at[k] += axes.strides[k][axis];
      if (++index[axis] < axes.shape[axis]) break;
      for (size_t k = 0; k < tensors; ++k) at[k] -= axes.strides[k][axis] * axes.shape[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

}  // namespace planted

#endif  // PLANTED_EXECUTOR_H_
