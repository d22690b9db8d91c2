/*!
 * \file executor.h
 * \brief Operators prepared for tensors of one geometry.
 */
#ifndef CUDAACC_EXECUTOR_H_
#define CUDAACC_EXECUTOR_H_

#include <memory>
#include <vector>

#include "../common/operators/request.h"
#include "copying.h"

namespace cudaacc {

/*! \brief What an operator does to the memory that it is given. Any thread may call. */
class Work {
 public:
  virtual ~Work() = default;
  /*! \brief places are of the inputs, then of the output; data is NULL where there are no elements.
   */
  virtual void Run(Commands* commands, const Place* places) const = 0;
  /*! \brief Whether the output may be the memory of an input. */
  virtual bool in_place() const { return false; }
};

/*! \brief The makers, by file: the work of an operator, or NULL where it is none of theirs. */
std::unique_ptr<Work> MakeElementwise(const Request& request);
std::unique_ptr<Work> MakeMovement(const Request& request);
std::unique_ptr<Work> MakeReduction(const Request& request);
std::unique_ptr<Work> MakeProduct(const Request& request);
std::unique_ptr<Work> MakeSoftmax(const Request& request);

/*! \brief What accGetExecutor gives. */
class Executor {
 public:
  Executor(Device* device, const MXAccOperator& op);

  void Run(const MXTensor* inputs, int32_t num_in, const MXTensor* outputs, int32_t num_out,
           MXAccStream stream) const;
  bool in_place() const { return work_->in_place(); }

 private:
  Device* device_;
  std::vector<Span> spans_; /*!< of the inputs and the output */
  std::unique_ptr<Work> work_;
};

}  // namespace cudaacc

#endif  // CUDAACC_EXECUTOR_H_
